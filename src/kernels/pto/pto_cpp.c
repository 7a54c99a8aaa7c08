/*
 * Compiling a PTO kernel in C++, and finding arguments with which it runs.
 */
#include "kernels/pto/pto_cpp_in.h"

#include "base/files/mapfile.h"
#include "base/tables/hash.h"
#include "base/text/char.h"
#include "driver/cxx.h"

/* Dimensions that nobody knows are tried from large to small: a kernel says when they do not fit
 * its tiles. */
static const int64_t draft_dims[] = {128, 64, 32, 16, 1};

/* ---- which cores ---- */

/* Does the path or the source say for which core it is? Where neither does, one source may have the
 * work of both. */
static bool names_core(struct str path, struct str text)
{
    static const struct str in_path[] = {S_INIT("/aic/"), S_INIT("_aic."), S_INIT("/aiv/"),
                                         S_INIT("_aiv.")};
    static const struct str in_text[] = {S_INIT("_CUBE__"), S_INIT("_VEC__"), S_INIT("_aic("),
                                         S_INIT("_aiv(")};

    for (size_t i = 0; i < ARRAY_LEN(in_path); i++)
        if (str_contains(path, in_path[i]) || str_contains(text, in_text[i]))
            return true;
    return false;
}

static enum shape side_of(struct str path, struct str text)
{
    if (str_contains(path, S("/mix/")))
        return SHAPE_MIX;
    if (str_contains(path, S("/aic/")) || str_contains(path, S("_aic.")))
        return SHAPE_AIC;
    if (str_contains(path, S("/aiv/")) || str_contains(path, S("_aiv.")))
        return SHAPE_AIV;
    if (str_contains(text, S("_aic(")) && str_contains(text, S("_aiv(")))
        return SHAPE_MIX;
    bool is_cube = str_contains(text, S("TMATMUL")),
         is_vector = str_contains(text, S("__DAV_VEC__"));
    if (is_cube && is_vector)
        return SHAPE_MIX;
    return is_cube ? SHAPE_AIC : SHAPE_AIV;
}

struct cpp_side {
    const struct pto_cpp_job *job;
    struct pto_cpp_run *run;
    const char *source;
    bool is_cube, is_first;
};

/* Finds where the kernel begins. */
static enum status adapt(void *ctx, struct str text, const char *headers, struct text *out,
                         struct diag *d)
{
    struct cpp_side *s = ctx;
    struct kernel_start launch;
    struct launch_job job = {.text = text,
                             .source = str_of(s->source),
                             .headers = str_of(headers),
                             .wanted = str_of(s->job->entry ? s->job->entry : ""),
                             .is_cube = s->is_cube};

    TRY(launch_find(&job, &s->run->arena, &launch, d));
    launch_write(&job, &launch, out);
    if (!s->is_first)
        return ST_OK;
    s->run->launch = launch;
    if (launch.n_entries > 1 && !s->job->entry)
        diag_add(d, SEV_NOTE, "pto-cpp.entries", (struct where){.path = s->source},
                 "%zu functions can be run (%.*s%s); this is %.*s, --entry NAME chooses another",
                 launch.n_entries, STR_ARGS(launch.others),
                 str_contains(launch.others, launch.call) ? "" : "; ..", STR_ARGS(launch.call));
    return ST_OK;
}

static enum status compile_side(const struct pto_cpp_job *job, struct pto_cpp_run *r, uint32_t core,
                                struct pto_cpp_objects *l, struct diag *d)
{
    bool is_cube = core == PTO_AIC;
    const char *source = is_cube || !job->vector_source ? job->source : job->vector_source;
    if (core == PTO_AIV1 && job->second_source)
        source = job->second_source;
    struct cpp_side side = {job, r, source, is_cube,
                            is_cube || (r->side == SHAPE_AIV && core == PTO_AIV0) ||
                                (job->has_no_cube && core == PTO_AIV0)};
    struct cxx_job c = {.source = source,
                        .includes = job->includes,
                        .limit_ms = job->limit_ms,
                        .limit_option = job->limit_option,
                        .is_trusted = job->is_trusted,
                        .adapt = adapt,
                        .ctx = &side};
    static const char *const defines[2][2][4] = {
        {{"__DAV_VEC__", "__DAV_C220_VEC__", "__CCE_AICORE__=220", "__NPU_ARCH__=2201"},
         {"__DAV_CUBE__", "__DAV_C220_CUBE__", "__CCE_AICORE__=220", "__NPU_ARCH__=2201"}},
        {{"__DAV_VEC__", "__DAV_C310_VEC__", "__CCE_AICORE__=310", "__NPU_ARCH__=3510"},
         {"__DAV_CUBE__", "__DAV_C310_CUBE__", "__CCE_AICORE__=310", "__NPU_ARCH__=3510"}},
    };
    struct cxx_object object;

    for (size_t i = 0; i < job->defines.n; i++)
        vec_push(&c.defines, job->defines.at[i]);
    for (size_t i = 0; i < ARRAY_LEN(defines[0][0]); i++)
        vec_push(&c.defines, defines[job->arch == PTO_A5][is_cube][i]);
    enum status status = cxx_compile(&c, &r->arena, &object, d);
    vec_free(&c.defines);
    TRY(status);
    l->object[core] = object.path;
    r->key = hash_stable_mix(r->key, object.key);
    r->was_compiled = r->was_compiled || !object.was_there;
    r->compile_ms += (double)object.took / 1e6;
    return ST_OK;
}

static enum status compile(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                           struct pto_cpp_objects *l, struct diag *d)
{
    memset(r, 0, sizeof(*r));
    arena_init(&r->arena);
    struct mapfile map;
    TRY(mapfile_open(&map, job->source, d));
    struct str text = arena_str(&r->arena, map.text);
    mapfile_close(&map);
    r->source = text;
    struct str path = str_of(job->source), base = str_basename(path);
    /* A name of the dialect's text. */
    struct str stem = str_part(base, 0, str_find_char(base, '.'));
    char *name = arena_cstr(&r->arena, stem);
    for (size_t i = 0; i < stem.n; i++)
        if (!char_is_word(name[i]))
            name[i] = '_';
    r->name =
        stem.n > 0 && char_is_digit(name[0]) ? arena_format(&r->arena, "_%s", name) : str_of(name);
    r->side = job->side >= 0       ? (enum shape)job->side
              : job->vector_source ? SHAPE_MIX
                                   : side_of(path, text);
    r->names_no_core = job->side < 0 && r->side == SHAPE_AIC && !names_core(path, text);
    r->is_drafted = job->slots == NULL;
    for (size_t i = 0; job->slots && i < job->slots->n; i++)
        vec_push(&r->slots, job->slots->at[i]);
    if (r->side != SHAPE_AIV && !job->has_no_cube)
        TRY(compile_side(job, r, PTO_AIC, l, d));
    if (r->side != SHAPE_AIC)
        TRY(compile_side(job, r, PTO_AIV0, l, d));
    if (r->side == SHAPE_MIX && job->second_source)
        TRY(compile_side(job, r, PTO_AIV1, l, d));
    else if (r->side == SHAPE_MIX)
        l->object[PTO_AIV1] = l->object[PTO_AIV0];
    return ST_OK;
}

enum status pto_cpp_compile(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    struct pto_cpp_objects l = {0};

    TRY(compile(job, r, &l, d));
    if (r->is_drafted)
        pto_cpp_draft(job, r, draft_dims[0]);
    return ST_OK;
}

/* The first failure is told when no dimension fits. */
static enum status run_drafted(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                               const struct pto_cpp_objects *l, struct diag *d)
{
    struct diag quiet;

    diag_init(&quiet);
    enum status status = ST_FORMAT;
    for (size_t i = 0; i < ARRAY_LEN(draft_dims) && status != ST_OK && status != ST_CANCELLED &&
                       status != ST_LIMIT;
         i++) {
        pto_cpp_draft(job, r, draft_dims[i]);
        status = pto_cpp_run_once(job, r, l, &quiet);
    }
    diag_fini(&quiet);
    if (status == ST_OK || status == ST_CANCELLED)
        return status;
    pto_cpp_draft(job, r, draft_dims[0]);
    return pto_cpp_run_once(job, r, l, d);
}

enum status pto_cpp_run(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    struct pto_cpp_objects l = {0};

    TRY(compile(job, r, &l, d));
    TRY(r->is_drafted ? run_drafted(job, r, &l, d) : pto_cpp_run_once(job, r, &l, d));
    /* Half a conversation is simulated: that must not look like a whole one. */
    const struct pto_host_mark *m = &r->memory->mark;
    struct where where = {job->source, (uint64_t)m->rank_line, 0};
    if (m->between_ranks > 0)
        diag_add(d, SEV_WARN, "pto-cpp.one-rank", where,
                 "%llu %s with other ranks, which are not simulated: what is sent goes to the "
                 "kernel's own tensors, and a wait ends as soon as the cost model lets it",
                 (unsigned long long)m->between_ranks,
                 m->between_ranks == 1 ? "exchange" : "exchanges");
    return ST_OK;
}
