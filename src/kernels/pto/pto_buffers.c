/*
 * Data behind the pointers of a kernel.
 */
#include "kernels/pto/pto_buffers.h"

#include <math.h>

#include "base/files/fs.h"
#include "base/text/num.h"
#include "kernels/pto/values/elem.h"

/* splitmix64: one good number for each state. */
static uint64_t scramble(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static double random_value(uint64_t state, enum pto_dtype t)
{
    uint64_t bits = scramble(state);

    return pto_dtype_is_float(t) ? (double)(bits >> 40) / (1 << 23) - 1 : (double)(bits >> 60);
}

enum rule { RULE_ZERO, RULE_CONST, RULE_RAMP, RULE_RANDOM };

static bool read_rule(struct str text, enum rule *rule, double *value)
{
    *value = 0;
    *rule = RULE_CONST;
    if (str_equal(text, S("one"))) {
        *value = 1;
        return true;
    }
    if (str_starts(text, S("const:")))
        return num_f64(str_part(text, 6, text.n), value);
    *rule = str_equal(text, S("ramp")) || str_equal(text, S("iota")) ? RULE_RAMP
            : str_equal(text, S("random"))                           ? RULE_RANDOM
                                                                     : RULE_ZERO;
    return *rule != RULE_ZERO || str_equal(text, S("zero"));
}

enum status pto_buffer_fill(unsigned char *data, size_t size, enum pto_dtype dtype, struct str text,
                            uint64_t seed, uint64_t salt, struct diag *d)
{
    enum pto_dtype lane = pto_elem_lane_type(dtype);
    size_t step = pto_dtype_size(dtype);
    enum rule rule;
    double value;

    if (!read_rule(text, &rule, &value)) {
        diag_hint(d, "try", "zero, one, ramp, random or const:VALUE");
        return diag_fail(d, ST_NOT_FOUND, "pto-sim.fill", (struct where){0},
                         "unknown fill rule %.*s", STR_ARGS(text));
    }
    memset(data, 0, size);
    if (rule == RULE_ZERO)
        return ST_OK;
    uint64_t state = scramble(scramble(seed) ^ salt);
    for (size_t i = 0; (i + 1) * step <= size; i++) {
        double v = rule == RULE_CONST  ? value
                   : rule == RULE_RAMP ? (double)i
                                       : random_value(state + i, lane);
        uint64_t bits = pto_elem_from_f64(v, lane);
        if (pto_elem_lanes(dtype) == 2)
            bits = pto_elem_join(bits, bits, dtype);
        pto_elem_store(data + i * step, dtype, bits);
    }
    return ST_OK;
}

enum status pto_buffer_read(const char *path, size_t size, struct pto_binding *b, struct diag *d)
{
    struct mapfile map;

    TRY(mapfile_open(&map, path, d));
    b->size = map.text.n > size ? map.text.n : size;
    b->data = mem_grow(b->data, 1, b->size + 1);
    memset(b->data, 0, b->size);
    if (map.text.n > 0)
        memcpy(b->data, map.text.at, map.text.n);
    mapfile_close(&map);
    return ST_OK;
}

enum status pto_buffer_write(const char *path, const struct pto_binding *b, size_t size,
                             struct diag *d)
{
    struct outfile file;

    TRY(outfile_open(&file, path, d));
    outfile_write(&file, (struct str){(const char *)b->data, size < b->size ? size : b->size});
    return outfile_commit(&file, OUTFILE_FAST, d);
}

static bool is_right(double got, double expected, double rtol, double atol)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    if (isinf(expected) || isinf(got))
        return expected == got;
    return fabs(got - expected) <= atol + rtol * fabs(expected);
}

static void compare_one(struct pto_compared *out, uint64_t at, double got, double expected,
                        double rtol, double atol)
{
    double away = fabs(got - expected);

    out->n++;
    if (away > out->max_abs)
        out->max_abs = away;
    if (expected != 0 && away / fabs(expected) > out->max_rel)
        out->max_rel = away / fabs(expected);
    if (is_right(got, expected, rtol, atol))
        return;
    if (out->wrong++ == 0) {
        out->first = at;
        out->got = got;
        out->expected = expected;
    }
}

enum status pto_buffer_compare(const char *path, const struct pto_binding *b, enum pto_dtype dtype,
                               double rtol, double atol, struct pto_compared *out, struct diag *d)
{
    enum pto_dtype lane = pto_elem_lane_type(dtype);
    size_t step = pto_dtype_size(dtype), lanes = pto_elem_lanes(dtype);
    struct mapfile map;

    *out = (struct pto_compared){0};
    TRY(mapfile_open(&map, path, d));
    if (map.text.n > b->size || map.text.n % step != 0) {
        (void)diag_fail(d, ST_FORMAT, "pto-sim.golden-size", (struct where){.path = path},
                        "%zu bytes, but the buffer has %zu bytes of %zu-byte elements", map.text.n,
                        b->size, step);
        mapfile_close(&map);
        return ST_FORMAT;
    }
    const unsigned char *golden = (const unsigned char *)map.text.at;
    for (size_t i = 0; (i + 1) * step <= map.text.n; i++) {
        uint64_t got = pto_elem_load(b->data + i * step, dtype);
        uint64_t expected = pto_elem_load(golden + i * step, dtype);
        for (uint32_t k = 0; k < lanes; k++)
            compare_one(
                out, i * lanes + k,
                pto_elem_f64(lanes > 1 ? pto_elem_lane(got, dtype, k) : got, lane),
                pto_elem_f64(lanes > 1 ? pto_elem_lane(expected, dtype, k) : expected, lane), rtol,
                atol);
    }
    mapfile_close(&map);
    return ST_OK;
}
