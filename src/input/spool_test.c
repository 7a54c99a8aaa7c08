#include "input/spool.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/mapfile.h"
#include "base/testing.h"

static struct diag diag;
static int saved;

static int fresh(void **state)
{
    (void)state;
    diag_init(&diag);
    saved = dup(STDIN_FILENO);
    return 0;
}

static int done(void **state)
{
    (void)state;
    dup2(saved, STDIN_FILENO);
    close(saved);
    diag_fini(&diag);
    return 0;
}

static void assert_readable(const char *text)
{
    struct mapfile map;

    assert_int_equal(mapfile_open(&map, SPOOL_PATH, &diag), ST_OK);
    assert_true(str_equal(map.text, str_of(text)));
    mapfile_close(&map);
}

TEST(a_pipe_can_be_opened_again_and_again)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "bytes", 5), 5);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);

    assert_int_equal(spool_stdin(&diag), ST_OK);
    assert_readable("bytes");
    assert_readable("bytes");
    assert_int_equal(spool_stdin(&diag), ST_OK); /* it is a plain file by now */
    assert_readable("bytes");
}

TEST(of_a_file_that_was_read_from_the_rest_is_taken)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    fputs("head body", file);
    fflush(file);
    dup2(fileno(file), STDIN_FILENO);
    fclose(file);

    assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_SET), 0);
    assert_int_equal(spool_stdin(&diag), ST_OK);
    assert_readable("head body");
    assert_int_equal(lseek(STDIN_FILENO, 5, SEEK_SET), 5);
    assert_int_equal(spool_stdin(&diag), ST_OK);
    assert_readable("body");
}

TEST(a_closed_or_unreadable_input_is_told)
{
    int folder = open("/", O_RDONLY | O_DIRECTORY);

    dup2(folder, STDIN_FILENO);
    close(folder);
    assert_int_equal(spool_stdin(&diag), ST_IO);
    close(STDIN_FILENO);
    assert_int_equal(spool_stdin(&diag), ST_IO);
    assert_int_equal(diag_count(&diag, "file.read-failed"), 2);
}

TEST_MAIN("input/spool", TF(a_pipe_can_be_opened_again_and_again),
          TF(of_a_file_that_was_read_from_the_rest_is_taken),
          TF(a_closed_or_unreadable_input_is_told))
