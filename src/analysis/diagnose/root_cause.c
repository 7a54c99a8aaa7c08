/*
 * The catalogue, and whose words it takes.
 */
#include "analysis/diagnose/root_cause.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/diagnose/root_find.h"
#include "ops/name_tokens.h"
#include "text/cause.h"

ENUM_NAMES(framework_name, enum framework, "pytorch", "torch_npu", "vllm", "sglang", "xla",
           "mindspore", "native")

const struct root_cause_kind root_causes[ROOT_CAUSES] = {
#define VERDICT(symbol, id_) [ROOT_##symbol] = {.id = #id_, .idle = NO_IDLE},
#define CAUSE(symbol, id_, changes, idle_, flags_, value_, evidence_)                              \
    [ROOT_##symbol] = {#id_, changes, idle_, flags_, value_, evidence_},
#include "analysis/diagnose/causes.def"
#undef VERDICT
#undef CAUSE
};

/* ---- texts ---- */

enum { KEY_MOST = 96 };

static int text_order(const void *key, const void *message)
{
    return strcmp(key, ((const struct message *)message)->key);
}

/* The text of a part of a cause; NULL: there is none. */
static const struct message *cause_part(enum root_cause cause, const char *part, const char *whose)
{
    const struct message *all = (const struct message *)&cause_text;
    char key[KEY_MOST];

    snprintf(key, sizeof(key), "cause.%s_%s%s%s", root_causes[cause].id, part,
             whose[0] != '\0' ? "_" : "", whose);
    return bsearch(key, all, sizeof(cause_text) / sizeof(*all), sizeof(*all), text_order);
}

const struct message *root_cause_what(enum root_cause cause)
{
    return cause_part(cause, "what", "");
}

const struct message *root_cause_against(enum root_cause cause)
{
    return cause_part(cause, "against", "");
}

const struct message *root_cause_record(enum root_cause cause)
{
    return cause_part(cause, "record", "");
}

const struct message *root_cause_action(enum root_cause cause, enum framework framework)
{
    const struct message *own = cause_part(cause, "do", framework_name(framework));

    return own != NULL ? own : cause_part(cause, "do", "");
}

struct str root_cause_label(enum lang lang, enum root_cause cause)
{
    struct str what = message_in(lang, root_cause_what(cause));
    size_t end = str_find(what, lang == LANG_ZH ? S("：") : S(":"));

    return str_part(what, 0, end);
}

/* ---- frameworks ---- */

/* The first sign that the capture has. Servers are known by what their host does: libraries of
 * kernels are used by others, too. */
static const struct {
    enum framework framework;
    const char *words; /* lower case, anywhere in a name */
    bool is_host;
} signs[] = {
    {FRAMEWORK_PYTORCH, "optimizer.step# autograd::engine", true}, /* nobody serves and trains */
    {FRAMEWORK_VLLM, "vllm", true},
    {FRAMEWORK_VLLM, "vllm::reshape_and_cache", false},
    {FRAMEWORK_SGLANG, "sglang sgl_kernel", true},
    {FRAMEWORK_XLA, "xlamodule xla_gpu xla::gpu pjrt", false},
    {FRAMEWORK_MINDSPORE, "mindspore gradients/default default/network", false},
    {FRAMEWORK_PYTORCH, "aten:: at::native c10:: torch", false},
};

/* Names of what the host does, a bit each. */
static uint8_t *find_host_names(const struct capture *cap)
{
    uint8_t *bits = mem_grow(NULL, 1, cap->strings.strings.n / 8 + 1);

    memset(bits, 0, cap->strings.strings.n / 8 + 1);
    for (size_t i = 0; i < cap->slices.n; i++) {
        enum slice_kind kind = (enum slice_kind)cap->slices.kind[i];
        if (kind == SLICE_HOST_OP || kind == SLICE_PYTHON || kind == SLICE_ANNOTATION)
            bits[cap->slices.name[i] / 8] |= (uint8_t)(1 << cap->slices.name[i] % 8);
    }
    return bits;
}

enum framework framework_of(const struct capture *cap)
{
    uint8_t *bits = find_host_names(cap);
    char buf[NAME_TOKENS_MOST];
    size_t best = ARRAY_LEN(signs);

    for (size_t i = 1; i < cap->strings.strings.n; i++) {
        struct str name = name_tokens_lower(capture_text(cap, (strid)i), buf);
        bool is_host = (bits[i / 8] >> i % 8 & 1) != 0;
        for (size_t k = 0; k < best; k++)
            if ((is_host || !signs[k].is_host) && name_tokens_any(name, signs[k].words))
                best = k;
    }
    mem_free(bits);
    enum framework found = best < ARRAY_LEN(signs) ? signs[best].framework : FRAMEWORK_NATIVE;
    if (capture_is_ascend(cap))
        return found == FRAMEWORK_MINDSPORE ? found : FRAMEWORK_NPU;
    /* Kineto is PyTorch's; a capture with a host and without any sign is not. */
    struct str kind = capture_text(cap, cap->facts.kind);
    bool is_foreign = str_equal(kind, S("nsys")) || str_starts(kind, S("rocprof"));
    return found == FRAMEWORK_NATIVE && !is_foreign ? FRAMEWORK_PYTORCH : found;
}

bool framework_is_torch(enum framework framework)
{
    return framework != FRAMEWORK_XLA && framework != FRAMEWORK_MINDSPORE &&
           framework != FRAMEWORK_NATIVE;
}
