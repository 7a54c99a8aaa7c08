/* Every operation has an entry whose example is read, runs, and runs where the entry says. */
#include "kernels/pto/cost/reference.h"

#include "base/files/embedded.h"
#include "base/testing.h"
#include "kernels/pto/sim/pipes.h"
#include "kernels/pto/testing_sim.h"

static struct arena arena;
static struct pto_references all;

static void setup(void)
{
    struct pto_costs *costs = pto_costs_new();

    arena_init(&arena);
    all = pto_references(costs, &arena);
    pto_costs_free(costs);
}

TEST(every_operation_has_an_entry)
{
    setup();
    assert_int_equal(all.n, PTO_OP_COUNT - 1);
    for (size_t i = 0; i < all.n; i++) {
        const struct pto_reference *r = &all.at[i];
        assert_int_equal(pto_op_find(r->name), PTO_OP_NONE + 1 + i);
        assert_true(r->meaning.n > 0 && r->operands.n > 0);
        assert_true(strstr(r->example.at, r->name.at) != NULL);
    }
    arena_free(&arena);
}

/* The pipe of the operation in the example is one of those that the entry names. */
static bool names_pipe(const struct pto_module *m, const struct pto_reference *r)
{
    for (size_t f = 0; f < m->functions.n; f++)
        for (uint32_t i = m->functions.at[f].op_first; i < m->functions.at[f].op_end; i++) {
            const struct pto_op *op = &m->ops.at[i];
            if (!str_equal(pto_op_facts[op->code].name, r->name))
                continue;
            struct pto_phases p = pto_phases_of(m, &m->functions.at[f], op);
            if (p.n == 0)
                return r->pipe.n == 0;
            const char *name = pto_pipe_name(p.at[0]) + strlen("PIPE_");
            return strstr(r->pipe.at, name) != NULL || strstr(r->pipe.at, "names") != NULL ||
                   (p.at[0] == PTO_PIPE_ALL && strstr(r->pipe.at, "all") != NULL);
        }
    return false;
}

/* A kernel with the example in it. */
static struct str kernel_of(const struct pto_reference *r)
{
    static const char line[] = "// the example stands here";
    const char *path =
        arena_cstr(&arena, arena_format(&arena, "pto/frames/%.*s.pto", STR_ARGS(r->frame)));
    struct str frame = embedded_file(path);
    const char *place = frame.at != NULL ? strstr(frame.at, line) : NULL;

    if (place == NULL || strstr(frame.at, arena_cstr(&arena, r->example)) != NULL)
        return frame;
    size_t before = (size_t)(place - frame.at), after = before + strlen(line);
    return arena_format(&arena, "%.*s%.*s%s", (int)before, frame.at, STR_ARGS(r->example),
                        frame.at + after);
}

TEST(every_example_runs)
{
    setup();
    for (size_t i = 0; i < all.n; i++) {
        struct testing_sim t;
        testing_sim_open(&t, kernel_of(&all.at[i]));
        if (all.at[i].is_simulated)
            testing_sim_run(&t, true);
        if (t.status != ST_OK || !names_pipe(&t.module, &all.at[i]))
            fail_msg("%s: %s, pipe %s", all.at[i].name.at,
                     t.diag.entries.n > 0 ? t.diag.entries.at[0].first[0].text : "runs",
                     all.at[i].pipe.at);
        testing_sim_close(&t);
    }
    arena_free(&arena);
}

TEST(costs_are_in_the_words_of_the_tables)
{
    struct pto_costs *costs = pto_costs_new();
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    assert_int_equal(
        pto_costs_read(costs, S("key,value\na2a3.tadds.f32,7\na2a3.gm.vec.rate,99\n"), "c.csv", &d),
        ST_OK);
    all = pto_references(costs, &arena);
    const struct pto_reference *adds = &all.at[PTO_TADDS - 1], *load = &all.at[PTO_TLOAD - 1];
    assert_non_null(strstr(adds->cost_a2a3.at, "f32 7"));
    assert_non_null(strstr(load->cost_a2a3.at, "bytes / 99"));
    assert_non_null(strstr(all.at[PTO_TADD - 1].cost_a5.at, "curve"));
    assert_non_null(strstr(all.at[PTO_TMATMUL - 1].cost_a5.at, "ceil(K/kt)"));
    assert_int_equal(all.at[PTO_ALLOC_TILE - 1].cost_a2a3.n, 0);
    diag_fini(&d);
    pto_costs_free(costs);
    arena_free(&arena);
}

TEST_MAIN("kernels/pto/cost/reference", T(every_operation_has_an_entry), T(every_example_runs),
          T(costs_are_in_the_words_of_the_tables))
