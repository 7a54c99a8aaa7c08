/*
 * bench_make_incore FILE MB - writes a visualize_data.bin: 200 000 instructions and 400 flags for
 * 35 MB, on six pipes of which the loads overlap, and a small table of instructions.
 *
 * The same arguments give the same bytes. The trace goes out in two passes, one to count its bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/bin_blocks.h"

enum { EVENTS_PER_35_MB = 200000, FLAG_EVERY = 500, TEXT = 512 };

struct out {
    FILE *file; /* NULL: only count */
    uint64_t n;
};

static bool put(void *ctx, struct str text)
{
    struct out *out = ctx;

    out->n += text.n;
    return out->file == NULL || fwrite(text.at, 1, text.n, out->file) == text.n;
}

static bool put_event(struct out *out, uint64_t i)
{
    static const struct {
        const char *pipe, *name, *detail;
        unsigned length;
    } kinds[] = {
        {"MTE2", "MOV_OUT_TO_L1", "Dst:L1", 37}, {"MTE1", "LOAD_2D", "Dst:L0A", 8},
        {"CUBE", "MMAD", "dtype:F16", 9},        {"VECTOR", "VADD", "Dtype:F32", 6},
        {"SCALAR", "MOV_XD_IMM", "XD:X0", 1},    {"MTE3", "MOV_UB_TO_OUT", "Src:UB", 11},
    };
    const size_t k = i % ARRAY_LEN(kinds);
    double ts = (double)(float)((double)i * 0.0037 + (double)(k * 7 % 5) * 0.01);
    double dur = (double)(float)((double)kinds[k].length * 0.001 * (1 + (double)(i * 7919 % 5)));
    char text[TEXT];
    int n = snprintf(text, sizeof(text),
                     ",{\"args\":{\"code\":\"\",\"detail\":\"%s\",\"pc_addr\":\"0x%08" PRIx64
                     "\"},\"dur\":%.17g,\"name\":\"%s\",\"ph\":\"X\",\"pid\":\"core0.cubecore0\","
                     "\"tid\":\"%s\",\"ts\":%.17g}",
                     kinds[k].detail, UINT64_C(0x10d0f000) + i % 4096 * 4, dur, kinds[k].name,
                     kinds[k].pipe, ts);

    return put(out, (struct str){text, (size_t)n});
}

static bool put_flag(struct out *out, uint64_t i)
{
    static const char *const names[] = {"SET_FLAG", "WAIT_FLAG"};
    static const char *const lanes[] = {"MTE2", "VECTOR"};
    bool ok = true;

    for (int k = 0; k < 2; k++) {
        char text[TEXT];
        double begin = (double)i * 0.0037 + 0.02 + 0.01 * k;
        int n = snprintf(text, sizeof(text),
                         ",{\"args\":{\"code\":\"\",\"detail\":\"PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:"
                         "%d,\",\"pc_addr\":\"0x10d0f000\"},\"id\":\"%s%" PRIu64
                         "\",\"name\":\"%s\",\"ph\":\"B\",\"pid\":\"core0.cubecore0\",\"tid\":"
                         "\"%s\",\"ts\":%.9g},{\"args\":{},\"id\":\"%s%" PRIu64
                         "\",\"name\":\"%s\",\"ph\":\"E\",\"pid\":\"core0.cubecore0\",\"tid\":"
                         "\"%s\",\"ts\":%.9g}",
                         (int)(i / FLAG_EVERY % 4), names[k], i, names[k], lanes[k], begin,
                         names[k], i, names[k], lanes[k], begin + 0.005);
        ok = put(out, (struct str){text, (size_t)n}) && ok;
    }
    return ok;
}

static bool put_trace(struct out *out, uint64_t events)
{
    bool ok = put(out, S("{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":2,"
                         "\"traceEvents\":[{\"args\":{\"sort_index\":1},\"name\":"
                         "\"process_sort_index\",\"ph\":\"M\",\"pid\":\"core0.cubecore0\",\"tid\":"
                         "\"NA\"}"));

    for (uint64_t i = 0; i < events && ok; i++) {
        ok = put_event(out, i);
        if (i % FLAG_EVERY == FLAG_EVERY / 2)
            ok = put_flag(out, i) && ok;
    }
    return put(out, S("]}")) && ok;
}

int main(int argc, char **argv)
{
    struct str table = S("{\"Cores\":[\"core0.cubecore0\"],\"Instructions\":[{\"Address\":"
                         "\"0x10d0f000\",\"Cycles\":[100],\"Instructions Executed\":[10],\"Pipe\":"
                         "\"MTE2\",\"Process Bytes\":[65536],\"Source\":\"MOV_OUT_TO_L1\"}],"
                         "\"Instructions Dtype\":{\"Instructions\":{\"Address\":3,\"Cycles\":1}}}");
    uint64_t megabytes = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t events = megabytes * EVENTS_PER_35_MB / 35;
    struct out count = {0}, out = {0};

    if (events == 0)
        return fprintf(stderr, "usage: bench_make_incore FILE MB\n"), 2;
    out.file = fopen(argv[1], "wb");
    if (out.file == NULL)
        return perror(argv[1]), 1;
    put_trace(&count, events);
    bool ok = bin_write_header((struct sink){put, &out}, BIN_TRACE, BIN_MARK, count.n) &&
              put_trace(&out, events) && bin_write_padding((struct sink){put, &out}, count.n) &&
              bin_write_block((struct sink){put, &out}, BIN_API_INSTR, BIN_NEW, table);
    ok = fclose(out.file) == 0 && ok;
    return ok ? 0 : 1;
}
