/*
 * Hostile records behind good checksums: the bytes are the payload of a trace's one block.
 * fuzz_input.c has whole files, which seldom get past the checksums.
 */
#include <stdlib.h>
#include <string.h>

#include "base/files/crc32c.h"
#include "capture/capture.h"
#include "capture/trace_file.h"
#include "input/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const uint32_t numbers[2] = {TRACE_VERSION, 1};
    struct trace_block head = {.magic = TRACE_BLOCK_MAGIC,
                               .bytes = (uint32_t)n,
                               .crc = crc32c(0, data, n),
                               .first_string = 1,
                               .first_site = 1};
    uint8_t *file = malloc(TRACE_HEAD + sizeof(head) + n);
    struct input_options options = input_defaults();
    struct capture *cap = capture_new();
    struct diag d;

    head.head_crc = crc32c(0, &head, offsetof(struct trace_block, head_crc));
    memcpy(file, TRACE_MAGIC, 8);
    memcpy(file + 8, numbers, sizeof(numbers));
    memcpy(file + TRACE_HEAD, &head, sizeof(head));
    if (n > 0)
        memcpy(file + TRACE_HEAD + sizeof(head), data, n);
    diag_init(&d);
    struct input_file in = {.path = "fuzz",
                            .text = {(const char *)file, TRACE_HEAD + sizeof(head) + n},
                            .diag = &d,
                            .options = &options};
    if (input_read(&input_strata_trace, &in, cap) == ST_OK)
        capture_seal(cap);
    diag_fini(&d);
    capture_free(cap);
    free(file);
    return 0;
}
