/*
 * bench_make_trace FILE MB - writes a timeline like those of the Ascend profilers, for bench_json.
 *
 * One array of Chrome-trace events: host calls and kernels with arguments, the arrows between them,
 * now and then a counter. Times are text with three decimals, names repeat, some hold escapes. The
 * bytes are the same on every machine.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
    "aclnnMatmul_MatMulV3Common_MatMulV3",
    "aten::linear",
    "aclnnAdd_AddAiCore_Add",
    "aten::_fused_attention \\\"flash\\\"",
    "hcom_allReduce_",
    "Node@launch",
    "nn.Module: Layer\\u00b7Norm",
    "AscendCL@aclrtSynchronizeStream",
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* "1736408883704643.212" microseconds, from nanoseconds. */
static const char *us(char text[32], uint64_t ns)
{
    snprintf(text, 32, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
    return text;
}

static int print_kernel(FILE *out, uint64_t r, const char *ts, const char *dur)
{
    return fprintf(out,
                   "{\"name\": \"%s\", \"pid\": 2383960096, \"tid\": %u, \"ts\": \"%s\", "
                   "\"dur\": %s, \"args\": {\"Model Id\": 4294967295, \"Task Type\": \"AI_CORE\", "
                   "\"Physic Stream Id\": %u, \"Task Id\": %u, \"Batch Id\": %u, "
                   "\"Subtask Id\": 4294967295, \"connection_id\": %u}, \"ph\": \"X\"}, ",
                   names[r % 8], (unsigned)(r % 7), ts, dur, (unsigned)(r % 7),
                   (unsigned)(r & 65535), (unsigned)(r % 3), (unsigned)r);
}

static int print_host(FILE *out, uint64_t r, const char *ts, const char *dur)
{
    return fprintf(out,
                   "{\"ph\": \"X\", \"name\": \"%s\", \"pid\": 119, \"tid\": 2264021, "
                   "\"ts\": \"%s\", \"dur\": %s, \"cat\": \"cpu_op\", \"args\": {\"Sequence "
                   "number\": %u, \"Fwd thread id\": 0, \"Input Dims\": \"%u,1024;1024,%u\", "
                   "\"Input type\": \"c10::BFloat16;c10::BFloat16\", \"Call stack\": "
                   "\"model.py(%u): forward;\\r\\ntrain.py(88): step\"}}, ",
                   names[r % 8], ts, dur, (unsigned)r, (unsigned)(r & 4095), (unsigned)(r & 2047),
                   (unsigned)(r % 900));
}

static int print_event(FILE *out, uint64_t r, const char *ts, const char *dur)
{
    switch (r % 16) {
    case 0:
        return fprintf(out,
                       "{\"name\": \"AI Core Freq\", \"pid\": 12, \"tid\": 0, \"ts\": \"%s\", "
                       "\"args\": {\"MHz\": %u}, \"ph\": \"C\"}, ",
                       ts, (unsigned)(800 + r % 1000));
    case 1:
    case 2:
    case 3:
    case 4:
        return fprintf(out,
                       "{\"ph\": \"%s\", \"bp\": \"e\", \"name\": \"async_npu\", \"id\": %u, "
                       "\"pid\": 119, \"tid\": %u, \"ts\": \"%s\", \"cat\": \"async_npu\"}, ",
                       r % 2 ? "s" : "f", (unsigned)r, (unsigned)(r % 7), ts);
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
        return print_host(out, r, ts, dur);
    default:
        return print_kernel(out, r, ts, dur);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, clock = UINT64_C(1736408883704643212);

    if (argc != 3) {
        fprintf(stderr, "usage: bench_make_trace FILE MB\n");
        return 2;
    }
    uint64_t size = strtoull(argv[2], NULL, 10) * 1000000, written = 1;
    FILE *out = fopen(argv[1], "w");
    if (out == NULL) {
        perror(argv[1]);
        return 3;
    }
    fputs("[", out);
    while (written < size) {
        char ts[32], dur[32];
        uint64_t r = next_random(&seed), duration = 900 + next_random(&seed) % 700000;
        int n = print_event(out, r, us(ts, clock), us(dur, duration));
        if (n < 0)
            break;
        written += (uint64_t)n;
        clock += duration / 2;
    }
    fputs("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 119, \"args\": {\"name\": "
          "\"Python\"}}]\n",
          out);
    return fclose(out) == 0 ? 0 : 3;
}
