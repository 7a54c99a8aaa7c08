/*
 * serving_name - iterations of serving engines, by the names of their ranges.
 *
 *     execute_context_2(96)_generation_30(30)                     vLLM
 *     execute_126_context_2(sq96sk96...)_generation_30(sq30...)    vLLM, with lengths
 *     execute_new_2_cached_30                                      vLLM, older
 *     step[EXTEND bs=2 toks=96], step[DECODE bs=30]                SGLang
 *     [Executor] _forward_step 7: 2 ctx reqs, 30 gen reqs          TensorRT-LLM
 *     model_runner.py(812): forward_decode                         Python frames: no numbers
 */
#ifndef STRATA_ANALYSIS_TABLES_SERVING_NAME_H
#define STRATA_ANALYSIS_TABLES_SERVING_NAME_H

#include "base/str.h"
#include "capture/facts.h"

enum serving_kind { SERVING_PREFILL, SERVING_DECODE, SERVING_MIXED, SERVING_UNKNOWN };

enum { SERVING_KINDS = SERVING_UNKNOWN + 1 };

const char *serving_kind_name(enum serving_kind kind);

/* Numbers that are not known are UNKNOWN. */
struct serving_name {
    enum serving_kind kind;
    bool is_frame; /* a Python function: counts only where the engine marks nothing itself */
    int64_t context_requests, context_tokens;
    int64_t generation_requests, generation_tokens;
};

/* False when it is the name of no iteration. */
bool serving_name_parse(struct str name, struct serving_name *out);

#endif
