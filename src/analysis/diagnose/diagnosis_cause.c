/*
 * One cause that was found, in words and numbers.
 */
#include "analysis/diagnose/diagnosis_in.h"

#include <math.h>

#include "analysis/diagnose/roof.h"
#include "analysis/diagnose/root_limits.h"
#include "ops/name_tokens.h"
#include "text/diagnosis.h"

enum { SITE_NAME_MOST = 48 };

enum confidence cause_confidence(double score)
{
    return score >= ROOT_SURE / 100.0       ? CONFIDENCE_SURE
           : score >= ROOT_LIKELY / 100.0   ? CONFIDENCE_LIKELY
           : score >= ROOT_POSSIBLE / 100.0 ? CONFIDENCE_POSSIBLE
                                            : CONFIDENCE_UNKNOWN;
}

struct str cause_short_name(struct arena *arena, struct str name)
{
    struct str front = str_fit(name, SITE_NAME_MOST);

    return front.n < name.n ? arena_format(arena, "%.*s…", STR_ARGS(front)) : name;
}

struct wording cause_plain(struct arena *arena, const struct message *m)
{
    return m != NULL ? wording_of(arena, phrase_plain(m)) : (struct wording){0};
}

/* The share of the accounting that a cause of idle time has. */
static double idle_share(const struct root_finder *f, enum idle_cause cause)
{
    return num_share((double)f->by[ACCOUNT_IDLE + cause], (double)f->window);
}

bool cause_waits_in_system(const struct found_cause *c)
{
    return c->cause == ROOT_HOST_UNTRACED && c->n_sites > 0 && c->sites[0].is_os;
}

/* What a thread waits for, by the call of the operating system. */
static const struct message *action_of_wait(struct str call)
{
    static const struct {
        const char *words;
        const struct message *action;
    } waits[] = {
        {"cond_ sem_ futex mutex rwlock barrier join", &diagnosis_text.do_wait_thread},
        {"getc gets getline read recv accept poll select epoll scanf wait",
         &diagnosis_text.do_wait_input},
        {"write sync send close open stat", &diagnosis_text.do_wait_output},
        {"sleep yield", &diagnosis_text.do_wait_sleep},
    };
    char buf[NAME_TOKENS_MOST];
    struct str low = name_tokens_lower(call, buf);

    for (size_t i = 0; i < ARRAY_LEN(waits); i++)
        if (name_tokens_any(low, waits[i].words))
            return waits[i].action;
    return &diagnosis_text.do_wait_other;
}

static const struct message *message_of(const struct root_finder *f, const struct found_cause *c)
{
    if (c->cause == ROOT_SLOW_STEP_MORE_WORK && f->slow.kernels <= 0)
        return &diagnosis_text.what_slow_larger;
    if (c->cause == ROOT_DEVICE_DEPENDENCY && c->is_share)
        return &diagnosis_text.what_held;
    if (cause_waits_in_system(c))
        return &diagnosis_text.what_untraced_os;
    if (c->cause == ROOT_HOST_UNTRACED && root_waits_for_interpreter(f))
        return &diagnosis_text.what_untraced_lock;
    return root_causes[c->cause].what;
}

const struct wording *cause_class_label(struct arena *arena, int class)
{
    return wording_keep(arena, cause_plain(arena, account_class_label(class)));
}

const struct wording *cause_label(struct arena *arena, enum root_cause cause)
{
    struct message *label = ARENA_NEW(arena, struct message);

    for (enum lang lang = 0; lang < LANGS; lang++)
        label->in[lang] = root_cause_label(lang, cause);
    return wording_keep(arena, cause_plain(arena, label));
}

/* The share of the step that a cause's sentence is about: of tasks that run alone what the
 * accounting gives them, else all the time of its tasks or calls. */
static double told_share(const struct root_finder *f, const struct found_cause *c)
{
    switch (c->cause) {
    case ROOT_LAUNCH_BOUND:
        return idle_share(f, CAUSE_LAUNCH);
    case ROOT_COMM_EXPOSED:
        return num_share((double)f->by[ACCOUNT_COMM], (double)f->window);
    case ROOT_AICPU_EXPOSED:
        return num_share((double)f->by[ACCOUNT_COMPUTE + FAMILY_AICPU], (double)f->window);
    case ROOT_COPY_EXPOSED:
    case ROOT_NO_OVERLAP:
        return num_share((double)root_copies_alone(f), (double)f->window);
    case ROOT_DEVICE_DEPENDENCY:
        return num_share((double)f->waits, (double)f->window);
    default:
        return c->share;
    }
}

/* Host work that holds up the device, as a share of the step: it may last longer than that. */
static double held_share(const struct root_finder *f, const struct found_cause *c)
{
    static const enum idle_cause idles[ROOT_CAUSES] = {
        [ROOT_INPUT_PIPELINE] = CAUSE_INPUT,   [ROOT_CPU_OPERATOR] = CAUSE_OPERATOR,
        [ROOT_PYTHON_OVERHEAD] = CAUSE_PYTHON, [ROOT_HOST_UNTRACED] = CAUSE_UNTRACED,
        [ROOT_START_UP] = CAUSE_START_UP,
    };
    bool is_held = idles[c->cause] != CAUSE_DEVICE_LATENCY;
    double idle = is_held ? idle_share(f, idles[c->cause]) : 1;
    double most = idle < c->profiled_saving / 2 ? c->profiled_saving : idle;

    return fmin(c->share, most);
}

/* "each 39.4 ms step", or the recording of which a start-up is a part. */
static struct wording window_of_cause(struct cause_words *t, const struct found_cause *c)
{
    if (c->cause != ROOT_START_UP || !t->f.is_start_of_run)
        return t->window;
    return WORDING(t->arena, &diagnosis_text.whole,
                   place_quantity("time", (double)root_start_base(&t->f), UNIT_NS));
}

static double time_of_cause(const struct root_finder *f, const struct found_cause *c,
                            const struct slow_step *slow)
{
    if (slow->step != SIZE_MAX && (root_causes[c->cause].flags & ROOT_OF_STEP))
        return (double)slow->time;
    if (c->cause == ROOT_START_UP && f->is_start_of_run)
        return (double)root_start_up(f);
    return held_share(f, c) * (double)f->window / (double)f->units;
}

static struct wording what_of(struct cause_words *t, const struct found_cause *c)
{
    const struct root_finder *f = &t->f;
    const struct slow_step *slow = c->cause == ROOT_CLOCK_DROP ? &f->clock : &f->slow;
    bool is_slow = slow->step != SIZE_MAX;
    bool is_launch = c->cause == ROOT_LAUNCH_BOUND;
    struct str site = c->n_sites > 0 ? cause_short_name(t->arena, c->sites[0].name) : S("-");
    nanos kernels = 0;

    for (int i = ACCOUNT_COMPUTE; i < ACCOUNT_COMM; i++)
        kernels += f->by[i];
    nanos kernel = c->count > 0 ? kernels / (nanos)f->units / (nanos)c->count : 0;
    return WORDING(t->arena, message_of(f, c),
                   place_wording("window", wording_keep(t->arena, window_of_cause(t, c))),
                   place_quantity("share", told_share(f, c), UNIT_RATIO),
                   place_quantity("time", time_of_cause(f, c, slow), UNIT_NS),
                   PLACE("n", root_causes[c->cause].flags & ROOT_OF_STEP ? slow->kernels
                                                                         : (long long)c->count),
                   place_quantity("each", (double)(is_launch ? kernel : c->each), UNIT_NS),
                   PLACE("site", site), PLACE("step", is_slow ? f->a->steps[slow->step].id : S("")),
                   place_quantity("median", (double)slow->median, UNIT_NS),
                   place_quantity("grown", (double)slow->grown_by, UNIT_NS),
                   place_wording("class", cause_class_label(t->arena, slow->grown)));
}

static void add_evidence(struct cause_words *t, struct diagnosis_cause *out)
{
    const struct found_cause *c = &out->found;

    out->evidence[out->n_evidence++] = out->what;
    for (size_t i = 0; i < c->n_sites && out->n_evidence < DIAGNOSIS_EVIDENCE; i++)
        out->evidence[out->n_evidence++] =
            WORDING(t->arena, &diagnosis_text.site_evidence,
                    PLACE("site", cause_short_name(t->arena, c->sites[i].name)),
                    PLACE("n", c->sites[i].count), PLACE("steps", t->f.steps),
                    place_quantity("time", (double)c->sites[i].time, UNIT_NS));
}

/* The loader's own name says whether others prepare the data already. */
static bool has_workers(const struct capture *cap)
{
    for (size_t i = 1; i < cap->strings.strings.n; i++)
        if (str_contains(capture_text(cap, (strid)i), S("_MultiProcessingDataLoaderIter")))
            return true;
    return false;
}

/* Advice for what was seen goes before that for the cause in general. */
static const struct message *action_of(const struct cause_words *t, const struct found_cause *c)
{
    if (c->is_share && c->cause == ROOT_COPY_EXPOSED)
        return &diagnosis_text.do_copy_bytes;
    if (cause_waits_in_system(c))
        return action_of_wait(c->sites[0].name);
    if (c->cause == ROOT_HOST_UNTRACED && root_waits_for_interpreter(&t->f))
        return &diagnosis_text.do_untraced_lock;
    if (c->is_share && c->cause == ROOT_DEVICE_DEPENDENCY)
        return &diagnosis_text.do_held;
    if (c->cause == ROOT_SLOW_STEP_MORE_WORK && t->f.slow.kernels <= 0)
        return &diagnosis_text.do_slow_larger;
    if (c->cause == ROOT_NO_TENSOR_CORE && !capture_is_ascend(t->f.cap) && t->f.w->device != NULL &&
        !roof_has_tf32(t->f.w->device))
        return &diagnosis_text.do_no_tensor_half;
    if (c->cause == ROOT_INPUT_PIPELINE && t->framework == FRAMEWORK_PYTORCH &&
        has_workers(t->f.cap))
        return &diagnosis_text.do_input_workers;
    return root_cause_action(c->cause, t->framework);
}

struct diagnosis_cause cause_describe(struct cause_words *t, const struct found_cause *c,
                                      size_t rank)
{
    const struct root_cause_kind *kind = &root_causes[c->cause];
    double score = root_confidence(&t->f, c);
    bool is_start = c->cause == ROOT_START_UP && t->f.is_start_of_run;
    enum saving_base base = is_start || (kind->flags & ROOT_OF_STEP) ? BASE_RUN
                            : c->is_share || !t->d->is_calibrated    ? BASE_RECORDED
                                                                     : BASE_BARE;
    nanos step = base == BASE_BARE ? t->d->bare : t->d->device_period;
    struct diagnosis_cause out = {
        .id = kind->id,
        .rank = rank,
        .saving = is_start                      ? root_start_up(&t->f)
                  : c->cause == ROOT_CLOCK_DROP ? t->f.clock.excess
                  : kind->flags & ROOT_OF_STEP  ? t->f.slow.excess
                                                : nanos_of(c->saving * (double)step),
        .saving_share = c->saving,
        .base = base,
        .base_time = is_start                      ? root_start_base(&t->f)
                     : base != BASE_RUN            ? step
                     : c->cause == ROOT_CLOCK_DROP ? t->f.clock.run
                                                   : t->f.slow.run,
        .profiled_saving_share = c->profiled_saving,
        .score = score,
        .confidence = cause_confidence(score),
        .what = what_of(t, c),
        .action = cause_plain(t->arena, action_of(t, c)),
        .against = cause_plain(t->arena, kind->against),
        .record = cause_plain(t->arena, kind->record),
        .whatif = c->is_share ? NULL : kind->whatif, /* else the accounting values it */
        .found = *c,
    };

    out.bound = root_bound(&t->f, c);
    add_evidence(t, &out);
    return out;
}

struct wording diagnosis_share(struct arena *arena, const struct diagnosis_cause *c)
{
    static const struct message *const bases[SAVING_BASES] = {
        [BASE_RECORDED] = &diagnosis_text.of_recorded,
        [BASE_BARE] = &diagnosis_text.of_bare,
        [BASE_RUN] = &diagnosis_text.of_run,
    };

    return WORDING(arena, bases[c->base], place_quantity("share", c->saving_share, UNIT_RATIO),
                   place_quantity("base", (double)c->base_time, UNIT_NS));
}
