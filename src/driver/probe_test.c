#include "driver/probe.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdio.h>

#include "base/testing.h"

TEST(versions_are_found_in_what_tools_print)
{
    assert_str(probe_find_version(S("NVIDIA (R) Nsight Compute Command Line Profiler\n"
                                    "Copyright (c) 2018-2025 NVIDIA Corporation\n"
                                    "Version 2025.3.0.0 (build 36273991)\n")),
               "2025.3.0.0");
    assert_str(probe_find_version(S("NVIDIA Nsight Systems version 2025.3.2.474-253235563214v0")),
               "2025.3.2.474");
    assert_str(probe_find_version(S("mpirun (Open MPI) 4.1.4\n\nReport bugs to ...")), "4.1.4");
    assert_str(probe_find_version(S("runtime_running_version=[8.0.RC2:x]")), "8.0.RC2");
    assert_str(probe_find_version(S("no numbers here")), "");
    assert_str(probe_find_version(S("Version")), "");
    assert_str(probe_find_version(S("")), "");
}

TEST(packed_versions_are_unpacked)
{
    struct arena a;

    arena_init(&a);
    assert_string_equal(probe_version_text(&a, 130100, 10000, 100), "13.1.0");
    assert_string_equal(probe_version_text(&a, 22703, 10000, 100), "2.27.3");
    arena_free(&a);
}

/* A folder with two versions of a tool that prints its version, or fails. */
struct folder {
    char path[64];
    struct arena arena;
};

static void put_tool(const struct folder *f, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", f->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

static void folder_init(struct folder *f)
{
    strcpy(f->path, "/tmp/strata-probe-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    arena_init(&f->arena);
    put_tool(f, "tool-9", "echo tool version 9.1");
    put_tool(f, "tool-10", "echo tool version 10.2");
    put_tool(f, "broken", "exit 3");
    assert_int_equal(setenv("STRATA_TEST_FOLDER", f->path, 1), 0);
}

static void folder_fini(struct folder *f)
{
    static const char *const names[] = {"tool-9", "tool-10", "broken"};
    char path[128];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", f->path, names[i]);
        unlink(path);
    }
    rmdir(f->path);
    arena_free(&f->arena);
}

static const char *const patterns[] = {"$STRATA_TEST_UNSET/tool", "$STRATA_TEST_FOLDER/tool-*",
                                       NULL};
static const struct probe_program tool = {"strata-no-such-tool", "STRATA_TEST_TOOL", patterns,
                                          true};

TEST(the_highest_installed_version_is_taken)
{
    struct folder f;
    struct probe_result r;

    folder_init(&f);
    probe_program(&tool, &f.arena, &r);
    assert_int_equal(r.state, PROBE_FOUND);
    assert_string_equal(r.version, "10.2");
    folder_fini(&f);
}

TEST(a_variable_names_the_program_outright)
{
    struct folder f;
    struct probe_result r;
    char path[128];

    folder_init(&f);
    snprintf(path, sizeof(path), "%s/tool-9", f.path);
    setenv("STRATA_TEST_TOOL", path, 1);
    probe_program(&tool, &f.arena, &r);
    assert_string_equal(r.version, "9.1");

    setenv("STRATA_TEST_TOOL", "/nowhere/tool", 1);
    probe_program(&tool, &f.arena, &r);
    assert_int_equal(r.state, PROBE_MISSING);
    assert_string_equal(r.reason, "STRATA_TEST_TOOL names /nowhere/tool, which is not a program");

    snprintf(path, sizeof(path), "%s/broken", f.path);
    setenv("STRATA_TEST_TOOL", path, 1);
    probe_program(&tool, &f.arena, &r);
    assert_int_equal(r.state, PROBE_BROKEN);
    assert_string_equal(r.reason, "--version failed with exit code 3");
    unsetenv("STRATA_TEST_TOOL");
    folder_fini(&f);
}

TEST(a_missing_program_says_how_to_name_it)
{
    static const struct probe_program none = {"strata-no-such-tool", "STRATA_TEST_TOOL", NULL,
                                              true};
    struct probe_result r;
    struct arena a;

    arena_init(&a);
    probe_program(&none, &a, &r);
    assert_int_equal(r.state, PROBE_MISSING);
    assert_null(r.path);
    assert_string_equal(r.reason,
                        "no strata-no-such-tool on the PATH; STRATA_TEST_TOOL can name it");
    arena_free(&a);
}

TEST(a_library_is_found_and_a_missing_one_named)
{
    static const char *const c_library[] = {"libc.so.6", NULL};
    static const char *const none[] = {"libstrata-none.so.1", NULL};
    struct probe_result r;
    struct arena a;

    arena_init(&a);
    probe_library(&(struct probe_library){.names = c_library}, &a, &r);
    assert_int_equal(r.state, PROBE_FOUND);
    assert_non_null(strstr(r.path, "libc.so.6"));
    probe_library(&(struct probe_library){.names = none}, &a, &r);
    assert_int_equal(r.state, PROBE_MISSING);
    assert_string_equal(r.reason, "no libstrata-none.so.1 in the library path");
    arena_free(&a);
}

TEST(every_entry_says_what_is_used_instead)
{
    assert_int_equal(driver_count, 12);
    for (size_t i = 0; i < driver_count; i++) {
        assert_non_null(driver_list[i]->name);
        assert_non_null(driver_list[i]->job);
        assert_non_null(driver_list[i]->instead);
        assert_non_null(driver_list[i]->probe);
    }
}

TEST_MAIN("driver/probe", T(versions_are_found_in_what_tools_print),
          T(packed_versions_are_unpacked), T(the_highest_installed_version_is_taken),
          T(a_variable_names_the_program_outright), T(a_missing_program_says_how_to_name_it),
          T(a_library_is_found_and_a_missing_one_named), T(every_entry_says_what_is_used_instead))
