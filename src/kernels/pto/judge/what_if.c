/*
 * The runs that tell what bounds a kernel, and their answers.
 */
#include "kernels/pto/judge/what_if.h"

#include "report/record.h"
#include "text/pto.h"

/* So fast that no instruction takes a cycle. */
#define INFINITE 1e12

static bool is_pipe(enum limit what)
{
    return what >= LIMIT_CUBE && what <= LIMIT_SCALAR;
}

void pto_what_if_apply(enum limit what, struct pto_options *options)
{
    for (int p = 0; is_pipe(what) && p < PTO_PIPE_COUNT; p++)
        if (pto_pipe_limit((enum pto_pipe)p) == what)
            options->speed_up[p] = INFINITE;
    if (what == LIMIT_LATENCY)
        options->no_latency = true;
    if (what == LIMIT_LAUNCH)
        options->start = 0;
    if (what == LIMIT_BUFFERS)
        options->no_reuse_waits = true;
    if (what == LIMIT_SYNC)
        options->is_dep = options->no_flags = true;
}

bool pto_what_if_compiles(enum limit what)
{
    return what == LIMIT_BUFFERS || what == LIMIT_SYNC;
}

void pto_what_if_list(const struct limit_list *limits, struct pto_what_ifs *out)
{
    for (size_t i = 0; i < limits->n; i++) {
        const struct limiter *x = &limits->at[i];
        if (x->is_tried)
            vec_push(out, ((struct pto_what_if){.what = x->what,
                                                .evidence = x->path,
                                                .cycles = limits->total - x->saved,
                                                .gain = x->saved_share}));
    }
}

/* "MTE3, FIXP" */
static struct str pipes_of(enum limit what, struct arena *arena)
{
    struct str text = S("");

    for (int p = 0; p < PTO_PIPE_MTE4 || p == PTO_PIPE_FIX;
         p = p == PTO_PIPE_MTE3 ? PTO_PIPE_FIX : p + 1)
        if (pto_pipe_limit((enum pto_pipe)p) == what)
            text = arena_format(arena, "%.*s%s%s", STR_ARGS(text), text.n > 0 ? ", " : "",
                                pto_pipe_short((enum pto_pipe)p));
    return text;
}

struct str pto_what_if_title(enum limit what, enum lang lang, struct arena *arena)
{
    switch (what) {
    case LIMIT_LATENCY:
        return message_in(lang, &pto_text.no_latency);
    case LIMIT_BUFFERS:
        return message_in(lang, &pto_text.more_buffers);
    case LIMIT_SYNC:
        return message_in(lang, &pto_text.ideal_flags);
    case LIMIT_LAUNCH:
        return message_in(lang, &pto_text.no_start);
    default:
        return MESSAGE(lang, arena, &pto_text.infinite, PLACE("pipe", pipes_of(what, arena)));
    }
}

struct str pto_what_if_evidence(const struct pto_what_if *w, enum lang lang, struct arena *arena)
{
    return MESSAGE(lang, arena, &pto_text.path_through, PLACE("cycles", w->evidence));
}

static struct field_value if_change_of(const void *record, const struct record_env *env)
{
    enum limit what = ((const struct pto_what_if *)record)->what;

    (void)env;
    return value_text(is_pipe(what)           ? S("infinite")
                      : what == LIMIT_BUFFERS ? S("buffers")
                      : what == LIMIT_SYNC    ? S("ideal-sync")
                      : what == LIMIT_LATENCY ? S("no-latency")
                                              : S("no-launch"));
}

static struct field_value title_of(const void *record, const struct record_env *env)
{
    const struct pto_what_if *w = record;

    return value_text(pto_what_if_title(w->what, LANG_EN, env->arena));
}

static const struct field fields[] = {
    FIELD_CALC(FIELD_STR, "change", if_change_of),
    FIELD_OF_ENUM(struct pto_what_if, what, "limit", limit_name, LIMITS),
    FIELD_CALC(FIELD_STR, "title", title_of),
    FIELD(struct pto_what_if, evidence, "evidence_cycles",
          .about = "of the critical path, that speak for it"),
    FIELD(struct pto_what_if, cycles, "cycles"),
    FIELD(struct pto_what_if, gain, "gain", .about = "share of the cycles that it saves"),
};
const struct record pto_what_if_record = RECORD(struct pto_what_if, fields);
