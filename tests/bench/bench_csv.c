/*
 * bench_csv - how fast base/csv splits and how fast a kernel table can be read with it.
 *
 *     bench_csv --make FILE MB    writes a kernel_details-like table: 47 columns, 345 bytes a row
 *     bench_csv FILE              reads it; prints MB/s and a checksum
 *
 * The table is the same on every machine. The checksum is the sum of all starts and durations in
 * nanoseconds (modulo 2^64), so a reader that loses a digit or a row shows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "base/files/mapfile.h"
#include "base/files/stream.h"
#include "base/formats/csv.h"
#include "base/text/num.h"

static const char header[] =
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),"
    "Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,"
    "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,"
    "aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),"
    "aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,"
    "aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,"
    "aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),"
    "aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%),"
    "memory_bound\r\n";

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static int make_row(char *row, size_t room, uint64_t index, uint64_t *seed, nanos *clock)
{
    static const char *const types[] = {"MatMulV2", "Add", "LayerNormV3", "Cast", "Transpose"};
    static const char *const cores[] = {"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC"};
    uint64_t r = next_random(seed), duration = 1500 + r % 900000, gap = next_random(seed) % 4000;
    char start[NUM_TEXT], length[NUM_TEXT], wait[NUM_TEXT];

    num_print_us(start, *clock);
    num_print_us(length, (nanos)duration);
    num_print_us(wait, (nanos)gap);
    *clock += (nanos)(duration + gap);
    return snprintf(
        row, room,
        "%u,4294967295,%u,%u,aclnn%s_%sAiCore_%s_%u,%s,dynamic,%s,%s\t,%s,%s,%u,0,NO,"
        "\"\"\"32,%u,1024;%u,1024\"\"\",DT_BF16;DT_BF16,ND;FRACTAL_NZ,\"\"\"32,%u\"\"\",DT_BF16,"
        "ND,N/A,%u.%02u,%u,%u.%u,0.%03u,%u.%u,0.%03u,0.0,0.0,%u.%u,0.%03u,0.0,0.0,0.%03u,"
        "0.0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,%u.%03u,0.%03u\r\n",
        (unsigned)(index / 100000), (unsigned)(index % 65536), (unsigned)(r % 7), types[r % 5],
        types[(r >> 8) % 5], types[(r >> 8) % 5], (unsigned)(r >> 4 & 1023), types[r % 5],
        cores[(r >> 3) % 3], start, length, wait, (unsigned)(r % 48 + 1), (unsigned)(r >> 5 & 4095),
        (unsigned)(r >> 7 & 4095), (unsigned)(r >> 5 & 4095), (unsigned)(duration / 1100),
        (unsigned)(r % 100), (unsigned)(duration * 40), (unsigned)(r % 50), (unsigned)(r % 10),
        (unsigned)(r % 1000), (unsigned)(r % 30), (unsigned)(r % 9), (unsigned)(r % 997),
        (unsigned)(r % 80), (unsigned)(r % 8), (unsigned)(r % 991), (unsigned)(r % 50),
        (unsigned)(r % 90), (unsigned)(r % 1000), (unsigned)(r % 983));
}

static int make(const char *path, uint64_t megabytes)
{
    FILE *out = fopen(path, "w");
    uint64_t written = sizeof(header) - 1, seed = 1;
    nanos clock = INT64_C(1736408883704643212);
    char row[1024];

    if (out == NULL) {
        perror(path);
        return 3;
    }
    fputs(header, out);
    for (uint64_t i = 0; written < megabytes * 1000000; i++) {
        int n = make_row(row, sizeof(row), i, &seed, &clock);
        fwrite(row, 1, (size_t)n, out);
        written += (uint64_t)n;
    }
    return fclose(out) == 0 ? 0 : 3;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct result {
    uint64_t rows, cells, bad, sum, text;
};

static void split(struct csv *csv, struct result *r)
{
    while (csv_next(csv)) {
        r->rows++;
        r->cells += csv->n_cells;
    }
}

struct columns {
    int name, type, stream, start, duration;
};

static struct columns find_columns(const struct csv *csv)
{
    return (struct columns){
        .name = csv_column(csv, S("Name")),
        .type = csv_column(csv, S("Type")),
        .stream = csv_column(csv, S("Stream ID")),
        .start = csv_column(csv, S("Start Time(us)")),
        .duration = csv_column(csv, S("Duration(us)")),
    };
}

/* What an importer does with a row, less the interning: the names are read, byte by byte sums
 * keep the compiler from leaving that out. */
static void extract(struct csv *csv, struct columns c, struct result *r)
{
    while (csv_next(csv)) {
        nanos start, duration;
        r->rows++;
        r->cells += csv->n_cells;
        if (!num_us(csv_cell(csv, c.start), &start) ||
            !num_us(csv_cell(csv, c.duration), &duration)) {
            r->bad++;
            continue;
        }
        r->sum += (uint64_t)start + (uint64_t)duration;
        struct str text[] = {csv_cell(csv, c.name), csv_cell(csv, c.type), csv_cell(csv, c.stream)};
        for (size_t k = 0; k < ARRAY_LEN(text); k++)
            r->text += text[k].n + (unsigned char)text[k].at[text[k].n / 2];
    }
}

static void print(const char *what, size_t bytes, double seconds, const struct result *r)
{
    printf("%-20s %8.0f MB/s  %" PRIu64 " rows  %" PRIu64 " cells  %" PRIu64 " bad  sum %" PRIu64
           "  text %" PRIu64 "\n",
           what, (double)bytes / seconds / 1e6, r->rows, r->cells, r->bad, r->sum, r->text);
}

static void bench_text(struct str text)
{
    struct csv csv;
    struct result r;
    double begin;

    for (int round = 0; round < 3; round++) {
        r = (struct result){0};
        begin = now();
        csv_open(&csv, text);
        split(&csv, &r);
        print("split", text.n, now() - begin, &r);

        r = (struct result){0};
        begin = now();
        csv_open(&csv, text);
        extract(&csv, find_columns(&csv), &r);
        print("extract", text.n, now() - begin, &r);
    }
    r = (struct result){0};
    begin = now();
    csv_open_portable(&csv, text);
    split(&csv, &r);
    print("split, portable", text.n, now() - begin, &r);
}

static enum status bench_stream(const char *path, struct diag *diag)
{
    struct stream s;
    struct csv csv;
    struct result r = {0};
    struct columns columns;
    size_t bytes = 0;
    double begin = now();

    enum status st = stream_open(&s, path, 1 << 20, diag);
    if (st != ST_OK)
        goto out;
    do {
        st = stream_fill(&s);
        if (st != ST_OK)
            goto out;
    } while (!csv_open_part(&csv, stream_text(&s), s.at_end));
    columns = find_columns(&csv);
    for (;;) {
        extract(&csv, columns, &r);
        if (csv.is_last)
            break;
        stream_consume(&s, csv_used(&csv));
        st = stream_fill(&s);
        if (st != ST_OK)
            goto out;
        csv_more(&csv, stream_text(&s), s.at_end);
    }
    bytes = (size_t)s.offset + stream_text(&s).n;
    print("extract, stream", bytes, now() - begin, &r);
out:
    stream_close(&s);
    return st;
}

int main(int argc, char **argv)
{
    struct diag diag;
    struct mapfile map;

    if (argc == 4 && strcmp(argv[1], "--make") == 0)
        return make(argv[2], strtoull(argv[3], NULL, 10));
    if (argc != 2) {
        fprintf(stderr, "usage: bench_csv FILE | bench_csv --make FILE MB\n");
        return 2;
    }
    diag_init(&diag);
    double begin = now();
    enum status st = mapfile_open(&map, argv[1], &diag);
    if (st == ST_OK) {
        printf("%-20s %8.3f s\n", "open", now() - begin);
        begin = now();
        struct csv csv;
        struct result r = {0};
        csv_open(&csv, map.text);
        extract(&csv, find_columns(&csv), &r);
        print("extract, first touch", map.text.n, now() - begin, &r);
        bench_text(map.text);
        mapfile_close(&map);
        st = bench_stream(argv[1], &diag);
    }
    for (size_t i = 0; i < diag.entries.n; i++)
        fprintf(stderr, "%s: %s\n", diag.entries.at[i].code, diag.entries.at[i].first[0].text);
    diag_fini(&diag);
    return st == ST_OK ? 0 : 3;
}
