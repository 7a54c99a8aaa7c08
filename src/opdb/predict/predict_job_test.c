#include "opdb/predict/predict_job.h"

#include <math.h>

#include "base/testing_folder.h"

/* 32 heads of 128, 8 of them keys; made by hand so that its layers can be counted. */
static struct llm dense_model(void)
{
    struct llm m = {.name = S_INIT("dense"),
                    .hidden = 4096,
                    .vocab = 1000,
                    .heads = {.queries = 32, .keys = 8, .size = 128, .out_size = 128},
                    .is_gated = true,
                    .inter = 12288,
                    .layers = ARENA_NEW(&arena, struct model_layer),
                    .n_layers = 1,
                    .types = model_types_plain()};

    m.layers[0] = (struct model_layer){.attention = MODEL_FULL, .feed = MODEL_DENSE};
    model_set_layers(&arena, &m, 3);
    return m;
}

/* The step of a model on a device whose tables are all missing: operators by the roof. */
static void job_predict(struct predict *p, const struct predict_job *job)
{
    struct query_db db;
    const char *dir = scratch_path("NVIDIA_H200_141G");

    assert_int_equal(fs_mkdirs(dir, &diag), ST_OK);
    assert_int_equal(query_open(&db, dir, &diag), ST_OK);
    predict_init(p, job->model->name);
    assert_int_equal(predict_run(p, &db, job, &diag), ST_OK);
    query_close(&db);
}

static void assert_near(double found, double expected)
{
    assert_true(fabs(found - expected) < 1e-9 * expected);
}

static double each_of(const struct predict_step *s, struct str op)
{
    for (size_t i = 0; i < s->rows.n; i++)
        if (str_equal(s->rows.at[i].op, op))
            return s->rows.at[i].each_us;
    return NAN;
}

static struct predict_job job_of(const struct llm *model, struct model_layout layout)
{
    return (struct predict_job){.model = model,
                                .layout = layout,
                                .types = model_types_plain(),
                                .batch = 1,
                                .length = 128,
                                .links = links_one(5, 100)};
}

static struct predict_job job_of_tp(const struct llm *model, int64_t tp)
{
    return job_of(model,
                  (struct model_layout){.tp = tp, .pp = 1, .dp = 1, .expert_tp = tp, .ep = 1});
}

/* 128 x 4096 values of 2 bytes are 1048576 bytes. All at once, n - 1 times as many leave a card: of
 * 2 cards 1048576 bytes at 100 GB/s and 5 us; of 4 three times as many. A ring has 2 (n - 1) rounds
 * of 5 us and sends 2 (n - 1) / n of the bytes, which takes longer here. */
TEST(a_sum_by_its_links_is_that_by_hand)
{
    struct llm dense = dense_model();
    struct predict_job job = job_of_tp(&dense, 2);
    struct predict p;

    job_predict(&p, &job);
    assert_near(each_of(&p.steps[0], S("all_reduce")), 5 + 10.48576);
    /* Two for each layer, and 1000 logits of 2 bytes from two halves. */
    assert_near(p.steps[0].comm_us, 3 * 2 * 15.48576 + 5 + 0.01);
    predict_free(&p);
    job = job_of_tp(&dense, 4);
    job_predict(&p, &job);
    assert_near(each_of(&p.steps[0], S("all_reduce")), 5 + 31.45728);
    predict_free(&p);
    job.links.n = 0;
    job_predict(&p, &job);
    assert_int_equal(p.steps[0].missed, 3 * 2 + 1);
    assert_true(isnan(p.steps[0].high_us));
    assert_true(p.steps[0].comm_us == 0);
    predict_free(&p);
}

/* A token goes once to each card that has one of its eight experts: to 8 (1 - (7/8)^8) cards, of
 * which an eighth is its own. 128 tokens of 4096 values of 2 bytes. */
TEST(an_exchange_of_experts_is_that_by_hand)
{
    struct llm experts = dense_model();
    struct predict p;

    experts.experts = 64;
    experts.expert_inter = 1536;
    experts.top_k = 8;
    for (size_t i = 0; i < experts.n_layers; i++)
        experts.layers[i].feed = MODEL_EXPERTS;
    struct predict_job job =
        job_of(&experts, (struct model_layout){.tp = 1, .pp = 1, .dp = 8, .expert_tp = 1, .ep = 8});
    job_predict(&p, &job);
    double sent = 128 * 4096 * 2.0 * 8 * (1 - pow(7.0 / 8, 8)) * 7 / 8;
    assert_near(each_of(&p.steps[0], S("all_to_all")), 5 + sent / 100e3);
    assert_near(p.steps[0].comm_us, 3 * 2 * (5 + sent / 100e3));
    predict_free(&p);
}

/* Each card keeps its share of the experts, and reads no more than that. */
TEST(more_cards_for_the_experts_take_less_time)
{
    struct llm m;
    double before = INFINITY;

    assert_int_equal(model_known(&arena, S("dsv3"), &m, &diag), ST_OK);
    for (int64_t ep = 1; ep <= 64; ep *= 8) {
        struct predict p;
        struct predict_job job =
            job_of(&m, (struct model_layout){.tp = 1, .pp = 1, .dp = ep, .expert_tp = 1, .ep = ep});
        job.is_decode = true;
        job.batch = 8;
        job_predict(&p, &job);
        double us = p.steps[0].compute_us;
        assert_true(us < 0.7 * before);
        before = us;
        assert_true(ep > 1 || p.memory.weight_bytes > 640e9);
        assert_true(ep < 64 || p.memory.weight_bytes < 60e9);
        predict_free(&p);
    }
}

/* Stages follow one another: the longest is listed. */
TEST(of_two_stages_the_longer_one_is_told)
{
    struct llm dense = dense_model();
    struct predict_job job = job_of_tp(&dense, 1);
    struct predict one, two;

    job_predict(&one, &job);
    job.layout.pp = 2;
    job_predict(&two, &job);
    assert_true(two.steps[0].compute_us < one.steps[0].compute_us);
    assert_true(two.steps[0].compute_us > 0.5 * one.steps[0].compute_us); /* two of three layers */
    predict_free(&one);
    predict_free(&two);
}

TEST(a_prompt_beside_decodes_takes_its_time)
{
    struct llm dense = dense_model();
    struct predict_job job = job_of_tp(&dense, 1);
    struct predict alone, mixed;

    job.is_decode = true;
    job_predict(&alone, &job);
    job.prompt = 2048;
    job_predict(&mixed, &job);
    assert_true(mixed.steps[0].us > 2 * alone.steps[0].us);
    assert_int_equal(mixed.steps[0].prompt, 2048);
    predict_free(&alone);
    predict_free(&mixed);
}

static double width_of(size_t layers, double gap_us)
{
    struct llm dense = dense_model();
    struct predict_job job = job_of_tp(&dense, 1);
    struct predict p;

    model_set_layers(&arena, &dense, layers);
    job.gap_us = gap_us;
    job_predict(&p, &job);
    const struct predict_step *s = &p.steps[0];
    double width = (s->high_us - s->low_us) / s->compute_us;
    assert_true(s->low_us < s->us && s->us < s->high_us && s->missed == 0);
    predict_free(&p);
    return width;
}

/* The layers of a model run the same calls: a hundred of them are no surer than ten. */
TEST(errors_of_an_operator_do_not_average_out)
{
    assert_true(width_of(100, 0) > 0.98 * width_of(10, 0));
    assert_true(width_of(10, 50) > 1.01 * width_of(10, 0)); /* gaps have errors of their own */
}

TEST_MAIN("opdb/predict/predict_job", TS(a_sum_by_its_links_is_that_by_hand),
          TS(an_exchange_of_experts_is_that_by_hand), TS(more_cards_for_the_experts_take_less_time),
          TS(of_two_stages_the_longer_one_is_told), TS(a_prompt_beside_decodes_takes_its_time),
          TS(errors_of_an_operator_do_not_average_out))
