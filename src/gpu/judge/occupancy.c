/*
 * How many blocks fit. See rules.h.
 */
#include "gpu/judge/rules.h"

#include <math.h>

enum { REGISTERS = 65536, WARP = 32, DRIVER_SMEM = 1024 };

static const struct limits {
    struct str cc;
    uint32_t warps, blocks, smem_kib;
} chips[] = {
    {S_INIT("7.0"), 64, 32, 96},   {S_INIT("7.2"), 64, 32, 96},   {S_INIT("7.5"), 32, 16, 64},
    {S_INIT("8.0"), 64, 32, 164},  {S_INIT("8.6"), 48, 16, 100},  {S_INIT("8.7"), 48, 16, 164},
    {S_INIT("8.9"), 48, 24, 100},  {S_INIT("9.0"), 64, 32, 228},  {S_INIT("10.0"), 64, 32, 228},
    {S_INIT("10.1"), 48, 24, 228}, {S_INIT("10.3"), 64, 32, 228}, {S_INIT("11.0"), 48, 24, 228},
    {S_INIT("12.0"), 48, 24, 100}, {S_INIT("12.1"), 48, 24, 100},
};

static uint32_t round_up(uint32_t value, uint32_t step)
{
    return (value + step - 1) / step * step;
}

static const struct limits *find_chip(struct str cc)
{
    for (size_t i = 0; i < ARRAY_LEN(chips); i++)
        if (str_equal(chips[i].cc, cc))
            return &chips[i];
    return NULL;
}

/* A count from a file: whole, not negative, below a million. */
static uint32_t occupancy_whole(double value)
{
    return value >= 0 && value < 1e6 ? num_u32_of(value) : 0;
}

static uint32_t blocks_by_regs(uint32_t regs, uint32_t warps)
{
    uint32_t held = round_up(regs, 8) * WARP; /* one warp takes a multiple of 256 */

    return held > 0 ? REGISTERS / held / 4 * 4 / warps : 0;
}

static void limit(struct gpu_occupancy *o, uint32_t blocks, const char *name)
{
    if (blocks > 0 && (o->blocks_per_sm == 0 || blocks < o->blocks_per_sm)) {
        o->blocks_per_sm = blocks;
        o->limiter = name;
    }
}

static void find_next(struct gpu_occupancy *o, const struct gpu_kernel *k, double smem,
                      double config)
{
    uint32_t next = o->blocks_per_sm + 1;
    double regs = k->m[GPU_M_REGS];

    o->next_pct = NAN;
    if (next > o->lim_warps || next > o->lim_blocks)
        return;
    o->next_pct = 100.0 * next * o->warps_per_block / o->max_warps;
    if (o->lim_regs > 0 && o->lim_regs < next && !isnan(regs)) {
        uint32_t most = 248; /* that lets so many blocks live */
        while (most > 0 && blocks_by_regs(most, o->warps_per_block) < next)
            most -= 8;
        o->regs_to_free = fmax(0, regs - most);
    }
    if (o->lim_smem > 0 && o->lim_smem < next)
        o->bytes_to_free = fmax(0, smem - floor(config / next / 128) * 128);
}

struct gpu_occupancy gpu_occupancy_of(const struct gpu_kernel *k, struct str cc, double sm_count)
{
    struct gpu_occupancy o = {.theory_pct = NAN, .waves = NAN, .next_pct = NAN, .limiter = ""};
    const struct limits *chip = find_chip(k->cc.n > 0 ? k->cc : cc);
    uint64_t threads = gpu_kernel_threads(k), blocks = gpu_kernel_blocks(k);
    double smem = fmax(0, k->m[GPU_M_SMEM_STATIC]) + fmax(0, k->m[GPU_M_SMEM_DYNAMIC]);

    if (chip == NULL || threads == 0 || threads > 1024)
        return o;
    if (!isnan(k->m[GPU_M_SM_COUNT]))
        sm_count = k->m[GPU_M_SM_COUNT];
    double config = k->m[GPU_M_SMEM_CONFIG] > 0 ? k->m[GPU_M_SMEM_CONFIG] : chip->smem_kib * 1024.0;
    /* Before Ampere the driver kept nothing for itself, and the unit was 256 bytes. */
    bool is_old = chip->cc.at[0] == '7';
    double held = smem < 1e6
                      ? round_up(num_u32_of(smem) + (is_old ? 0 : DRIVER_SMEM), is_old ? 256 : 128)
                      : 0;
    o.max_warps = chip->warps;
    o.warps_per_block = (uint32_t)((threads + WARP - 1) / WARP);
    o.lim_warps = chip->warps / o.warps_per_block;
    o.lim_blocks = chip->blocks;
    if (k->m[GPU_M_REGS] > 0)
        o.lim_regs = blocks_by_regs(occupancy_whole(k->m[GPU_M_REGS]), o.warps_per_block);
    else
        o.lim_regs = occupancy_whole(k->m[GPU_M_LIM_REGS]);
    if (!isnan(k->m[GPU_M_SMEM_STATIC]) && held > 0)
        o.lim_smem = occupancy_whole(floor(config / held));
    else
        o.lim_smem = occupancy_whole(k->m[GPU_M_LIM_SMEM]);
    if (o.lim_regs == 0 && o.lim_smem == 0)
        return o; /* neither is known: the rest alone would promise too much */
    limit(&o, o.lim_regs, "registers");
    limit(&o, o.lim_smem, "shared memory");
    limit(&o, o.lim_warps, "warps");
    limit(&o, o.lim_blocks, "blocks");
    limit(&o, occupancy_whole(k->m[GPU_M_LIM_BARRIERS]), "barriers");
    o.is_known = true;
    o.theory_pct = 100.0 * o.blocks_per_sm * o.warps_per_block / chip->warps;
    if (blocks > 0 && sm_count > 0)
        o.waves = (double)blocks / (o.blocks_per_sm * sm_count);
    find_next(&o, k, held, config);
    return o;
}

double gpu_occupancy_roomy(const struct gpu_occupancy *o)
{
    /* What a block takes of shared memory by itself is less of a larger block. */
    bool is_small = strcmp(o->limiter, "blocks") == 0;
    const struct {
        const char *name;
        uint32_t blocks;
    } limits[] = {{"registers", o->lim_regs},
                  {"shared memory", is_small ? 0 : o->lim_smem},
                  {"blocks", o->lim_blocks}};
    uint32_t blocks = o->lim_warps;

    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (strcmp(o->limiter, limits[i].name) != 0 && limits[i].blocks > 0 &&
            limits[i].blocks < blocks)
            blocks = limits[i].blocks;
    return 100.0 * blocks * o->warps_per_block / o->max_warps;
}
