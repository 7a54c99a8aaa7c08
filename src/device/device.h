/*
 * device - what chips can do, as constant data.
 *
 * Peaks are dense (no structured sparsity) and in TFLOP/s, integer ones in TOP/s; bandwidth is in
 * GB/s with 1 GB = 1e9 bytes. Zero means "not published" everywhere. Every row names the source
 * of its peaks, and the ones that nobody could confirm are marked.
 *
 * A measured clock and bus beat this table: vendors quote boost clocks, and two parts of one name
 * may run at others. The table is for predictions and for machines without the chip.
 */
#ifndef STRATA_DEVICE_DEVICE_H
#define STRATA_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "ops/dtype.h"
#include "report/record.h"

enum peak {
    PEAK_FP64,
    PEAK_FP64_TENSOR,
    PEAK_FP32,
    PEAK_TF32,
    PEAK_BF16,       /* accumulated in fp32 */
    PEAK_FP16,       /* accumulated in fp32 */
    PEAK_FP16_ACC16, /* accumulated in fp16, where that is faster */
    PEAK_FP8,
    PEAK_FP8_ACC16,
    PEAK_INT8,
    PEAK_FP4,
    PEAK_VECTOR_FP16, /* the vector units beside a cube or tensor core, where told apart */
    PEAK_VECTOR_FP32,
};

enum { PEAK_COUNT = PEAK_VECTOR_FP32 + 1 };

struct device {
    const char *name;   /* as the driver spells it, without the vendor */
    const char *vendor; /* "NVIDIA", "AMD", "Ascend" */
    const char *cc;     /* compute capability; NULL for other vendors */
    uint32_t cores;     /* multiprocessors, or AI cores (cube) */
    uint32_t clock_mhz; /* the clock the tensor peaks are quoted at */
    double tflops[PEAK_COUNT];
    double gbps;
    double gbps_quoted; /* where marketing and bus times clock disagree */
    double l2_mb;
    double l2_gbps;
    double memory_gb;
    double link_gbps; /* to other devices of the machine, all links together, one direction */
    uint32_t reached; /* percent of the 16-bit peak that the vendor's best products reach */
    double other_gbps, other_l2_gbps; /* the same part with its second memory type ("CJ") */
    const char *source;
    uint32_t unsure; /* bit per enum peak: found in one place only, not confirmed */
    bool is_cores_unsure;
};

struct device_table {
    const struct device *at;
    size_t n;
};

extern const struct device_table device_builtin;

/* "bf16", "int8": as used in JSON keys and options. */
const char *peak_name(enum peak peak);

/* "TFLOP/s", or "TOP/s" for integers. */
const char *peak_unit(enum peak peak);

/* The peak that is named after a type of elements; false when none is. */
bool peak_of_dtype(enum dtype type, enum peak *out);

/* The peak that products of this type run at on a device, or would where it is not known (NULL):
 * floats on tensor cores as TF32, and what else there is where a device has no such units. A type
 * that is not known counts as a float. */
enum peak device_product_peak(const struct device *d, enum dtype type);

/* The device whose name is the longest prefix of `name`; NULL when none is. Letter case, blanks,
 * '-' and '_' do not count, nor do the vendor's words in front ("NVIDIA GeForce RTX 4090"). */
const struct device *device_find(const struct device_table *t, struct str name);

/* True when `query` is the beginning of the device's name, by the same rules. */
bool device_has_prefix(const struct device *d, struct str query);

/* FLOP per byte at which compute and memory take equally long: 1000 * TFLOP/s / GB/s. 0 when one
 * of them is not known. H200, bf16: 1000 * 989.4 / 4800 = 206.1. */
double device_ridge(const struct device *d, enum peak peak);

/* Dense tensor operations (2 per FMA) of one multiprocessor in one cycle. */
struct device_rate {
    const char *cc;
    const char *family; /* chips of one cc differ: "GeForce" or NULL for the others */
    double ops[PEAK_COUNT];
    double bf16_mma_sync; /* bf16 with the older instruction, where it reaches less; else 0 */
};

extern const struct device_rate device_rates[];
extern const size_t device_rate_count;

/* The rates of a device; NULL when its cc has none. */
const struct device_rate *device_rate_of(const struct device *d);

/* What pinned copies between host and device reach, GB/s each way; 0: not known. */
double device_bus_gbps(const struct device *d);

/* What a recording says of its device; 0 and "" where it does not. */
struct device_traits {
    struct str name, cc;
    double cores, clock_mhz, gbps, memory_bytes;
};

/* The row of the table, or one made of the rates of its compute capability, its multiprocessors and
 * its clock (without one: the middle one of such parts); NULL when that is not enough. */
const struct device *device_of_traits(const struct device_traits *t, struct arena *arena);

/* "Ascend 910B", "H200". */
const char *device_full_name(const struct device *d, struct arena *arena);

extern const struct record device_row_record; /* of a struct device; needs an arena */
extern const struct schema devices_schema;    /* of a struct device_list; likewise */

struct device_list {
    const struct device **at;
    size_t n;
};

/* Makes `out` the built-in table with the rows of `text` on top; it lives in the arena and keeps
 * nothing of `text`. `path` is for messages and becomes the source of rows that name none. `rows`
 * counts the rows used. A row without a name and a value that is not a number from 0 to 1e9 are
 * counted as losses. */
enum status device_table_read(const char *path, struct str text, struct arena *arena,
                              struct device_table *out, size_t *rows, struct diag *d);

#endif
