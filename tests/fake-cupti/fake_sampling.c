/*
 * Sampling of program counters, a stand-in: every kernel that ends has three samples at its second
 * instruction, two of them without an issue, and one at its third.
 */
#include <string.h>

#include "fake_sampling.h"

enum { FUNCTIONS = 64, REASONS = 3, PLACES = 2 };

static const char *const names[REASONS] = {
    "smsp__pcsamp_sample_count",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
};
static const uint32_t numbers[REASONS] = {7, 5, 9};

static struct {
    bool is_on;
    const char *names[FUNCTIONS];
    uint32_t kernels[FUNCTIONS];
    size_t n;
    struct cupti_pc_buffer *last;
    cupti_crc *crc;
    uint64_t module;
} sampling;

void fake_sample(const char *name)
{
    size_t i = 0;

    while (i < sampling.n && strcmp(sampling.names[i], name) != 0)
        i++;
    if (!sampling.is_on || i == FUNCTIONS)
        return;
    sampling.n += i == sampling.n;
    sampling.names[i] = name;
    sampling.kernels[i]++;
}

void fake_sampled_module(const void *cubin, size_t bytes)
{
    if (sampling.crc != NULL)
        sampling.crc(cubin, bytes, &sampling.module);
}

static void fill(struct cupti_pc_buffer *b)
{
    static const uint32_t counts[PLACES][REASONS] = {{0, 3, 2}, {0, 1, 0}};

    b->n = 0;
    b->left = 0;
    b->samples = 0;
    for (size_t i = 0; i < sampling.n; i++)
        for (size_t k = 0; k < PLACES && b->n < b->room && sampling.kernels[i] > 0; k++) {
            struct cupti_pc *pc = &b->pcs[b->n++];
            pc->name = (char *)(uintptr_t)sampling.names[i];
            pc->crc = sampling.module;
            pc->offset = 0x10 * (k + 1);
            pc->n = REASONS;
            for (size_t r = 0; r < REASONS; r++)
                pc->stalls[r] =
                    (struct cupti_stall_count){numbers[r], counts[k][r] * sampling.kernels[i]};
            b->samples += counts[k][1] * sampling.kernels[i];
        }
    sampling.n = 0;
    memset(sampling.kernels, 0, sizeof(sampling.kernels));
}

int cuptiPCSamplingEnable(struct cupti_sampling_params *params)
{
    (void)params;
    FAKE_MAY_FAIL();
    sampling.is_on = true;
    return 0;
}

int cuptiPCSamplingDisable(struct cupti_sampling_params *params)
{
    (void)params;
    FAKE_MAY_FAIL();
    if (sampling.last != NULL)
        fill(sampling.last);
    sampling.is_on = false;
    return 0;
}

int cuptiPCSamplingGetData(struct cupti_sampling_data_params *params)
{
    FAKE_MAY_FAIL();
    fill(params->buffer);
    return 0;
}

int cuptiPCSamplingGetNumStallReasons(struct cupti_reason_count_params *params)
{
    *params->n = REASONS;
    return 0;
}

int cuptiPCSamplingGetStallReasons(struct cupti_reasons_params *params)
{
    for (size_t i = 0; i < REASONS; i++) {
        params->numbers[i] = numbers[i];
        strncpy(params->names[i], names[i], REASON_TEXT - 1);
    }
    return 0;
}

int cuptiPCSamplingSetConfigurationAttribute(struct cupti_sampling_options_params *params)
{
    FAKE_MAY_FAIL();
    for (size_t i = 0; i < params->n; i++)
        if (params->options[i].type == SAMPLING_BUFFER)
            sampling.last = params->options[i].buffer;
    return 0;
}

int cuptiRegisterComputeCrcCallback(cupti_crc *crc)
{
    sampling.crc = crc;
    return 0;
}
