/*
 * bench_query [ROWS] - how long SQL over a capture takes, without any import.
 *
 * Fills a capture of ROWS slices (5 million) on 24 lanes with 400 names, opens it for queries and
 * prints the processor seconds of each. Every first use of an order includes building it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/sql/sql.h"
#include "capture/capture.h"

/* Seconds of this process: on a busy machine the wall clock tells of others. */
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

static struct capture *fill(size_t rows)
{
    struct capture *cap = capture_new();
    strid names[400];
    lane_id lanes[24];
    uint64_t seed = 1;
    char text[64];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(text, sizeof(text), "aclnnMatmul_MatMulV3Common_%zu", i * 7919 % 400);
        names[i] = capture_intern(cap, str_of(text));
    }
    for (size_t i = 0; i < ARRAY_LEN(lanes); i++) {
        struct lane_key key = {
            .kind = i < 8 ? LANE_STREAM : LANE_THREAD, .device = 0, .tid = (int64_t)i};
        lanes[i] = capture_lane(cap, key);
    }
    for (size_t i = 0; i < rows; i++) {
        uint64_t r = next_random(&seed);
        struct slice slice = {
            .begin = INT64_C(1736408883704643212) + (nanos)i * 1000,
            .dur = (nanos)(r % 50000),
            .lane = lanes[r % ARRAY_LEN(lanes)],
            .name = names[next_random(&seed) % ARRAY_LEN(names)],
            .kind = r % ARRAY_LEN(lanes) < 8 ? SLICE_COMPUTE : SLICE_HOST_OP,
        };
        capture_slice(cap, &slice);
    }
    capture_seal(cap);
    return cap;
}

static bool take_head(void *ctx, const char *const *names, size_t n)
{
    (void)ctx, (void)names, (void)n;
    return true;
}

static bool take_row(void *ctx, const struct sql_value *cells, size_t n)
{
    (void)cells, (void)n;
    ++*(uint64_t *)ctx;
    return true;
}

int main(int argc, char **argv)
{
    static const char *const queries[] = {
        "SELECT name, count(*), sum(dur) FROM slices GROUP BY name",
        "SELECT name, count(*), sum(dur) FROM slices GROUP BY name",
        "SELECT name, count(*), sum(dur) FROM kernels GROUP BY name",
        "SELECT DISTINCT name FROM slices",
        "SELECT count(*) FROM slices",
        "SELECT sum(dur) FROM slices WHERE lane = 3 AND ts < 1736408884704643212",
        "SELECT sum(dur) FROM slices WHERE name = 'aclnnMatmul_MatMulV3Common_17'",
        ("SELECT max(gap) FROM (SELECT ts - lag(end_ts) OVER (PARTITION BY lane ORDER BY ts) AS "
         "gap "
         "FROM kernels)"),
        "SELECT * FROM kernels ORDER BY ts LIMIT 10",
    };
    struct capture *cap = fill(argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000);
    struct sql *sql;
    struct diag d;

    diag_init(&d);
    double begin = now();
    if (sql_open(&sql, (const struct capture *const *)&cap, 1, &d) != ST_OK)
        return 1;
    printf("%8.3f s  open, %zu slices\n", now() - begin, cap->slices.n);
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        uint64_t rows = 0;
        struct sql_query query = {
            .text = str_of(queries[i]), .head = take_head, .row = take_row, .ctx = &rows};
        begin = now();
        if (sql_run(sql, &query, &d) != ST_OK) {
            fprintf(stderr, "%s: %s\n", queries[i], d.entries.at[0].first[0].text);
            return 1;
        }
        printf("%8.3f s  %" PRIu64 " rows  %s\n", now() - begin, rows, queries[i]);
    }
    sql_close(sql);
    capture_free(cap);
    diag_fini(&d);
    return 0;
}
