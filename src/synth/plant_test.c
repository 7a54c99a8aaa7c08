#include "synth/plant.h"

#include "base/testing.h"
#include "synth/plant_truth.h"

enum { SEEDS = 4 };

/* Executes one twin and accounts for it; `run` lives in the arena. */
static void execute(enum plant_cause cause, enum machine_kind kind, bool is_sick, uint64_t seed,
                    struct arena *arena, struct plant_run *run)
{
    struct synth_options o = SYNTH_DEFAULTS;
    struct sim sim;
    struct machine m;
    struct plant p;
    nanos marks[16];

    sim_init(&sim, &o, arena);
    machine_init(&m, kind, seed, &sim.ranks[0], &sim.names);
    plant_draw(&p, &m, cause, is_sick, seed, 0);
    assert_true(p.steps <= (int)ARRAY_LEN(marks));
    assert_int_equal(plant_execute(&p, marks, NULL, NULL), ST_OK);
    assert_int_equal(m.open_n, 0);
    *run = (struct plant_run){0};
    plant_truth_account(run, &m, &p, marks, arena);
    machine_fini(&m);
    sim_fini(&sim);
}

static void for_all(void (*check)(enum plant_cause cause, enum machine_kind kind, uint64_t seed))
{
    for (int cause = 0; cause < PLANT_COUNT; cause++)
        for (int kind = 0; kind < MACHINE_KINDS; kind++)
            for (uint64_t seed = 1; seed <= SEEDS; seed++)
                if ((plant_kinds[cause].machines & 1u << kind) != 0)
                    check((enum plant_cause)cause, (enum machine_kind)kind, seed);
}

static void check_sums(enum plant_cause cause, enum machine_kind kind, uint64_t seed)
{
    struct arena arena;
    struct plant_run run;

    arena_init(&arena);
    execute(cause, kind, true, seed, &arena, &run);
    for (size_t i = 0; i < run.steps_n; i++) {
        const struct plant_step_truth *s = &run.steps[i];
        nanos sum = 0;
        for (size_t k = 0; k < s->n; k++)
            sum += s->by[k].ns;
        assert_int_equal(sum, s->end - s->begin);
        assert_true(i == 0 || s->begin == run.steps[i - 1].end);
    }
    arena_free(&arena);
}

TEST(classes_add_up_to_the_window)
{
    for_all(check_sums);
}

static int weak;

/* A problem that saves less would be none, and repairs never cost time. */
static void check_saving(enum plant_cause cause, enum machine_kind kind, uint64_t seed)
{
    struct arena arena;
    struct plant_run sick, repaired;

    if (plant_is_healthy(cause))
        return;
    arena_init(&arena);
    execute(cause, kind, true, seed, &arena, &sick);
    execute(cause, kind, false, seed, &arena, &repaired);
    if (repaired.step_ns > sick.step_ns - sick.step_ns / 20)
        print_error("%s, machine %d, seed %llu: %lld to %lld ns\n", plant_names[cause], (int)kind,
                    (unsigned long long)seed, (long long)sick.step_ns, (long long)repaired.step_ns);
    weak += repaired.step_ns > sick.step_ns - sick.step_ns / 20;
    arena_free(&arena);
}

TEST(every_repair_saves_five_percent)
{
    for_all(check_saving);
    assert_int_equal(weak, 0);
}

static nanos share_of(const struct plant_run *run, const char *class)
{
    nanos sum = 0;

    for (size_t i = 1; i < run->steps_n; i++)
        for (size_t k = 0; k < run->steps[i].n; k++)
            if (strncmp(run->steps[i].by[k].class, class, strlen(class)) == 0)
                sum += run->steps[i].by[k].ns;
    return sum * 1000 / (run->steps[run->steps_n - 1].end - run->steps[1].begin);
}

TEST(healthy_programs_compute)
{
    for (int cause = 0; cause < PLANT_COUNT; cause++)
        for (uint64_t seed = 1; seed <= SEEDS && plant_is_healthy((enum plant_cause)cause);
             seed++) {
            struct arena arena;
            struct plant_run run;
            arena_init(&arena);
            execute((enum plant_cause)cause, seed % 2 == 0 ? MACHINE_GPU : MACHINE_NPU, true, seed,
                    &arena, &run);
            assert_true(share_of(&run, "compute") > 950);
            arena_free(&arena);
        }
}

TEST(the_same_seed_gives_the_same_run)
{
    struct arena arena;
    struct plant_run a, b, other;

    arena_init(&arena);
    execute(PLANT_HOST_SYNC, MACHINE_GPU, true, 3, &arena, &a);
    execute(PLANT_HOST_SYNC, MACHINE_GPU, true, 3, &arena, &b);
    execute(PLANT_HOST_SYNC, MACHINE_GPU, true, 4, &arena, &other);
    assert_int_equal(a.step_ns, b.step_ns);
    assert_true(a.step_ns != other.step_ns);
    arena_free(&arena);
}

TEST_MAIN("synth/plant", T(classes_add_up_to_the_window), T(every_repair_saves_five_percent),
          T(healthy_programs_compute), T(the_same_seed_gives_the_same_run))
