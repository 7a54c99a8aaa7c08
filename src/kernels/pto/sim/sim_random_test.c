/* Properties of the simulator on random kernels; the fuzzer fuzz_pto_sim asks the same of more. */
#include "base/testing.h"
#include "kernels/pto/testing_properties.h"

static uint32_t random_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

TEST(every_random_kernel_keeps_its_dependences)
{
    struct properties *p = properties_new();

    for (uint32_t seed = 1; seed <= 600; seed++) {
        uint8_t bytes[300];
        uint32_t random = seed * 2654435761u;
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(random_next(&random) >> 16);
        if (!properties_hold(p, bytes, sizeof(bytes)))
            fail_msg("seed %u: %s\n%.*s", seed, p->fault, (int)p->kernel.n, p->kernel.text);
    }
    properties_free(p);
}

/* The checker sees what it is there for. */
TEST(a_kernel_that_reads_too_early_is_found)
{
    struct properties *p = properties_new();
    const uint8_t bytes[] = {0};
    int64_t total[2];

    p->kernel.barrier_at = p->kernel.pair_from = p->kernel.pair_to = UINT32_MAX;
    random_kernel(&p->kernel, bytes, sizeof(bytes));
    assert_true(properties_of_one(p, 0, total));
    struct pto_core *core = &p->sim.cores[PTO_AIV0];
    size_t found = 0;
    for (size_t i = 0; i < core->queues.records.n; i++) {
        struct pto_record kept = core->queues.records.at[i], *r = &core->queues.records.at[i];
        r->start = r->end = r->ready = 0;
        found += random_check_records(&p->check, &p->kernel, core, true) != NULL;
        *r = kept;
    }
    assert_true(found > core->queues.records.n / 2);
    assert_null(random_check_records(&p->check, &p->kernel, core, true));
    properties_free(p);
}

TEST_MAIN("kernels/pto/sim/sim_random", T(every_random_kernel_keeps_its_dependences),
          T(a_kernel_that_reads_too_early_is_found))
