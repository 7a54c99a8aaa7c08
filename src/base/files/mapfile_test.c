#include "base/files/mapfile.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/testing_folder.h"

/* Opening `path` fails with this status, this one code, and leaves an empty view. */
static void mapfile_assert_refused(const char *path, enum status status, const char *code)
{
    struct mapfile map;

    forget();
    assert_int_equal(mapfile_open(&map, path, &diag), status);
    assert_int_equal(diag.entries.n, 1);
    assert_string_equal(diag.entries.at[0].code, code);
    assert_string_equal(diag.entries.at[0].first[0].where.path, path);
    assert_int_equal(map.text.n, 0);
    mapfile_close(&map);
}

TEST(a_small_file_is_read_into_memory)
{
    const char *path = scratch_put("small", "line\n");
    struct mapfile map;

    assert_int_equal(mapfile_open(&map, path, &diag), ST_OK);
    assert_str(map.text, "line\n");
    assert_false(map.is_mapped);
    assert_int_equal(truncate(path, 0), 0); /* what was read does not change any more */
    assert_str(map.text, "line\n");
    mapfile_close(&map);
    mapfile_close(&map);
}

TEST(a_large_file_is_mapped)
{
    const char *path = scratch_put("large", "begin");
    struct mapfile map;

    assert_int_equal(truncate(path, MAPFILE_READ_MAX + 1), 0); /* a hole: no disk is used */
    assert_int_equal(mapfile_open(&map, path, &diag), ST_OK);
    assert_true(map.is_mapped);
    assert_int_equal(map.text.n, MAPFILE_READ_MAX + 1);
    assert_memory_equal(map.text.at, "begin", 6);
    mapfile_close(&map);
    assert_int_equal(map.text.n, 0);
}

TEST(an_empty_file_is_an_empty_view)
{
    const char *path = scratch_put("empty", "");
    struct mapfile map;

    assert_int_equal(mapfile_open(&map, path, &diag), ST_OK);
    assert_int_equal(map.text.n, 0);
    assert_non_null(map.text.at);
    assert_int_equal(diag.entries.n, 0);
    mapfile_close(&map);
}

TEST(what_is_not_there_is_missing_and_a_dangling_link_says_so)
{
    mapfile_assert_refused(scratch_path("nothing"), ST_NOT_FOUND, "file.missing");
    mapfile_assert_refused("", ST_NOT_FOUND, "file.missing");

    scratch_put("file", "x");
    mapfile_assert_refused(scratch_path("file/below"), ST_NOT_FOUND, "file.missing");
    const char *path = scratch_path("link");
    assert_int_equal(symlink("gone", path), 0);
    mapfile_assert_refused(path, ST_NOT_FOUND, "file.dangling-link");
    unlink(path);
    assert_int_equal(symlink("link", path), 0); /* a link to itself */
    mapfile_assert_refused(path, ST_IO, "file.open-failed");
}

TEST(a_folder_a_pipe_a_socket_and_a_device_are_refused_without_waiting)
{
    const char *path = scratch_path("pipe");
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    mapfile_assert_refused(scratch, ST_IO, "file.is-folder");
    assert_int_equal(mkfifo(path, 0600), 0);
    mapfile_assert_refused(path, ST_IO, "file.special");
    mapfile_assert_refused("/dev/null", ST_IO, "file.special");

    path = scratch_path("socket");
    assert_true(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    mapfile_assert_refused(path, ST_IO, "file.special");
    close(fd);
}

TEST(a_file_without_permission_is_unreadable)
{
    const char *path = scratch_put("secret", "x");

    uid_t user = geteuid();
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(scratch, 0755), 0);
    if (user == 0)
        assert_int_equal(seteuid(65534), 0); /* permissions do not stop root */
    mapfile_assert_refused(path, ST_IO, "file.unreadable");
    assert_int_equal(seteuid(user), 0);
}

TEST_MAIN("base/files/mapfile", TS(a_small_file_is_read_into_memory), TS(a_large_file_is_mapped),
          TS(an_empty_file_is_an_empty_view),
          TS(what_is_not_there_is_missing_and_a_dangling_link_says_so),
          TS(a_folder_a_pipe_a_socket_and_a_device_are_refused_without_waiting),
          TS(a_file_without_permission_is_unreadable))
