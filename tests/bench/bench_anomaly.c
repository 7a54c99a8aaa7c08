/*
 * bench_anomaly [PERCENT] - how long the anomaly analysis takes, without any import.
 *
 * Fills captures and prints the seconds of each part: 100 000 bubbles against 5 million host events
 * (the evidence scan), twice as many of both, and 1 000 steps with 2 million kernels (the whole
 * analysis with its document). PERCENT scales all sizes. One thread, processor time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/idle/anomaly.h"
#include "analysis/idle/bubbles.h"
#include "analysis/idle/evidence.h"
#include "analysis/idle/judgement.h"
#include "analysis/steps/groups.h"
#include "analysis/study.h"
#include "base/formats/json_write.h"
#include "report/report.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

enum { NAMES = 400, THREADS = 8, STREAMS = 4, STEPS = 1000 };

struct filler {
    struct capture *cap;
    strid names[NAMES];
    attr_run sets[NAMES];
    lane_id streams[STREAMS], threads[THREADS];
    uint64_t seed;
};

static void open_capture(struct filler *f)
{
    char text[64];

    *f = (struct filler){.cap = capture_new(), .seed = 1};
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(text, sizeof(text), "aclnnMatmul_MatMulV3Common_%zu", i * 7919 % NAMES);
        f->names[i] = capture_intern(f->cap, str_of(text));
        snprintf(text, sizeof(text), "MatMul%zu", i % 120);
        struct attr set[] = {
            attr_text(capture_key(f->cap, KEY_TYPE), capture_intern(f->cap, str_of(text))),
            attr_text(capture_key(f->cap, KEY_CORE), capture_intern(f->cap, S("AI_CORE"))),
            attr_text(capture_key(f->cap, KEY_INPUT_SHAPES), f->names[i]),
        };
        f->sets[i] = attrs_set(&f->cap->attrs, set, ARRAY_LEN(set));
    }
    for (size_t i = 0; i < STREAMS; i++)
        f->streams[i] =
            capture_lane(f->cap, (struct lane_key){.kind = LANE_STREAM,
                                                   .tid = (int64_t)i,
                                                   .name = capture_intern(f->cap, S("2"))});
    for (size_t i = 0; i < THREADS; i++)
        f->threads[i] =
            capture_lane(f->cap, (struct lane_key){.kind = LANE_THREAD, .tid = (int64_t)i + 100});
}

static void add_marks(struct filler *f, nanos span)
{
    for (int64_t i = 0; i < STEPS; i++)
        vec_push(&f->cap->marks, ((struct mark){.source = MARK_PROFILER_STEP,
                                                .name = f->names[i % NAMES],
                                                .number = i,
                                                .begin = span / STEPS * i,
                                                .end = span / STEPS * (i + 1)}));
}

/* A kernel of 50 us every 200 us, so a bubble of 150 us after each; host events of up to 40 us,
 * nested three deep, on eight threads. */
static struct capture *fill_bubbles(size_t bubbles, size_t events)
{
    struct filler f;
    nanos span = (nanos)bubbles * 200000;

    open_capture(&f);
    add_marks(&f, span);
    for (size_t i = 0; i < bubbles; i++)
        capture_slice(f.cap, &(struct slice){.begin = (nanos)i * 200000,
                                             .dur = 50000,
                                             .lane = f.streams[0],
                                             .name = f.names[i % NAMES],
                                             .set = f.sets[i % NAMES]});
    for (size_t i = 0; i < events; i++) {
        nanos outer = span / (nanos)events * (nanos)(i - i % 3);
        uint64_t r = next_random(&f.seed);
        capture_slice(f.cap, &(struct slice){.begin = outer + (nanos)(i % 3) * 1000,
                                             .dur = (nanos)(r % 8000) + 16000 / (nanos)(i % 3 + 1),
                                             .lane = f.threads[i / 3 % THREADS],
                                             .name = f.names[r % NAMES],
                                             .kind = i % 3 == 0 ? SLICE_HOST_OP : SLICE_RUNTIME});
    }
    capture_seal(f.cap);
    return f.cap;
}

/* Kernels of 4 us every 5 us on four streams, with waits and shapes. */
static struct capture *fill_kernels(size_t kernels)
{
    struct filler f;

    open_capture(&f);
    add_marks(&f, (nanos)kernels * 5000);
    for (size_t i = 0; i < kernels; i++) {
        size_t in_step = i % (kernels / STEPS);
        size_t name = in_step * 7919 % NAMES;
        struct attr wait = attr_time(capture_key(f.cap, KEY_WAIT), 1000);
        capture_slice(f.cap,
                      &(struct slice){.begin = (nanos)i * 5000,
                                      .dur = 3000 + (nanos)(next_random(&f.seed) % 1500),
                                      .lane = f.streams[in_step % 7 == 0 ? 1 : 0],
                                      .name = f.names[name],
                                      .set = f.sets[name],
                                      .own = attrs_own(&f.cap->attrs, &wait, 1),
                                      .kind = in_step % 50 == 0 ? SLICE_COMM : SLICE_COMPUTE});
    }
    capture_seal(f.cap);
    return f.cap;
}

static double scan_evidence(size_t bubbles, size_t events)
{
    struct capture *cap = fill_bubbles(bubbles, events);
    struct study st;

    study_begin(&st, cap, study_defaults());
    const struct bubbles *found = study_bubbles(&st);
    double begin = now();
    study_evidence(&st);
    double took = now() - begin;
    printf("%8.3f s  evidence of %zu bubbles, %zu events\n", took, found->n, events);
    study_end(&st);
    capture_free(cap);
    return took;
}

static void analyse(size_t kernels)
{
    struct capture *cap = fill_kernels(kernels);
    struct text json = {0};
    struct report *report = report_new(LANG_EN, S("bench"));
    struct study st;
    double times[8], begin = now();

    study_begin(&st, cap, study_defaults());
    study_kernels(&st);
    times[0] = now();
    study_bubbles(&st);
    times[1] = now();
    study_evidence(&st);
    times[2] = now();
    study_groups(&st);
    times[3] = now();
    study_judgement(&st);
    times[4] = now();
    anomaly_write_json(&st, NULL, text_sink(&json));
    times[5] = now();
    anomaly_describe(&st, report);
    times[6] = now();
    printf("%8.3f s  whole analysis of %d steps, %zu kernels: order %.3f, bubbles %.3f, evidence "
           "%.3f, groups %.3f, judgement %.3f, document %.3f, report %.3f\n",
           times[6] - begin, STEPS, kernels, times[0] - begin, times[1] - times[0],
           times[2] - times[1], times[3] - times[2], times[4] - times[3], times[5] - times[4],
           times[6] - times[5]);
    report_free(report);
    text_free(&json);
    study_end(&st);
    capture_free(cap);
}

int main(int argc, char **argv)
{
    size_t percent = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    double once = scan_evidence(1000 * percent, 50000 * percent);
    double twice = scan_evidence(2000 * percent, 100000 * percent);

    printf("%8.2f x  for twice the size\n", twice / once);
    analyse(20000 * percent);
    return 0;
}
