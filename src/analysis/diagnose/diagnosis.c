/*
 * Puts the found causes into words and numbers.
 */
#include "analysis/diagnose/diagnosis.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/study.h"
#include "text/diagnosis.h"

enum { SITE_NAME_MOST = 48, SECOND_PRODUCT = 5 /* percent */ };

ENUM_NAMES(confidence_name, enum confidence, "unknown", "possible", "likely", "sure")

struct teller_of_causes {
    struct root_finder f;
    struct diagnosis *d;
    struct arena *arena;
    enum framework framework;
    struct wording window; /* "each 39.4 ms step" */
};

static enum confidence confidence_of(double score)
{
    return score >= ROOT_SURE / 100.0       ? CONFIDENCE_SURE
           : score >= ROOT_LIKELY / 100.0   ? CONFIDENCE_LIKELY
           : score >= ROOT_POSSIBLE / 100.0 ? CONFIDENCE_POSSIBLE
                                            : CONFIDENCE_UNKNOWN;
}

/* Names of GPU kernels can fill a screen. */
static struct str short_name(struct arena *arena, struct str name)
{
    struct str front = str_fit(name, SITE_NAME_MOST);

    return front.n < name.n ? arena_format(arena, "%.*s…", STR_ARGS(front)) : name;
}

/* ---- sentences ---- */

static struct wording plain(struct arena *arena, const struct message *m)
{
    return m != NULL ? wording_of(arena, phrase_plain(m)) : (struct wording){0};
}

/* The share of the accounting that a cause of idle time has. */
static double idle_share(const struct root_finder *f, enum idle_cause cause)
{
    return num_share((double)f->by[ACCOUNT_IDLE + cause], (double)f->window);
}

static const struct message *message_of(const struct root_finder *f, const struct found_cause *c)
{
    if (c->cause == ROOT_SLOW_STEP_MORE_WORK && f->slow.kernels <= 0)
        return &diagnosis_text.what_slow_larger;
    if (c->cause == ROOT_DEVICE_DEPENDENCY && c->is_share)
        return &diagnosis_text.what_held;
    return root_causes[c->cause].what;
}

static const struct wording *label_of(struct arena *arena, int class)
{
    return wording_keep(arena, plain(arena, account_class_label(class)));
}

static const struct wording *label_of_cause(struct arena *arena, enum root_cause cause)
{
    struct message *label = ARENA_NEW(arena, struct message);

    for (enum lang lang = 0; lang < LANGS; lang++)
        label->in[lang] = root_cause_label(lang, cause);
    return wording_keep(arena, plain(arena, label));
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
        [ROOT_INPUT_PIPELINE] = CAUSE_INPUT,
        [ROOT_CPU_OPERATOR] = CAUSE_OPERATOR,
        [ROOT_PYTHON_OVERHEAD] = CAUSE_PYTHON,
        [ROOT_HOST_UNTRACED] = CAUSE_UNTRACED,
    };
    bool is_held = c->cause >= ROOT_INPUT_PIPELINE && c->cause <= ROOT_PYTHON_OVERHEAD;
    double idle = is_held ? idle_share(f, idles[c->cause]) : 1;
    double most = idle < c->profiled_saving / 2 ? c->profiled_saving : idle;

    return fmin(c->share, most);
}

static struct wording what_of(struct teller_of_causes *t, const struct found_cause *c)
{
    const struct root_finder *f = &t->f;
    const struct slow_step *slow = c->cause == ROOT_CLOCK_DROP ? &f->clock : &f->slow;
    bool is_slow = slow->step != SIZE_MAX;
    bool is_launch = c->cause == ROOT_LAUNCH_BOUND;
    struct str site = c->n_sites > 0 ? short_name(t->arena, c->sites[0].name) : S("-");
    nanos kernels = 0;

    for (int i = ACCOUNT_COMPUTE; i < ACCOUNT_COMM; i++)
        kernels += f->by[i];
    nanos kernel = c->count > 0 ? kernels / (nanos)f->steps / (nanos)c->count : 0;
    return WORDING(t->arena, message_of(f, c),
                   place_wording("window", wording_keep(t->arena, t->window)),
                   place_quantity("share", told_share(f, c), UNIT_RATIO),
                   place_quantity("time",
                                  is_slow && (root_causes[c->cause].flags & ROOT_OF_STEP)
                                      ? (double)slow->time
                                      : held_share(f, c) * (double)f->window / (double)f->steps,
                                  UNIT_NS),
                   PLACE("n", root_causes[c->cause].flags & ROOT_OF_STEP ? slow->kernels
                                                                         : (long long)c->count),
                   place_quantity("each", (double)(is_launch ? kernel : c->each), UNIT_NS),
                   PLACE("site", site), PLACE("step", is_slow ? f->a->steps[slow->step].id : S("")),
                   place_quantity("median", (double)slow->median, UNIT_NS),
                   place_quantity("grown", (double)slow->grown_by, UNIT_NS),
                   place_wording("class", label_of(t->arena, slow->grown)));
}

static void add_evidence(struct teller_of_causes *t, struct diagnosis_cause *out)
{
    const struct found_cause *c = &out->found;

    out->evidence[out->n_evidence++] = out->what;
    for (size_t i = 0; i < c->n_sites && out->n_evidence < DIAGNOSIS_EVIDENCE; i++)
        out->evidence[out->n_evidence++] = WORDING(
            t->arena, &diagnosis_text.site_evidence,
            PLACE("site", short_name(t->arena, c->sites[i].name)), PLACE("n", c->sites[i].count),
            PLACE("steps", t->f.steps), place_quantity("time", (double)c->sites[i].time, UNIT_NS));
}

static const struct message *action_of(const struct teller_of_causes *t,
                                       const struct found_cause *c)
{
    if (c->is_share && c->cause == ROOT_COPY_EXPOSED)
        return &diagnosis_text.do_copy_bytes;
    if (c->is_share && c->cause == ROOT_DEVICE_DEPENDENCY)
        return &diagnosis_text.do_held;
    if (c->cause == ROOT_SLOW_STEP_MORE_WORK && t->f.slow.kernels <= 0)
        return &diagnosis_text.do_slow_larger;
    return root_cause_action(c->cause, t->framework);
}

static struct diagnosis_cause diagnosis_tell(struct teller_of_causes *t,
                                             const struct found_cause *c, size_t rank)
{
    const struct root_cause_kind *kind = &root_causes[c->cause];
    const struct whatif *w = t->f.w;
    double score = root_confidence(&t->f, c);
    double step = c->is_share           ? (double)t->f.window / (double)t->f.steps
                  : t->d->is_calibrated ? (double)w->bare
                                        : (double)w->profiled;
    struct diagnosis_cause out = {
        .id = kind->id,
        .rank = rank,
        .saving = c->cause == ROOT_CLOCK_DROP  ? t->f.clock.excess
                  : kind->flags & ROOT_OF_STEP ? t->f.slow.excess
                                               : (nanos)(c->saving * step),
        .saving_share = c->saving,
        .profiled_saving_share = c->profiled_saving,
        .score = score,
        .confidence = confidence_of(score),
        .is_upper_bound = (kind->flags & ROOT_UPPER_BOUND) != 0,
        .what = what_of(t, c),
        .action = plain(t->arena, action_of(t, c)),
        .against = plain(t->arena, kind->against),
        .record = plain(t->arena, kind->record),
        .whatif = kind->whatif,
        .found = *c,
    };

    out.bound = root_bound(&t->f, c);
    add_evidence(t, &out);
    return out;
}

/* ---- the verdict ---- */

static const struct message *verdict_message(const struct diagnosis_cause *c)
{
    unsigned flags = root_causes[c->found.cause].flags;

    if (c->found.cause == ROOT_HEALTHY || c->found.cause == ROOT_UNKNOWN)
        return &diagnosis_text.verdict_alone;
    if (flags & ROOT_OF_STEP)
        return &diagnosis_text.verdict_once;
    if (root_may_be_profiler(&c->found))
        return &diagnosis_text.verdict_launch;
    switch (c->bound) {
    case SAVING_AT_MOST:
        return &diagnosis_text.verdict_bound;
    case SAVING_AT_LEAST:
        return &diagnosis_text.verdict_least;
    default:
        return &diagnosis_text.verdict;
    }
}

/* The two of these families that take the most; the second counts from SECOND_PRODUCT on. */
static void largest_products(const struct root_finder *f, int most[2])
{
    static const enum kernel_family products[] = {FAMILY_GEMM_TENSOR, FAMILY_GEMM_SIMT,
                                                  FAMILY_ATTENTION, FAMILY_CONV};

    most[0] = FAMILY_GEMM_TENSOR;
    most[1] = -1;
    for (size_t i = 1; i < ARRAY_LEN(products); i++)
        if (f->by[products[i]] > f->by[most[0]]) {
            most[1] = most[0];
            most[0] = products[i];
        } else if (most[1] < 0 || f->by[products[i]] > f->by[most[1]]) {
            most[1] = products[i];
        }
    if (num_share((double)f->by[most[1]], (double)f->window) < SECOND_PRODUCT / 100.0)
        most[1] = -1;
}

/* What bounds a healthy run: matrix units, or memory. */
static struct wording bound_of(struct teller_of_causes *t)
{
    const nanos *by = t->f.by;
    nanos products = 0, memory = 0;
    int most[2];

    largest_products(&t->f, most);
    for (int i = 0; i < 2 && most[i] >= 0; i++)
        products += by[most[i]];
    for (int family = FAMILY_REDUCE; family < FAMILY_AICPU; family++)
        memory += by[family];
    struct message_place share = place_quantity(
        "share", num_share((double)(products >= memory ? products : memory), (double)t->f.window),
        UNIT_RATIO);
    if (products < memory)
        return WORDING(t->arena, &diagnosis_text.bound_memory, share);
    struct message_place first = place_wording("what", label_of(t->arena, most[0]));
    if (most[1] < 0)
        return WORDING(t->arena, &diagnosis_text.bound_compute, first, share);
    return WORDING(t->arena, &diagnosis_text.bound_both, first,
                   place_wording("other", label_of(t->arena, most[1])), share);
}

/* `action` NULL: what the cause asks for. */
static struct diagnosis_cause nothing_found(struct teller_of_causes *t, enum root_cause cause,
                                            const struct message *action, struct wording what,
                                            double score)
{
    return (struct diagnosis_cause){
        .id = root_causes[cause].id,
        .score = score,
        .confidence = confidence_of(score),
        .what = what,
        .action = plain(t->arena, action ?: root_cause_action(cause, t->framework)),
        .found = {.cause = cause},
        .evidence = {what},
        .n_evidence = 1,
    };
}

static struct diagnosis_cause healthy(struct teller_of_causes *t)
{
    struct wording bound = bound_of(t);
    struct found_cause none = {.cause = ROOT_HEALTHY};
    double score = root_confidence(&t->f, &none);
    bool is_weak = confidence_of(score) <= CONFIDENCE_POSSIBLE;

    return nothing_found(
        t, ROOT_HEALTHY, NULL,
        WORDING(t->arena,
                is_weak ? &diagnosis_text.what_healthy_weak : &diagnosis_text.what_healthy,
                place_wording("window", wording_keep(t->arena, t->window)),
                place_wording("bound", wording_keep(t->arena, bound))),
        score);
}

static struct diagnosis_cause unknown(struct teller_of_causes *t)
{
    const struct diagnosis_cause *first = t->d->n_causes > 0 ? &t->d->causes[0] : NULL;
    int class = ACCOUNT_COMM; /* with most of the time besides compute and the device's latency */

    for (int i = ACCOUNT_COMM; i < ACCOUNT_CLASSES; i++)
        if (i != ACCOUNT_IDLE + CAUSE_DEVICE_LATENCY && t->f.by[i] > t->f.by[class])
            class = i;
    return nothing_found(
        t, ROOT_UNKNOWN, NULL,
        WORDING(t->arena,
                first != NULL ? &diagnosis_text.what_unknown_most : &diagnosis_text.what_unknown,
                place_wording("window", wording_keep(t->arena, t->window)),
                place_wording("class", label_of(t->arena, class)),
                place_quantity("share", num_share((double)t->f.by[class], (double)t->f.window),
                               UNIT_RATIO),
                place_wording("cause", first != NULL
                                           ? label_of_cause(t->arena, first->found.cause)
                                           : wording_keep(t->arena, wording_plain(S("")))),
                place_quantity("saving", first != NULL ? first->saving_share : 0, UNIT_RATIO)),
        0);
}

/* The device is busy, and what would save most is not certain. */
static struct diagnosis_cause doubtful(struct teller_of_causes *t)
{
    const struct diagnosis_cause *first = &t->d->causes[0];

    return nothing_found(
        t, ROOT_UNKNOWN, &diagnosis_text.do_doubtful,
        WORDING(t->arena, &diagnosis_text.what_doubtful,
                place_wording("window", wording_keep(t->arena, t->window)),
                place_wording("cause", label_of_cause(t->arena, first->found.cause)),
                place_quantity("share", first->saving_share, UNIT_RATIO)),
        0);
}

static struct diagnosis_cause unnamed(struct teller_of_causes *t)
{
    double share = num_share((double)t->f.by[FAMILY_OTHER], (double)t->f.window);

    return nothing_found(t, ROOT_UNKNOWN, &diagnosis_text.do_unnamed,
                         WORDING(t->arena, &diagnosis_text.what_unnamed,
                                 place_wording("window", wording_keep(t->arena, t->window)),
                                 place_quantity("share", share, UNIT_RATIO)),
                         0);
}

/* Nothing saves enough, or nobody would believe it. */
static struct diagnosis_cause without_cause(struct teller_of_causes *t, bool is_doubtful)
{
    struct root_shares shares = root_shares_of(&t->f);
    double most = ROOT_NOT_HEALTHY / 100.0;
    bool is_fine = shares.comm < most && shares.copies < most && shares.idle < most;

    if (!is_fine)
        return unknown(t);
    if (is_doubtful)
        return doubtful(t);
    /* The device is busy, and nothing is known of most of its kernels: no bound, and no health. */
    nanos compute = 0;
    for (int family = 0; family < KERNEL_FAMILIES; family++)
        compute += t->f.by[family];
    return t->f.by[FAMILY_OTHER] >= compute / 2 ? unnamed(t) : healthy(t);
}

/* ---- facts ---- */

ORDER_BY(by_time, struct diagnosis_class, ORDER(y->time, x->time) ?: strcmp(x->name, y->name));

static void add_groups(struct teller_of_causes *t)
{
    const struct accounting *a = t->f.a;
    nanos *times = ARENA_ARRAY(t->arena, nanos, a->n);

    t->d->groups = ARENA_ARRAY(t->arena, struct diagnosis_group, a->n);
    for (size_t i = 0; i < a->n; i++) {
        struct diagnosis_group g = {.first = a->steps[i].id};
        if (a->steps[i].tasks == 0)
            continue;
        for (size_t k = 0; k < a->n; k++)
            if (a->steps[k].tasks > 0 && a->steps[k].group == a->steps[i].group) {
                if (k < i)
                    break;
                times[g.steps++] = account_step_time(&a->steps[k]);
                g.time += account_step_time(&a->steps[k]);
                g.idle += a->steps[k].idle;
            }
        if (g.steps == 0)
            continue;
        for (size_t k = 0; k < a->tasks.n; k++)
            g.kernels += a->tasks.at[k].step == i && a->tasks.at[k].class == TASK_COMPUTE;
        g.median = host_timeline_median(times, g.steps);
        g.idle_share = num_share((double)g.idle, (double)g.time);
        t->d->groups[t->d->n_groups++] = g;
    }
}

static void add_step_times(struct teller_of_causes *t)
{
    const struct accounting *a = t->f.a;

    t->d->step_times = ARENA_ARRAY(t->arena, double, a->n);
    for (size_t i = t->f.first; i < a->n; i++)
        if (a->steps[i].tasks > 0)
            t->d->step_times[t->d->n_step_times++] = (double)account_step_time(&a->steps[i]);
}

static void lack(struct diagnosis *d, struct wording text)
{
    if (d->n_missing < DIAGNOSIS_MISSING)
        d->missing[d->n_missing++] = text;
}

static bool names_untraced(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->n_causes; i++)
        if (d->causes[i].found.cause == ROOT_HOST_UNTRACED)
            return true;
    return false;
}

static void add_missing(struct teller_of_causes *t)
{
    const struct accounting *a = t->f.a;
    struct diagnosis *d = t->d;
    double linked = num_share((double)a->host.links, (double)(a->tasks.n - a->orphans));

    if (a->missing != NULL || a->host.links == 0)
        lack(d, plain(t->arena, &diagnosis_text.no_links));
    else if (linked < LIMIT_LINKED / 100.0)
        lack(d, WORDING(t->arena, &diagnosis_text.few_links,
                        place_quantity("share", linked, UNIT_RATIO)));
    if (!a->is_pseudo && t->f.steps < 3)
        lack(d, WORDING(t->arena, &diagnosis_text.too_short, PLACE("n", t->f.steps)));
    if (!(t->f.cap->has & HAS_SHAPES))
        lack(d, plain(t->arena, &diagnosis_text.no_shapes));
    if (!(t->f.cap->has & HAS_STACKS) && names_untraced(d))
        lack(d, plain(t->arena, &diagnosis_text.no_stacks));
    if (t->f.is_device_assumed)
        lack(d,
             WORDING(t->arena, &diagnosis_text.no_device, PLACE("device", S(ROOT_ASSUMED_DEVICE))));
    if (!d->is_calibrated)
        lack(d, plain(t->arena, &diagnosis_text.no_cost));
    if (a->host.count > 1)
        lack(d, plain(t->arena, &diagnosis_text.threads));
}

/* ---- all of it ---- */

static void diagnosis_begin(struct teller_of_causes *t, struct study *st, struct whatif *w,
                            const struct accounting *a)
{
    struct root_finder *f = &t->f;

    *f = (struct root_finder){.st = st, .cap = st->cap, .a = a, .w = w};
    for (size_t i = 1; i < a->n; i++)
        f->steps += a->steps[i].tasks > 0;
    f->first = f->steps > 0;
    f->steps += f->steps == 0;
    for (size_t i = f->first; i < a->n; i++)
        for (int class = 0; class < ACCOUNT_CLASSES; class ++) {
            f->by[class] += a->steps[i].by[class];
            f->window += a->steps[i].by[class];
        }
    nanos step = f->window / (nanos)f->steps;
    t->arena = &st->scratch;
    t->framework = framework_of(st->cap);
    t->window = a->is_pseudo ? WORDING(t->arena, &diagnosis_text.whole,
                                       place_quantity("time", (double)step, UNIT_NS))
                             : WORDING(t->arena, &diagnosis_text.each_step,
                                       place_quantity("time", (double)step, UNIT_NS));
}

static void diagnosis_finish(struct teller_of_causes *t, bool is_named)
{
    struct diagnosis *d = t->d;
    const struct root_finder *f = &t->f;

    d->causes = ARENA_ARRAY(t->arena, struct diagnosis_cause, ROOT_CAUSES);
    for (size_t i = 0; i < f->n; i++)
        d->causes[d->n_causes++] = diagnosis_tell(t, &f->found[i], i + 1);
    bool is_doubtful = is_named && d->causes[0].confidence == CONFIDENCE_UNKNOWN;
    d->verdict = is_named && !is_doubtful ? d->causes[0] : without_cause(t, is_doubtful);
    const struct diagnosis_cause *c = &d->verdict;
    const struct wording *sure =
        wording_keep(t->arena, wording_plain(str_of(confidence_name(c->confidence))));
    nanos step = d->is_calibrated ? f->w->bare : f->w->profiled;
    d->text = WORDING(t->arena, verdict_message(c),
                      place_wording("what", wording_keep(t->arena, c->what)),
                      place_wording("do", wording_keep(t->arena, c->action)),
                      place_quantity("saving", (double)c->saving, UNIT_NS),
                      place_quantity("after", (double)step - (double)c->saving, UNIT_NS),
                      place_quantity("share", c->saving_share, UNIT_RATIO),
                      place_wording("confidence", sure), PLACE("n", f->a->n));
    d->classes = ARENA_ARRAY(t->arena, struct diagnosis_class, ACCOUNT_CLASSES);
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        if (f->by[class] > 0)
            d->classes[d->n_classes++] = (struct diagnosis_class){
                account_class_name(class), account_class_label(class),
                f->by[class] / (nanos)f->steps, num_share((double)f->by[class], (double)f->window)};
    qsort(d->classes, d->n_classes, sizeof(*d->classes), by_time);
    add_groups(t);
    add_step_times(t);
    add_missing(t);
    d->slow = f->slow;
    d->slow_id = f->slow.step != SIZE_MAX ? f->a->steps[f->slow.step].id : S("");
}

static const struct diagnosis *without_work(struct diagnosis *d, struct arena *arena)
{
    *d = (struct diagnosis){
        .verdict = {.id = root_causes[ROOT_UNKNOWN].id, .found = {.cause = ROOT_UNKNOWN}},
        .text = plain(arena, &diagnosis_text.nothing),
        .framework = framework_name(FRAMEWORK_PYTORCH),
        .slow = {.step = SIZE_MAX},
    };
    return d;
}

const struct diagnosis *diagnosis_find(struct study *st)
{
    const struct accounting *a = study_accounting(st);
    struct teller_of_causes t = {0};
    struct whatif w;

    struct diagnosis *d = ARENA_NEW(&st->scratch, struct diagnosis);
    if (a->n == 0 || a->tasks.n == 0)
        return without_work(d, &st->scratch);
    whatif_init(&w, st, a);
    bool is_assumed = w.device == NULL && capture_is_ascend(st->cap);
    if (is_assumed)
        w.device = device_find(&device_builtin, S(ROOT_ASSUMED_DEVICE));
    diagnosis_begin(&t, st, &w, a);
    t.d = d;
    *d = (struct diagnosis){
        .framework = framework_name(t.framework),
        .steps = t.f.steps,
        .all_steps = t.f.a->n,
        .is_pseudo = a->is_pseudo,
        .is_calibrated = profiler_cost_is_known(w.cost),
        .time = a->step_time,
        .host_period = a->host_period,
        .device_period = t.f.window / (nanos)t.f.steps,
        .profiled = w.profiled,
        .bare = w.bare,
        .identity_error = w.replay->identity_error,
        .nodes = w.replay->n,
        .edges = w.replay->edges,
    };
    if (t.f.window > 0)
        root_find(&t.f);
    for (size_t i = 0; i < t.f.n; i++)
        if (t.f.found[i].profiled_saving > d->profiler_saving &&
            t.f.found[i].saving < ROOT_NAMED / 100.0)
            d->profiler_saving = t.f.found[i].profiled_saving;
    t.f.is_device_assumed = is_assumed;
    diagnosis_finish(&t, root_rank(&t.f));
    whatif_fini(&w);
    return d;
}
