#include "opdb/predict/predict_job.h"

#include <math.h>

#include "base/testing_folder.h"

static const struct grid_model dense = {.id = S_INIT("dense"),
                                        .key = S_INIT("dense"),
                                        .hidden = 4096,
                                        .ffn_inter = 12288,
                                        .heads = 32,
                                        .kv_heads = 8,
                                        .head_dim = 128};

/* The step of a model on a device whose tables are all missing: operators by the roof. */
static void job_predict(struct predict *p, const struct predict_job *job)
{
    struct query_db db;
    const char *dir = scratch_path("NVIDIA_H200_141G");

    assert_int_equal(fs_mkdirs(dir, &diag), ST_OK);
    assert_int_equal(query_open(&db, dir, &diag), ST_OK);
    predict_init(p, job->model->id);
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

static struct predict_job model_job_of(const struct grid_model *model, int64_t tp, int64_t ep)
{
    return (struct predict_job){.model = model,
                                .sizes = {.tp = tp, .ep = ep, .vocab = 1000},
                                .step = {.batch = 1, .length = 128, .layers = 3},
                                .link_us = 5,
                                .link_gbps = 100};
}

/* 128 x 4096 values of 2 bytes are 1048576 bytes. A ring of n cards sends 2 (n - 1) / n of them in
 * 2 (n - 1) rounds: of 2 cards 1048576 bytes at 100 GB/s and 2 x 5 us. */
TEST(a_ring_by_its_links_is_that_by_hand)
{
    struct predict_job job = model_job_of(&dense, 2, 1);
    struct predict p;

    job_predict(&p, &job);
    assert_near(each_of(&p.steps[0], S("all_reduce")), 10 + 10.48576);
    assert_near(p.steps[0].comm_us, 3 * 2 * 20.48576);
    predict_free(&p);
    job = model_job_of(&dense, 4, 1);
    job_predict(&p, &job);
    assert_near(each_of(&p.steps[0], S("all_reduce")), 30 + 15.72864);
    predict_free(&p);
    job.link_gbps = 0;
    job_predict(&p, &job);
    assert_int_equal(p.steps[0].missed, 3 * 2);
    assert_true(isnan(p.steps[0].high_us));
    assert_true(p.steps[0].comm_us == 0);
    predict_free(&p);
}

/* Eight experts for each token: 8388608 bytes, of which each of 8 cards keeps an eighth. */
TEST(an_exchange_of_experts_is_that_by_hand)
{
    struct grid_model experts = dense;
    struct predict p;

    experts.experts = experts.experts_per_card = 64;
    experts.expert_inter = 1536;
    experts.top_k = 8;
    struct predict_job job = model_job_of(&experts, 1, 8);
    job_predict(&p, &job);
    assert_near(each_of(&p.steps[0], S("all_to_all")), 35 + 73.40032);
    assert_near(p.steps[0].comm_us, 3 * 2 * 108.40032);
    predict_free(&p);
}

static double width_of(int64_t layers, double gap_us)
{
    struct predict_job job = model_job_of(&dense, 1, 1);
    struct predict p;

    job.step.layers = layers;
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

TEST_MAIN("opdb/predict/predict_job", TS(a_ring_by_its_links_is_that_by_hand),
          TS(an_exchange_of_experts_is_that_by_hand), TS(errors_of_an_operator_do_not_average_out))
