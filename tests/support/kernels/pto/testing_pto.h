/*
 * testing_pto - a module from a string, for the tests of this folder.
 */
#ifndef STRATA_PTO_TESTING_PTO_H
#define STRATA_PTO_TESTING_PTO_H

#include "base/formats/json_write.h"
#include "base/testing.h"
#include "kernels/pto/text/parse.h"
#include "kernels/pto/text/print.h"
#include "kernels/pto/text/verify.h"

/* Reads and verifies; release with pto_module_fini(). */
static inline enum status testing_read(struct pto_module *m, struct str text)
{
    struct pto_parser *p = pto_parser_new();

    pto_module_init(m);
    enum status st = pto_parse(p, text, m);
    if (st == ST_OK)
        st = pto_verify(m);
    pto_parser_free(p);
    return st;
}

/* A kernel around some operations: %a and %b point to f32 and i32, %n is an i32, %c0 and %c1 are
 * indexes, %z is an i64 of 0. */
static inline struct str testing_kernel(struct arena *arena, const char *arch, const char *body)
{
    return arena_format(arena,
                        "module attributes {pto.target_arch = \"%s\"} {\n"
                        "func.func @k(%%a: !pto.ptr<f32>, %%b: !pto.ptr<i32>, %%n: i32) "
                        "attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
                        "%%c0 = arith.constant 0 : index\n"
                        "%%c1 = arith.constant 1 : index\n"
                        "%%z = arith.constant 0 : i64\n"
                        "%s\n"
                        "return\n}\n}\n",
                        arch, body);
}

static inline struct str testing_print(struct arena *arena, const struct pto_module *m)
{
    struct text buffer = {0};

    assert_true(pto_print(m, text_sink(&buffer)));
    struct str text = arena_str(arena, (struct str){buffer.at, buffer.n});
    text_free(&buffer);
    return text;
}

#endif
