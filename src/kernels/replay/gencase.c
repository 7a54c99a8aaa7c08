/*
 * The files of a case: sources, data by rules, and a record of how it was filled.
 */
#include "kernels/replay/gencase.h"

#include <math.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/text/num.h"
#include "report/record_file.h"

/* Larger buffers than this are no test case. */
#define BYTES_MAX ((size_t)1 << 36)

size_t gencase_bytes(const struct gencase_job *job, size_t i)
{
    const struct entry_param *p = &job->entry->params[i];
    int64_t elements = gm_text_elements(job->sizes, i);
    size_t bytes;

    if (elements <= 0 || !num_mul((size_t)elements, p->bytes > 0 ? p->bytes : 4, &bytes) ||
        bytes > BYTES_MAX)
        return 0;
    return bytes;
}

/* ---- data ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The bits of a half from 0 to 65504; what its 11 significant bits cannot hold is cut off. */
static uint16_t half_bits(double v)
{
    int exponent;

    if (v <= 0)
        return 0;
    double mantissa = frexp(v, &exponent); /* in [0.5, 1) */
    if (exponent < -13)                    /* below the smallest normal one */
        return (uint16_t)(v * 16777216.0);
    return (uint16_t)((exponent + 14) << 10 | (int)((mantissa * 2 - 1) * 1024.0));
}

struct rule {
    enum { RULE_ZERO, RULE_ONE, RULE_RANDOM, RULE_IOTA, RULE_CONST } kind;
    double value;
};

static const char *const rule_names[] = {"zero", "one", "random", "iota", "const"};

static bool read_rule(struct str text, struct rule *out)
{
    size_t i = 0;

    while (i < RULE_CONST && !str_equal(text, str_of(rule_names[i])))
        i++;
    out->kind = str_equal(text, S("ramp")) ? RULE_IOTA : (int)i;
    return out->kind != RULE_CONST ||
           (str_starts(text, S("const:")) && num_f64(str_part(text, 6, text.n), &out->value));
}

static double value_at(const struct rule *rule, uint64_t i, uint64_t *state)
{
    switch (rule->kind) {
    case RULE_ZERO:
        return 0;
    case RULE_ONE:
        return 1;
    case RULE_RANDOM:
        return (double)(next_random(state) >> 40) / 16777216.0;
    case RULE_IOTA:
        return (double)i;
    case RULE_CONST:
        return rule->value;
    }
    return 0;
}

static void put_element(const struct entry_param *p, double v, unsigned char *out)
{
    size_t size = p->bytes > 0 ? p->bytes : 4;
    uint64_t bits = 0;

    if (p->fill == FILL_RANDOM_HALF) {
        double most = v < 0 ? -v : v;
        bits = half_bits(most < 65504 ? most : 65504) | (v < 0 ? 0x8000u : 0u);
    } else if (p->fill == FILL_RANDOM_FLOAT) {
        bits = num_bits_of_float((float)v);
    } else if (str_equal(p->type, S("bfloat16_t")) || str_equal(p->type, S("__bf16"))) {
        uint32_t whole = num_bits_of_float((float)v); /* its upper half, rounded to even */
        bits = (whole + 0x7fff + (whole >> 16 & 1)) >> 16;
    } else if (v > -9.2e18 && v < 9.2e18) {
        bits = (uint64_t)(int64_t)v;
    }
    for (size_t k = 0; k < size; k++)
        out[k] = (unsigned char)(bits >> 8 * k);
}

static enum status write_data(const struct entry_param *p, const struct rule *rule, size_t bytes,
                              uint64_t seed, const char *path, struct diag *d)
{
    enum { CHUNK = 1 << 16 };
    unsigned char *chunk = mem_grow(NULL, 1, CHUNK);
    size_t size = p->bytes > 0 ? p->bytes : 4;
    struct outfile file;
    enum status st = outfile_open(&file, path, d);

    for (uint64_t done = 0, i = 0; st == ST_OK && done < bytes;) {
        size_t n = bytes - done < CHUNK ? (size_t)(bytes - done) : CHUNK;
        for (size_t at = 0; at + size <= n; at += size, i++)
            put_element(p, value_at(rule, i, &seed), chunk + at);
        outfile_write(&file, (struct str){(const char *)chunk, n});
        done += n;
    }
    mem_free(chunk);
    return st == ST_OK ? outfile_commit(&file, OUTFILE_FAST, d) : st;
}

/* Bytes of a user's file; the rest is zero. */
static enum status copy_data(const char *from, size_t bytes, const char *path, struct diag *d)
{
    static const char zeros[4096];
    struct mapfile map;
    struct outfile file;

    TRY(mapfile_open(&map, from, d));
    enum status st = ST_OK;
    if (map.text.n > bytes)
        st = diag_fail(d, ST_FORMAT, "incore-run.bad-input", (struct where){.path = from},
                       "%zu bytes, but the buffer has %zu", map.text.n, bytes);
    if (st == ST_OK)
        st = outfile_open(&file, path, d);
    if (st == ST_OK) {
        outfile_write(&file, map.text);
        for (size_t done = map.text.n; done < bytes;) {
            size_t n = bytes - done < sizeof(zeros) ? bytes - done : sizeof(zeros);
            outfile_write(&file, (struct str){zeros, n});
            done += n;
        }
        st = outfile_commit(&file, OUTFILE_FAST, d);
    }
    mapfile_close(&map);
    return st;
}

static enum status rule_of(const struct gencase_job *job, size_t i, struct rule *out,
                           struct diag *d)
{
    const struct entry_param *p = &job->entry->params[i];

    if (job->given != NULL && job->given[i].rule.n > 0) {
        if (read_rule(job->given[i].rule, out))
            return ST_OK;
        return diag_fail(d, ST_FORMAT, "incore-run.bad-fill", (struct where){0},
                         "%.*s: unknown rule; use zero, one, random, iota or const:V",
                         STR_ARGS(job->given[i].rule));
    }
    out->kind = p->fill == FILL_ZERO ? RULE_ZERO : RULE_RANDOM;
    return ST_OK;
}

/* ---- golden.json ---- */

/* One parameter with what was chosen for it. */
struct told {
    struct str name, type, host, value, fill;
    bool is_pointer, is_scalar, has_bytes;
    int64_t elements;
    uint64_t bytes;
};

/* Null for a type whose size is not known; no key for a scalar. */
static void write_bytes(struct json_writer *w, const void *record, const struct record_env *env)
{
    const struct told *t = record;

    (void)env;
    if (t->has_bytes)
        json_write_u64(w, t->bytes);
    else
        json_write_null(w);
}

#define OF_POINTERS .is_optional = true, WHEN(struct told, is_pointer)

static const struct field told_fields[] = {
    FIELD(struct told, name, "name"),
    FIELD(struct told, type, "type"),
    FIELD(struct told, is_pointer, "pointer"),
    FIELD(struct told, value, "value", .is_optional = true, WHEN(struct told, is_scalar)),
    FIELD(struct told, elements, "elements", OF_POINTERS),
    FIELD(struct told, host, "host_type", OF_POINTERS),
    FIELD_WRITTEN("bytes", write_bytes, OF_POINTERS),
    FIELD(struct told, fill, "fill", OF_POINTERS),
};
static const struct record told_record = RECORD(struct told, told_fields);

struct golden {
    struct str kernel;
    const char *entry, *launch;
    int64_t seed;
    struct told *params;
    size_t n;
};

static const struct field golden_fields[] = {
    FIELD(struct golden, kernel, "kernel"),
    FIELD(struct golden, entry, "entry"),
    FIELD(struct golden, launch, "launch"),
    FIELD(struct golden, seed, "seed"),
    FIELD_LIST(struct golden, params, n, "params", &told_record),
};
static const struct record golden_record = RECORD(struct golden, golden_fields);

static enum status write_golden(const struct gencase_job *job, struct arena *arena, struct diag *d)
{
    static const char *const sorts[] = {"global", "mixed", "bare"};
    static const struct gencase_given nothing;
    const struct entry *e = job->entry;
    struct golden g = {.kernel = e->name,
                       .entry = sorts[e->sort],
                       .launch = gencase_launch(arena, e->name),
                       .seed = GENCASE_SEED,
                       .params = ARENA_ARRAY(arena, struct told, e->n_params),
                       .n = e->n_params};

    for (size_t i = 0; i < g.n; i++) {
        const struct entry_param *p = &e->params[i];
        const struct gencase_given *given = job->given != NULL ? &job->given[i] : &nothing;
        g.params[i] = (struct told){
            .name = p->name,
            .type = p->type,
            .host = p->host,
            .is_pointer = p->is_pointer,
            .is_scalar = !p->is_pointer,
            .value = given->scalar.n > 0 ? given->scalar : S("1"),
            .elements = gm_text_elements(job->sizes, i),
            .has_bytes = p->bytes > 0,
            .bytes = gencase_bytes(job, i),
            .fill = given->file != NULL    ? S("file")
                    : given->rule.n > 0    ? given->rule
                    : p->fill == FILL_ZERO ? S("zero")
                                           : S("random"),
        };
    }
    return record_save(fs_join(arena, job->dir, "golden.json"), &golden_record, &g, d);
}

enum status gencase_write(const struct gencase_job *job, struct arena *arena, struct diag *d)
{
    static const char *const names[] = {"kernel.cpp", "launch.cpp", "main.cpp", "CMakeLists.txt"};
    const struct entry *e = job->entry;

    TRY(fs_mkdirs(job->dir, d));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *prefix = i == 0 ? arena_printf(arena, "%s_", job->testcase) : "";
        TRY(outfile_save(fs_join(arena, job->dir, arena_printf(arena, "%s%s", prefix, names[i])),
                         gencase_text(job, names[i], arena), d));
    }
    for (size_t i = 0; i < e->n_params; i++) {
        const struct entry_param *p = &e->params[i];
        struct rule rule;
        size_t bytes = p->is_pointer ? gencase_bytes(job, i) : 0;
        if (!p->is_pointer)
            continue;
        if (bytes == 0)
            return diag_fail(d, ST_LIMIT, "incore-run.too-large", (struct where){0},
                             "the buffer of %.*s is too large", STR_ARGS(p->name));
        TRY(rule_of(job, i, &rule, d));
        const char *path =
            fs_join(arena, job->dir, arena_printf(arena, "%.*s.bin", STR_ARGS(p->name)));
        if (job->given != NULL && job->given[i].file != NULL)
            TRY(copy_data(job->given[i].file, bytes, path, d));
        else
            TRY(write_data(p, &rule, bytes, GENCASE_SEED + i, path, d));
    }
    return write_golden(job, arena, d);
}
