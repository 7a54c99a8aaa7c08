#include "driver/driver.h"

#include <sys/stat.h>

#include "base/testing_folder.h"

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
    assert_string_equal(probe_version_text(&arena, 130100, 10000, 100), "13.1.0");
    assert_string_equal(probe_version_text(&arena, 22703, 10000, 100), "2.27.3");
}

static void put_tool(const char *name, const char *script)
{
    const char *path = scratch_put(name, arena_printf(&arena, "#!/bin/sh\n%s\n", script));

    assert_int_equal(chmod(path, 0755), 0);
}

/* A folder with two versions of a tool that prints its version, and one that fails. */
static int probe_begin(void **state)
{
    if (enter(state) != 0 || setenv("STRATA_TEST_FOLDER", scratch, 1) != 0)
        return 1;
    put_tool("tool-9", "echo tool version 9.1");
    put_tool("tool-10", "echo tool version 10.2");
    put_tool("broken", "exit 3");
    return 0;
}

static const char *const patterns[] = {"$STRATA_TEST_UNSET/tool", "$STRATA_TEST_FOLDER/tool-*",
                                       NULL};
static const struct probe_program tool = {"strata-no-such-tool", "STRATA_TEST_TOOL", patterns,
                                          true};

TEST(the_highest_installed_version_is_taken)
{
    struct probe_result r;

    probe_program(&tool, &arena, &r);
    assert_int_equal(r.state, PROBE_FOUND);
    assert_string_equal(r.version, "10.2");
}

TEST(a_variable_names_the_program_outright)
{
    struct probe_result r;

    setenv("STRATA_TEST_TOOL", scratch_path("tool-9"), 1);
    probe_program(&tool, &arena, &r);
    assert_string_equal(r.version, "9.1");

    setenv("STRATA_TEST_TOOL", "/nowhere/tool", 1);
    probe_program(&tool, &arena, &r);
    assert_int_equal(r.state, PROBE_MISSING);
    assert_string_equal(r.reason,
                        "STRATA_TEST_TOOL is set to /nowhere/tool, which is not a program");

    setenv("STRATA_TEST_TOOL", scratch_path("broken"), 1);
    probe_program(&tool, &arena, &r);
    assert_int_equal(r.state, PROBE_BROKEN);
    assert_string_equal(r.reason, "--version failed with exit code 3");
    unsetenv("STRATA_TEST_TOOL");
}

TEST(a_missing_program_says_how_to_name_it)
{
    static const struct probe_program none = {"strata-no-such-tool", "STRATA_TEST_TOOL", NULL,
                                              true};
    struct probe_result r;

    probe_program(&none, &arena, &r);
    assert_int_equal(r.state, PROBE_MISSING);
    assert_null(r.path);
    assert_string_equal(r.reason, "strata-no-such-tool not found on PATH; set STRATA_TEST_TOOL");
}

TEST(a_library_is_found_and_a_missing_one_named)
{
    static const char *const c_library[] = {"libc.so.6", NULL};
    static const char *const none[] = {"libstrata-none.so.1", NULL};
    struct probe_result r;

    probe_library(&(struct probe_library){.names = c_library}, &arena, &r);
    assert_int_equal(r.state, PROBE_FOUND);
    assert_non_null(strstr(r.path, "libc.so.6"));
    probe_library(&(struct probe_library){.names = none}, &arena, &r);
    assert_int_equal(r.state, PROBE_MISSING);
    assert_string_equal(r.reason, "libstrata-none.so.1 not found in the library path");
}

TEST(every_entry_says_what_is_used_instead)
{
    assert_int_equal(DRIVERS, 14);
    for (size_t i = 0; i < DRIVERS; i++) {
        assert_non_null(drivers[i].name);
        assert_non_null(drivers[i].job);
        assert_non_null(drivers[i].instead);
        assert_true((drivers[i].program.name != NULL) != (drivers[i].libraries.names != NULL));
    }
}

#define TW(name) cmocka_unit_test_setup_teardown(name, probe_begin, leave)

TEST_MAIN("driver/probe", T(versions_are_found_in_what_tools_print),
          TA(packed_versions_are_unpacked), TW(the_highest_installed_version_is_taken),
          TW(a_variable_names_the_program_outright), TA(a_missing_program_says_how_to_name_it),
          TA(a_library_is_found_and_a_missing_one_named), T(every_entry_says_what_is_used_instead))
