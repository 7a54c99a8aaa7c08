#include "cli/help/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/proc.h"
#include "base/testing.h"

/* The script of a shell in a temporary file; the caller removes it. */
static void write_script(char *path, const char *shell)
{
    struct arena arena;
    struct out o;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    out_init(&o, fd);
    arena_init(&arena);
    help_completion(&o, &arena, shell);
    assert_true(out_flush(&o));
    out_fini(&o);
    arena_free(&arena);
    close(fd);
}

/* Runs a program; its output must be exactly `wanted`. */
static void assert_says(const char *const *argv, const char *wanted)
{
    struct arena arena;
    struct diag diag;
    struct proc_result result;
    struct proc_spec spec = {.argv = argv, .limit_ms = 20000};

    arena_init(&arena);
    diag_init(&diag);
    enum status st = proc_run(&spec, &arena, &result, &diag);
    if (result.err.n > 0)
        print_error("%s", result.err.at);
    assert_int_equal(st, ST_OK);
    assert_string_equal(result.out.at, wanted);
    diag_fini(&diag);
    arena_free(&arena);
}

static bool has(const char *program)
{
    struct arena arena;

    arena_init(&arena);
    bool is_there = fs_find_program(&arena, program) != NULL;
    arena_free(&arena);
    return is_there;
}

static void assert_parses(const char *shell)
{
    char path[] = "/tmp/strata-completion-XXXXXX";

    if (!has(shell))
        skip();
    write_script(path, shell);
    assert_says((const char *const[]){shell, "-n", path, NULL}, "");
    unlink(path);
}

TEST(the_zsh_script_parses)
{
    assert_parses("zsh");
}

TEST(the_fish_script_parses)
{
    assert_parses("fish");
}

/* What bash offers for the words typed so far; the last one is being typed. */
static void assert_offers(const char *words, const char *wanted)
{
    static const char body[] = "source \"$1\"; read -ra COMP_WORDS <<<\"$2\"; "
                               "[[ $2 == *' ' ]] && COMP_WORDS+=(''); "
                               "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _strata; "
                               "echo \"${COMPREPLY[*]}\"";
    char path[] = "/tmp/strata-completion-XXXXXX";

    write_script(path, "bash");
    assert_says((const char *const[]){"bash", "-c", body, "bash", path, words, NULL}, wanted);
    unlink(path);
}

TEST(bash_offers_commands)
{
    assert_offers("strata de", "demo devices\n");
    assert_offers("strata --v", "--version\n");
}

TEST(bash_offers_options_of_the_command)
{
    assert_offers("strata version --b", "--build\n");
    assert_offers("strata devices --b", "\n");
    assert_offers("strata devices --json --qu", "--quiet\n");
}

TEST(bash_offers_values)
{
    assert_offers("strata devices --color a", "auto always\n");
    assert_offers("strata devices --color = n", "never\n");
    assert_offers("strata completion f", "fish\n");
    assert_offers("strata help ver", "version\n");
    assert_offers("strata analyze exp", "exposed\n");
    assert_offers("strata analyze exposed CONTRIB", "CONTRIBUTING.md\n");
}

TEST_MAIN("cli/help/cmd_completion", T(the_zsh_script_parses), T(the_fish_script_parses),
          T(bash_offers_commands), T(bash_offers_options_of_the_command), T(bash_offers_values))
