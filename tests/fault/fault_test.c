#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/testing.h"

static char path[64];
static int fd;

static int enter(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "/tmp/strata-fault-XXXXXX");
    fd = mkstemp(path);
    return fd < 0;
}

static int leave(void **state)
{
    (void)state;
    fault_set(NULL);
    close(fd);
    return unlink(path);
}

TEST(only_the_call_that_is_due_fails)
{
    fault_set("write,2,ENOSPC,/tmp/strata-fault-*");
    assert_int_equal(write(fd, "ab", 2), 2);
    assert_int_equal(write(fd, "ab", 2), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(write(fd, "ab", 2), 2);
}

TEST(a_plus_makes_all_later_calls_fail_too)
{
    fault_set("fsync,2+,EIO");
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(fsync(fd), -1);
    assert_int_equal(fdatasync(fd), -1);
    assert_int_equal(errno, EIO);
}

TEST(other_paths_and_other_calls_are_left_alone)
{
    int null = open("/dev/null", O_WRONLY);

    fault_set("write,1+,EIO,*strata-fault-*;rename,1,EACCES");
    assert_int_equal(write(null, "a", 1), 1);
    assert_int_equal(read(fd, (char[1]){0}, 1), 0);
    assert_int_equal(write(fd, "a", 1), -1);
    assert_int_equal(rename(path, path), -1);
    assert_int_equal(errno, EACCES);
    close(null);
}

TEST(reads_and_writes_are_cut_in_half)
{
    char buf[10];

    fault_set("write,1,short;read,1,short;read,3,eof");
    assert_int_equal(write(fd, "abcdefgh", 8), 4);
    assert_int_equal(write(fd, "efgh", 4), 4);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(read(fd, buf, 6), 3);
    assert_int_equal(read(fd, buf, 1), 1);
    assert_int_equal(read(fd, buf, 10), 0);
    assert_int_equal(read(fd, buf, 10), 4);
}

TEST(a_failing_close_closes)
{
    int copy = dup(fd);

    fault_set("close,1,EIO");
    assert_int_equal(close(copy), -1);
    assert_int_equal(errno, EIO);
    assert_int_equal(fcntl(copy, F_GETFD), -1);
}

TEST(opening_fails_by_name)
{
    fault_set("open,1+,EMFILE,/dev/nu*");
    assert_int_equal(open("/dev/null", O_RDONLY), -1);
    assert_int_equal(errno, EMFILE);
    int zero = open("/dev/zero", O_RDONLY);
    assert_true(zero >= 0);
    close(zero);
}

TEST(a_descriptor_can_be_named)
{
    char rule[64];

    snprintf(rule, sizeof(rule), "write,1+,EPIPE,fd:%d", fd);
    fault_set(rule);
    int copy = dup(fd);
    assert_int_equal(write(copy, "a", 1), 1);
    assert_int_equal(write(fd, "a", 1), -1);
    assert_int_equal(errno, EPIPE);
    close(copy);
}

TEST(a_rule_that_cannot_be_read_ends_the_program)
{
    static const char *const bad[] = {"write",         "write,1",     "write,0,EIO",
                                      "write,x,EIO",   "write,1,E",   "wrote,1,EIO",
                                      "fsync,1,short", "write,1,eof", "write,1-,EIO"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            close(STDERR_FILENO);
            fault_set(bad[i]);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), 99);
    }
}

static bool has_temporaries(struct arena *arena, struct diag *diag)
{
    struct str prefix = arena_format(arena, ".strata-%ld-", (long)getpid());
    struct fs_list list;

    assert_int_equal(fs_list(arena, "/tmp", &list, diag), ST_OK);
    for (size_t i = 0; i < list.n; i++)
        if (str_starts(list.at[i].name, prefix))
            return true;
    return false;
}

/* How base/fs takes it: each way a file can fail to be written ends in one message, without a
 * temporary left behind and with the old contents in place. */
TEST(a_file_survives_every_way_of_failing)
{
    static const char *const ways[] = {"write,1,ENOSPC", "write,2+,EDQUOT",
                                       "fsync,1,EIO",    "close,1,EIO,*.tmp",
                                       "rename,1,EROFS", "open,1,EACCES,*.tmp"};
    char *big = calloc(1, 200000);
    struct arena arena;

    arena_init(&arena);
    assert_int_equal(write(fd, "old", 3), 3);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct outfile f;
        struct diag diag;
        char text[8] = {0};

        diag_init(&diag);
        fault_set(ways[i]);
        enum status st = outfile_open(&f, path, &diag);
        if (st == ST_OK) {
            outfile_write(&f, S("head"));
            outfile_write(&f, (struct str){big, 200000});
            st = outfile_commit(&f, OUTFILE_SYNC, &diag);
        }
        fault_set(NULL);
        assert_int_equal(st, ST_IO);
        assert_int_equal(diag_count(&diag, "file.write"), 1);
        assert_int_equal(pread(fd, text, 8, 0), 3);
        assert_string_equal(text, "old");
        assert_false(has_temporaries(&arena, &diag));
        diag_fini(&diag);
    }
    arena_free(&arena);
    free(big);
}

TEST(short_and_interrupted_writes_are_made_up_for)
{
    struct outfile f;
    struct diag diag;
    char *big = calloc(1, 200000);

    diag_init(&diag);
    fault_set("write,1,short;write,2,EINTR;write,3,short");
    assert_int_equal(outfile_open(&f, path, &diag), ST_OK);
    assert_true(outfile_write(&f, (struct str){big, 200000}));
    assert_true(outfile_write(&f, S("end")));
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_OK);
    close(fd);
    fd = open(path, O_RDONLY);
    assert_int_equal(lseek(fd, 0, SEEK_END), 200003);
    diag_fini(&diag);
    free(big);
}

#define FRESH(name) cmocka_unit_test_setup_teardown(name, enter, leave)

TEST_MAIN("fault", FRESH(only_the_call_that_is_due_fails),
          FRESH(a_plus_makes_all_later_calls_fail_too),
          FRESH(other_paths_and_other_calls_are_left_alone),
          FRESH(reads_and_writes_are_cut_in_half), FRESH(a_failing_close_closes),
          FRESH(opening_fails_by_name), FRESH(a_descriptor_can_be_named),
          FRESH(a_rule_that_cannot_be_read_ends_the_program),
          FRESH(a_file_survives_every_way_of_failing),
          FRESH(short_and_interrupted_writes_are_made_up_for))
