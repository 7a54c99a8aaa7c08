#include "cli/terminal/frame.h"

#include <stdio.h>
#include <unistd.h>

#include "base/testing.h"
#include "cli/help/help.h"
#include "cli/session.h"

/* What is written to an out, read back. */
static size_t read_back(struct out *o, FILE *file, char *buf, size_t size)
{
    assert_true(out_flush(o));
    out_fini(o);
    rewind(file);
    size_t n = fread(buf, 1, size - 1, file);
    buf[n] = '\0';
    fclose(file);
    return n;
}

static FILE *open_out(struct out *o)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    out_init(o, fileno(file));
    return file;
}

static void assert_shows(const struct diag *d, bool verbose, const char *text)
{
    struct out o;
    FILE *file = open_out(&o);
    char buf[4096];

    frame_show_diag(&o, d, verbose);
    read_back(&o, file, buf, sizeof(buf));
    assert_string_equal(buf, text);
}

TEST(a_thousand_bad_rows_are_three_lines_and_a_count)
{
    struct diag d;

    diag_init(&d);
    for (unsigned i = 1; i <= 1000; i++)
        diag_add(&d, SEV_LOSS, "rows.bad", (struct where){"k.csv", i, 0}, "row skipped");
    assert_shows(&d, false,
                 "k.csv:1: data loss: row skipped [rows.bad]\n"
                 "k.csv:2: data loss: row skipped [rows.bad]\n"
                 "k.csv:3: data loss: row skipped [rows.bad]\n"
                 "… and 997 more [rows.bad]\n");
    diag_fini(&d);
}

TEST(notes_are_for_the_curious)
{
    struct diag d;

    diag_init(&d);
    diag_add(&d, SEV_NOTE, "a.note", (struct where){0}, "read twice");
    assert_shows(&d, false, "");
    assert_shows(&d, true, "note: read twice [a.note]\n");
    diag_fini(&d);
}

TEST(several_errors_print_one_line_and_the_hints_under_it)
{
    struct diag d;

    diag_init(&d);
    diag_fail(&d, ST_NOT_FOUND, "input.nothing", (struct where){"empty", 0, 0},
              "no profiling data found");
    diag_fail(&d, ST_NOT_FOUND, "input.nothing", (struct where){"other", 0, 0}, "again");
    diag_fail(&d, ST_IO, "file.read", (struct where){"x", 0, 0}, "later");
    diag_hint(&d, "looked for", "kernel_details.csv");
    diag_hint(&d, "try", "another folder");
    assert_shows(&d, false,
                 "strata: empty: error: no profiling data found [input.nothing]\n"
                 "  looked for  kernel_details.csv\n"
                 "  try         another folder\n");
    diag_fini(&d);
}

TEST(control_characters_do_not_reach_the_terminal)
{
    struct diag d;

    diag_init(&d);
    diag_fail(&d, ST_NOT_FOUND, "x.y", (struct where){.path = "a\nb"}, "\033[31mred \303\251");
    assert_shows(&d, false, "strata: a\\nb: error: \\x1b[31mred \303\251 [x.y]\n");
    diag_fini(&d);
}

TEST(a_status_has_the_exit_code_of_the_manners)
{
    assert_int_equal(session_code(ST_OK), 0);
    assert_int_equal(session_code(ST_NOT_FOUND), 3);
    assert_int_equal(session_code(ST_FORMAT), 3);
    assert_int_equal(session_code(ST_TOOL), 4);
    assert_int_equal(session_code(ST_CANCELLED), 130);
}

TEST(a_lost_write_is_remembered)
{
    int ends[2];
    struct out o;

    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    out_init(&o, ends[0]); /* the reading end refuses to be written */
    out_text(&o, "lost");
    assert_false(out_flush(&o));
    assert_int_not_equal(o.error, 0);
    assert_false(out_flush(&o));
    out_fini(&o);
    close(ends[0]);
}

TEST(text_longer_than_the_buffer_arrives_whole)
{
    enum { N = OUT_BUFFER + 1000 };
    struct out o;
    FILE *file = open_out(&o);
    char *text = mem_grow(NULL, 1, N + 1), *back = mem_grow(NULL, 1, N + 100);

    memset(text, 'x', N);
    text[N] = '\0';
    out_text(&o, "a");
    out_printf(&o, "%s", text);
    out_text(&o, "b");
    assert_int_equal(read_back(&o, file, back, N + 100), N + 2);
    assert_true(back[0] == 'a' && back[N + 1] == 'b');
    mem_free(text);
    mem_free(back);
}

TEST(tables_align_by_characters_not_bytes)
{
    static const struct out_column columns[] = {{"name", false}, {"us", true}};
    static const char *const cells[] = {"µ", "1.5", "kernel", "10"};
    struct out o;
    FILE *file = open_out(&o);
    char buf[256];

    out_table(&o, columns, 2, cells, 2);
    read_back(&o, file, buf, sizeof(buf));
    assert_string_equal(buf, "  name     us\n"
                             "  µ       1.5\n"
                             "  kernel   10\n");
}

static const struct example sub_examples[] = {{"strata box open", "opens it"}};
static const struct command sub_open = {.name = "open",
                                        .summary = "open it",
                                        .usage = "BOX",
                                        .examples = sub_examples,
                                        .n_examples = 1};
static const struct command *const subs[] = {&sub_open, NULL};
static const struct command holder = {
    .name = "box", .summary = "a box", .usage = "COMMAND", .subs = subs};

TEST(a_command_that_holds_others_lists_them)
{
    struct out o;
    FILE *file = open_out(&o);
    char buf[4096];

    help_page(&o, (struct command_path){NULL, &holder}, false);
    read_back(&o, file, buf, sizeof(buf));
    assert_non_null(strstr(buf, "Commands\n  open          open it\n"));
}

TEST(a_subcommand_has_its_full_name_on_its_page)
{
    struct out o;
    FILE *file = open_out(&o);
    char buf[4096];

    help_page(&o, (struct command_path){&holder, &sub_open}, false);
    read_back(&o, file, buf, sizeof(buf));
    assert_non_null(strstr(buf, "usage: strata box open BOX\n"));
    assert_non_null(strstr(buf, "More: man strata-box\n"));
}

TEST(commands_are_listed_by_name)
{
    for (size_t i = 1; i < command_count; i++)
        assert_true(strcmp(command_list[i - 1]->name, command_list[i]->name) < 0);
}

TEST_MAIN("cli/terminal/frame", T(a_thousand_bad_rows_are_three_lines_and_a_count),
          T(notes_are_for_the_curious), T(several_errors_print_one_line_and_the_hints_under_it),
          T(control_characters_do_not_reach_the_terminal),
          T(a_status_has_the_exit_code_of_the_manners), T(a_lost_write_is_remembered),
          T(text_longer_than_the_buffer_arrives_whole), T(tables_align_by_characters_not_bytes),
          T(a_command_that_holds_others_lists_them), T(a_subcommand_has_its_full_name_on_its_page),
          T(commands_are_listed_by_name))
