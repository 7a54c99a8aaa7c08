#include "base/mapfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/testing.h"

static char folder[] = "/tmp/strata-mapfile-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const char *text, size_t n)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
}

/* Opening `path` fails with this status, this one code, and leaves an empty view. */
static void assert_refused(const char *path, enum status status, const char *code)
{
    struct mapfile map;
    struct diag diag;

    diag_init(&diag);
    assert_int_equal(mapfile_open(&map, path, &diag), status);
    assert_int_equal(diag.entries.n, 1);
    assert_string_equal(diag.entries.at[0].code, code);
    assert_string_equal(diag.entries.at[0].first[0].where.path, path);
    assert_int_equal(map.text.n, 0);
    mapfile_close(&map);
    diag_fini(&diag);
}

TEST(a_small_file_is_read_into_memory)
{
    const char *path = in_folder("small");
    struct mapfile map;
    struct diag diag;

    diag_init(&diag);
    write_file(path, "line\n", 5);
    assert_int_equal(mapfile_open(&map, path, &diag), ST_OK);
    assert_str(map.text, "line\n");
    assert_false(map.is_mapped);
    assert_int_equal(truncate(path, 0), 0); /* what was read does not change any more */
    assert_str(map.text, "line\n");
    mapfile_close(&map);
    mapfile_close(&map);
    unlink(path);
    diag_fini(&diag);
}

TEST(a_large_file_is_mapped)
{
    const char *path = in_folder("large");
    struct mapfile map;
    struct diag diag;

    diag_init(&diag);
    write_file(path, "begin", 5);
    assert_int_equal(truncate(path, MAPFILE_READ_MAX + 1), 0); /* a hole: no disk is used */
    assert_int_equal(mapfile_open(&map, path, &diag), ST_OK);
    assert_true(map.is_mapped);
    assert_int_equal(map.text.n, MAPFILE_READ_MAX + 1);
    assert_memory_equal(map.text.at, "begin", 6);
    mapfile_close(&map);
    assert_int_equal(map.text.n, 0);
    unlink(path);
    diag_fini(&diag);
}

TEST(an_empty_file_is_an_empty_view)
{
    const char *path = in_folder("empty");
    struct mapfile map;
    struct diag diag;

    diag_init(&diag);
    write_file(path, "", 0);
    assert_int_equal(mapfile_open(&map, path, &diag), ST_OK);
    assert_int_equal(map.text.n, 0);
    assert_non_null(map.text.at);
    assert_int_equal(diag.entries.n, 0);
    mapfile_close(&map);
    unlink(path);
    diag_fini(&diag);
}

TEST(what_is_not_there_is_missing_and_a_dangling_link_says_so)
{
    assert_refused(in_folder("nothing"), ST_NOT_FOUND, "file.missing");
    assert_refused("", ST_NOT_FOUND, "file.missing");

    const char *path = in_folder("file");
    write_file(path, "x", 1);
    assert_refused(in_folder("file/below"), ST_NOT_FOUND, "file.missing");
    unlink(in_folder("file"));

    path = in_folder("link");
    assert_int_equal(symlink("gone", path), 0);
    assert_refused(path, ST_NOT_FOUND, "file.dangling-link");
    unlink(path);
    assert_int_equal(symlink("link", path), 0); /* a link to itself */
    assert_refused(path, ST_IO, "file.open-failed");
    unlink(path);
}

TEST(a_folder_a_pipe_a_socket_and_a_device_are_refused_without_waiting)
{
    const char *path = in_folder("pipe");
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    assert_refused(folder, ST_IO, "file.is-folder");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, ST_IO, "file.special");
    unlink(path);
    assert_refused("/dev/null", ST_IO, "file.special");

    path = in_folder("socket");
    assert_true(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_refused(path, ST_IO, "file.special");
    close(fd);
    unlink(path);
}

TEST(a_file_without_permission_is_unreadable)
{
    const char *path = in_folder("secret");

    if (geteuid() == 0)
        skip(); /* permissions do not stop root */
    write_file(path, "x", 1);
    assert_int_equal(chmod(path, 0), 0);
    assert_refused(path, ST_IO, "file.unreadable");
    unlink(path);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_small_file_is_read_into_memory),
        T(a_large_file_is_mapped),
        T(an_empty_file_is_an_empty_view),
        T(what_is_not_there_is_missing_and_a_dangling_link_says_so),
        T(a_folder_a_pipe_a_socket_and_a_device_are_refused_without_waiting),
        T(a_file_without_permission_is_unreadable),
    };

    return cmocka_run_group_tests_name("base/mapfile", tests, make_folder, remove_folder);
}
