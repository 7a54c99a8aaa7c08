#include "kernels/replay/symbols.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/testing.h"

static void check_plain(const char *mangled, const char *plain)
{
    struct arena arena;

    arena_init(&arena);
    struct str got = symbol_demangle(&arena, str_of(mangled));
    assert_string_equal(arena_cstr(&arena, got), plain);
    arena_free(&arena);
}

TEST(names_read_as_c_plus_plus_writes_them)
{
    check_plain("qk_mm", "qk_mm");
    check_plain("_Z5qk_mmPfi", "qk_mm(float*, int)");
    check_plain("_Z5qk_mmv", "qk_mm()");
    check_plain("_Z3addPfS_S_", "add(float*, float*, float*)");
    check_plain("_Z3addPKfPU3AS1Dh", "add(float const*, half AS1*)");
    check_plain("_ZN2ns3addE4Typej", "ns::add(Type, unsigned int)");
}

TEST(broken_names_stay_as_they_are)
{
    check_plain("_Z", "_Z");
    check_plain("_Z99x", "_Z99x");
    check_plain("_Z99999999999999999999x", "_Z99999999999999999999x");
    check_plain("_ZN2ns", "_ZN2ns");
    check_plain("_Z1fPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPi", "f(...)");
    check_plain("_Z1fS9_", "f(...)");
}

static const struct symbol table[] = {
    {S_INIT("_Z4helpi"), S_INIT("help(int)")},
    {S_INIT("_Z6kernelPf"), S_INIT("kernel(float*)")},
};

static enum status pick(size_t n, const char *name, const struct symbol **out)
{
    struct symbol copy[ARRAY_LEN(table)];
    struct symbol_list list = {copy, n};
    struct str names[] = {str_of(name)};
    struct diag d;

    memcpy(copy, table, sizeof(table));
    diag_init(&d);
    const struct symbol *got = NULL;
    enum status st = symbols_pick(&list, names, 1, "lib.so", &got, &d);
    *out = got != NULL ? &table[got - copy] : NULL;
    diag_fini(&d);
    return st;
}

TEST(a_kernel_is_found_by_its_plain_name)
{
    const struct symbol *s;

    assert_int_equal(pick(2, "kernel", &s), ST_OK);
    assert_str(s->name, "_Z6kernelPf");
    assert_int_equal(pick(2, "kern", &s), ST_NOT_FOUND);
    assert_int_equal(pick(1, "kern", &s), ST_OK); /* the only one */
}

/* The test program itself has dynamic symbols or none; both are fine, a text is not. */
TEST(a_file_that_is_no_library_is_told)
{
    struct arena arena;
    struct diag d;
    struct symbol_list list;

    arena_init(&arena);
    diag_init(&d);
    assert_int_equal(symbols_read(&arena, "/proc/self/exe", &list, &d), ST_OK);
    char path[] = "/tmp/strata-symbols-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "text", 4) == 4);
    close(fd);
    assert_int_equal(symbols_read(&arena, path, &list, &d), ST_FORMAT);
    assert_int_equal(diag_count(&d, "symbols.not-elf"), 1);
    unlink(path);
    diag_fini(&d);
    arena_free(&arena);
}

TEST_MAIN("kernels/replay/symbols", T(names_read_as_c_plus_plus_writes_them),
          T(broken_names_stay_as_they_are), T(a_kernel_is_found_by_its_plain_name),
          T(a_file_that_is_no_library_is_told))
