/*
 * Verdicts on kernels with a planted property, by counters that an H200 recorded: what is named,
 * and that readings which are a little off, or missing, name nothing else.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/files/mapfile.h"
#include "base/testing.h"
#include "base/testing_arena.h"
#include "gpu/collect/run.h"
#include "gpu/collect/rundir.h"

enum { MANY = 128, NAMED = 3, UNSPECIFIC = 11, SMALL_GAIN = 12 };

/* A recorded kernel, and what its verdict has to be: causes that are right, with bars between them;
 * empty: none. NULL: nobody wrote it down. */
static struct {
    struct gpu_kernel kernel;
    struct gpu_run *of;
    const char *cause, *class;
} recorded[MANY];
static size_t n_recorded;
static struct gpu_run folders[3];
static struct gpu_run one; /* the kernel that is judged */

struct gpu_said {
    struct gpu_opportunity named[NAMED];
    size_t n;
    bool is_at_limit;
    char class[64];
};

/* ---- recordings ---- */

static struct str column(struct str line, size_t at)
{
    struct str cell = {line.at, 0};

    for (size_t i = 0; i <= line.n; i++)
        if (i == line.n || line.at[i] == '\t') {
            cell.n = (size_t)(line.at + i - cell.at);
            if (at-- == 0)
                return cell;
            cell = (struct str){line.at + i + 1, 0};
        }
    return S("");
}

static void expect_line(size_t first, struct str line)
{
    for (size_t i = first; i < n_recorded; i++)
        if (str_equal(recorded[i].kernel.name, column(line, 0))) {
            recorded[i].cause = arena_cstr(&arena, column(line, 2));
            recorded[i].class = arena_cstr(&arena, column(line, 4));
            return;
        }
    fail_msg("not recorded: %.*s", STR_ARGS(line));
}

static void verdict_load(struct gpu_run *run, const char *folder)
{
    size_t first = n_recorded, begin = 0;
    struct mapfile map;

    assert_int_equal(gpu_rundir_load(folder, run, &diag), ST_OK);
    for (size_t i = 0; i < run->kernels.n; i++) {
        assert_true(n_recorded < MANY);
        recorded[n_recorded].kernel = run->kernels.at[i];
        recorded[n_recorded++].of = run;
    }
    assert_int_equal(mapfile_open(&map, arena_printf(&arena, "%s/expected.tsv", folder), &diag),
                     ST_OK);
    for (size_t i = 0; i < map.text.n; i++)
        if (map.text.at[i] == '\n') {
            expect_line(first, (struct str){map.text.at + begin, i - begin});
            begin = i + 1;
        }
    mapfile_close(&map);
}

static int load_all(void **state)
{
    arena_enter(state);
    verdict_load(&folders[0], "tests/data/gpu/diseases");
    verdict_load(&folders[1], "tests/data/gpu/strangers");
    verdict_load(&folders[2], "tests/data/gpu/blind");
    return 0;
}

static int free_all(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        gpu_run_free(&folders[i]);
    return arena_leave(state);
}

/* ---- one kernel ---- */

static struct gpu_kernel *verdict_put(size_t at)
{
    gpu_run_init(&one);
    one.peaks = recorded[at].of->peaks;
    one.device = recorded[at].of->device;
    vec_push(&one.kernels, recorded[at].kernel);
    assert_int_equal(gpu_run_stages(&one, NULL, (struct gpu_work_option){0}, &diag), ST_OK);
    return &one.kernels.at[0];
}

/* What the kernel owns stays that of the recording. */
static void drop(void)
{
    one.kernels.at[0] = gpu_kernel_none();
    gpu_run_free(&one);
}

static struct gpu_said verdict_judge(void)
{
    struct gpu_said v = {0};
    const char *unit;

    one.notes.n = 0;
    gpu_run_judge(&one);
    v.n = gpu_run_top(&one, v.named, NAMED);
    v.is_at_limit = !isnan(gpu_stage_limit(&one.stages.at[0], &unit));
    struct gpu_class c = gpu_class_shown(&one.stages.at[0].class);
    snprintf(v.class, sizeof(v.class), "%s %s%s", gpu_bound_name(c.bound), c.sub,
             c.is_weak ? " weak" : "");
    return v;
}

/* ---- what no verdict may say, whatever was counted ---- */

static uint64_t seed = 24;

/* From 0 up to 1, the same in every run. */
static double fraction(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

static size_t below(size_t n)
{
    return (size_t)(fraction() * (double)n);
}

static bool is_in(double value, double low, double high)
{
    return value >= low && value <= high; /* fails on NAN */
}

static void check_class(const struct gpu_kernel *k, const struct gpu_class *c)
{
    const char *pipe, *level;
    double comp = gpu_compute_pct(k, &pipe), chip = gpu_chip_pct(k, &level);
    double dram = k->m[GPU_M_DRAM_PCT], part = c->is_weak ? GPU_WEAK : 1;
    bool is_balanced = strcmp(c->sub, "balanced") == 0;

    assert_true(is_in(c->confidence, 0, 1));
    assert_true(!c->is_weak || c->confidence <= 0.5);
    if (is_balanced)
        assert_true(dram >= GPU_DRAM_HIGH && comp >= GPU_COMPUTE_HIGH);
    else if (strcmp(c->sub, "dram") == 0)
        assert_true(dram >= part * GPU_DRAM_HIGH);
    else if (c->bound == GPU_MEMORY)
        assert_true(chip >= part * GPU_CHIP_HIGH && strcmp(c->sub, level) == 0);
    else if (strcmp(c->sub, "issue") == 0)
        assert_true(k->m[GPU_M_ISSUE_PCT] >= GPU_ISSUE_HIGH);
    else if (c->bound == GPU_COMPUTE)
        assert_true(comp >= part * GPU_COMPUTE_HIGH && strcmp(c->sub, pipe) == 0);
    else
        assert_true(!(dram >= GPU_DRAM_HIGH) && !(comp >= GPU_COMPUTE_HIGH) &&
                    !(chip >= GPU_CHIP_HIGH));
    if (strcmp(c->sub, "underfill") == 0)
        assert_true(gpu_waves(k, &one.stages.at[0].occupancy) < GPU_UNDERFILL_WAVES);
}

static void check_opportunities(const struct gpu_opportunities *list)
{
    for (size_t i = 0; i < list->all.n; i++) {
        const struct gpu_opportunity *o = &list->all.at[i];
        assert_true(is_in(o->gain, 0, 95) && is_in(o->confidence, 0, 1));
        if (str_contains(o->trigger, S("nan")))
            fail_msg("%.*s: %.*s", STR_ARGS(o->name), STR_ARGS(o->trigger));
        for (size_t k = 0; k < i && o->is_ranked; k++) {
            assert_true(list->all.at[k].is_ranked && list->all.at[k].gain >= o->gain);
            assert_int_not_equal(strcmp(list->all.at[k].family, o->family), 0);
        }
    }
}

static struct gpu_said checked(void)
{
    struct gpu_said v = verdict_judge();
    const struct gpu_stage *s = &one.stages.at[0];

    if (!s->class.is_model)
        check_class(s->main, &s->class);
    check_opportunities(&s->opportunities);
    if (v.is_at_limit) {
        const char *unit;
        assert_true(gpu_kernel_limit(s->main, &unit) >= GPU_AT_LIMIT);
        assert_true(v.n == 0 && !s->class.is_weak && gpu_kernel_lacks(s->main) == NULL);
    }
    return v;
}

/* ---- the recorded verdicts ---- */

static bool is_accepted(const char *causes, struct str name)
{
    for (const char *at = causes; at != NULL; at = strchr(at, '|'), at += at != NULL)
        if (str_equal(name, (struct str){at, strcspn(at, "|")}))
            return true;
    return false;
}

TEST(what_was_planted_is_named_first)
{
    size_t judged = 0;

    for (size_t i = 0; i < n_recorded; i++) {
        if (recorded[i].cause == NULL)
            continue;
        verdict_put(i);
        struct gpu_said v = checked();
        struct str named = v.n > 0 ? v.named[0].name : S("");
        if (!is_accepted(recorded[i].cause, named))
            fail_msg("%.*s: \"%.*s\" where \"%s\" was planted", STR_ARGS(recorded[i].kernel.name),
                     STR_ARGS(named), recorded[i].cause);
        if (recorded[i].class[0] != '\0')
            assert_string_equal(v.class, recorded[i].class);
        judged++;
        drop();
    }
    assert_int_equal(judged, 91);
}

/* ---- readings that are a little off, or missing ---- */

/* The turns in which a Hopper counts them, first turn first. */
static const char *const turns[] = {
    (" sm_cycles sm_cycles_active sm_clock_hz dram_pct dram_rd dram_wr tc_pct occ issue_pct l2_peak"
     " l1_peak l1_lsu_pct l2_tag_pct l2_data_pct l2_xbar_pct atomic_pct atomic_max_pct alu_pct"
     " fma_pct xu_pct l2_hit l1_hit l2_hit_sect l1_hit_sect tc_inst tc_hmma_inst tc_gmma_inst "),
    (" thread_inst thread_inst_on branches branches_uniform global_ld global_st global_red"
     " global_atom global_ld_bytes global_st_bytes global_ld_sect global_st_sect local_ld_sect"
     " local_st_sect shared_ld shared_st shared_atom shared_atom_wavefronts shared_bytes ffma fadd"
     " fmul hfma dfma half_inst double_inst integer_inst conversion_inst control_inst "
     "memory_inst "),
    (" l2_hit l1_hit l2_miss_sect fp64_pct l1_sect shared_conflicts shared_wavefronts lsu_pct"
     " barrier long_scoreboard "),
    " short_scoreboard lg_throttle mio_throttle constant_pct constant_requests ",
    " math_pipe_throttle wait membar ",
    " imc_miss no_instruction branch_resolving ",
    " eligible not_selected ",
    " dispatch_stall constant_ld ",
};

static bool is_of(const char *turn, struct str name)
{
    char word[64];

    snprintf(word, sizeof(word), " %.*s ", STR_ARGS(name));
    return strstr(turn, word) != NULL;
}

static void lose(struct gpu_kernel *k, const char *turn)
{
    size_t n = 0;

    for (int m = 0; m < GPU_METRICS; m++)
        if (is_of(turn, str_of(gpu_metric_name((enum gpu_metric)m))))
            k->m[m] = NAN;
    for (size_t i = 0; i < k->n_stalls; i++)
        if (!is_of(turn, k->stalls[i].reason))
            k->stalls[n++] = k->stalls[i];
    k->n_stalls = n;
}

/* Whether a verdict says nothing that the one on the full counters does not: the same causes in
 * another order, none, one that promises little, or only what warps wait for. */
static bool is_no_other(const struct gpu_said *v, const struct gpu_said *full, const char *causes)
{
    if (v->n == 0)
        return !v->is_at_limit || full->n == 0 || full->named[0].gain < 2 * SMALL_GAIN;
    if (v->named[0].id == UNSPECIFIC || v->named[0].gain <= SMALL_GAIN)
        return true;
    for (size_t i = 0; i < full->n; i++)
        if (full->named[i].id == v->named[0].id)
            return true;
    return is_accepted(causes, v->named[0].name);
}

struct tried_changes {
    size_t tried, wrong;
};

static void try(struct tried_changes *c, size_t at, const struct gpu_said *full, const char *what,
                double factor)
{
    struct gpu_said v = checked();

    c->tried++;
    if (recorded[at].cause != NULL && !is_no_other(&v, full, recorded[at].cause)) {
        print_message("%.*s, %s x %.2f: %.*s\n", STR_ARGS(recorded[at].kernel.name), what, factor,
                      v.n > 0 ? (int)v.named[0].name.n : 8,
                      v.n > 0 ? v.named[0].name.at : "at limit");
        c->wrong++;
    }
}

static void try_value(struct tried_changes *c, size_t at, const struct gpu_said *full,
                      const char *what, double *value, bool is_percent)
{
    static const double factors[] = {0.9, 0.95, 1.05, 1.1, NAN};
    const double was = *value;

    for (size_t i = 0; i < ARRAY_LEN(factors) && was > 0; i++) {
        *value = is_percent && was * factors[i] > 100 ? 100 : was * factors[i];
        try(c, at, full, what, factors[i]);
    }
    *value = was;
}

TEST(readings_a_little_off_or_missing_name_nothing_else)
{
    struct tried_changes c = {0};

    for (size_t i = 0; i < n_recorded; i++) {
        struct gpu_kernel *k = verdict_put(i);
        if (isnan(k->m[GPU_M_THREAD_INST_ON])) {
            drop();
            continue;
        }
        struct gpu_said full = verdict_judge();
        for (int m = 0; m < GPU_M_BUFFER_BYTES; m++)
            try_value(&c, i, &full, gpu_metric_name((enum gpu_metric)m), &k->m[m],
                      gpu_metric_unit((enum gpu_metric)m)[0] == '%');
        for (size_t s = 0; s < k->n_stalls; s++)
            try_value(&c, i, &full, "a stall reason", &k->stalls[s].ratio, false);
        for (size_t t = 0; t < ARRAY_LEN(turns); t++) {
            lose(k, turns[t]);
            try(&c, i, &full, "one turn missing", (double)t);
            *k = recorded[i].kernel;
        }
        for (size_t t = ARRAY_LEN(turns); t-- > 0;) { /* fewer and fewer launches */
            lose(k, turns[t]);
            try(&c, i, &full, "turns left", (double)t);
        }
        drop();
    }
    print_message("%zu changes, %zu name another cause\n", c.tried, c.wrong);
    assert_int_equal(c.wrong, 0);
}

/* A hundredth more or less moves no gain by much. */
TEST(no_reading_stands_at_a_cliff)
{
    enum { MOST = 12 }; /* percentage points */

    for (size_t i = 0; i < n_recorded; i++) {
        struct gpu_kernel *k = verdict_put(i);
        struct gpu_said full = verdict_judge();
        for (int m = 0; m < GPU_M_BUFFER_BYTES && full.n > 0; m++) {
            const double was = k->m[m];
            for (int up = 0; up < 2 && was > 0; up++) {
                k->m[m] = was * (up ? 1.01 : 0.99);
                struct gpu_said v = checked();
                double gain = v.n > 0 ? v.named[0].gain : 0;
                if (fabs(gain - full.named[0].gain) > MOST && full.named[0].id != UNSPECIFIC)
                    fail_msg("%.*s: %.0f and %.0f %% by 1 %% of %s",
                             STR_ARGS(recorded[i].kernel.name), full.named[0].gain, gain,
                             gpu_metric_name((enum gpu_metric)m));
            }
            k->m[m] = was;
        }
        drop();
    }
}

/* Counters of several kernels, mixed, scaled and left out at random: nothing holds but what every
 * verdict has to. */
TEST(no_counters_make_a_verdict_contradict_itself)
{
    enum { CASES = 3000 };

    for (size_t n = 0; n < CASES; n++) {
        struct gpu_kernel *k = verdict_put(below(n_recorded));
        for (int m = 0; m < GPU_M_BUFFER_BYTES; m++) {
            const struct gpu_kernel *other = &recorded[below(n_recorded)].kernel;
            switch (below(8)) {
            case 0:
                k->m[m] = NAN;
                break;
            case 1:
                k->m[m] = 0;
                break;
            case 2:
                k->m[m] = other->m[m];
                break;
            case 3:
                k->m[m] *= 0.5 + fraction();
                break;
            default:
                break;
            }
        }
        for (size_t s = 0; s < k->n_stalls; s++)
            k->stalls[s].ratio *= 2 * fraction();
        checked();
        drop();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_was_planted_is_named_first),
        T(readings_a_little_off_or_missing_name_nothing_else),
        T(no_reading_stands_at_a_cliff),
        T(no_counters_make_a_verdict_contradict_itself),
    };

    return cmocka_run_group_tests_name("gpu/judge/verdict", tests, load_all, free_all);
}
