/*
 * Puts the found causes into words and numbers.
 */
#include "analysis/diagnose/diagnosis_in.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/roof.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "ops/name_tokens.h"
#include "text/diagnosis.h"

enum {
    SITE_NAME_MOST = 48,
    KIND_SHARE = 10, /* percent of the time that a kind of steps takes to get a sentence */
};

ENUM_NAMES(saving_base_name, enum saving_base, "recorded_step", "step_without_profiler", "run")
ENUM_NAMES(confidence_name, enum confidence, "unknown", "possible", "likely", "sure")

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

/* ---- sentences ---- */

struct wording cause_plain(struct arena *arena, const struct message *m)
{
    return m != NULL ? wording_of(arena, phrase_plain(m)) : (struct wording){0};
}

/* The share of the accounting that a cause of idle time has. */
static double idle_share(const struct root_finder *f, enum idle_cause cause)
{
    return num_share((double)f->by[ACCOUNT_IDLE + cause], (double)f->window);
}

/* Host time that the recording shows as a wait in the operating system. */
static bool waits_in_system(const struct found_cause *c)
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
    if (waits_in_system(c))
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
                   place_wording("window", wording_keep(t->arena, t->window)),
                   place_quantity("share", told_share(f, c), UNIT_RATIO),
                   place_quantity("time",
                                  is_slow && (root_causes[c->cause].flags & ROOT_OF_STEP)
                                      ? (double)slow->time
                                      : held_share(f, c) * (double)f->window / (double)f->units,
                                  UNIT_NS),
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
    if (c->is_share && c->cause == ROOT_COMM_EXPOSED)
        return &diagnosis_text.do_comm_share;
    if (c->is_share && c->cause == ROOT_COPY_EXPOSED)
        return &diagnosis_text.do_copy_bytes;
    if (waits_in_system(c))
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

static struct diagnosis_cause diagnosis_tell(struct cause_words *t, const struct found_cause *c,
                                             size_t rank)
{
    const struct root_cause_kind *kind = &root_causes[c->cause];
    double score = root_confidence(&t->f, c);
    enum saving_base base = kind->flags & ROOT_OF_STEP ? BASE_RUN
                            : t->d->is_calibrated      ? BASE_BARE
                                                       : BASE_RECORDED;
    nanos step = base == BASE_BARE ? t->d->bare : t->d->device_period;
    struct diagnosis_cause out = {
        .id = kind->id,
        .rank = rank,
        .saving = c->cause == ROOT_CLOCK_DROP  ? t->f.clock.excess
                  : kind->flags & ROOT_OF_STEP ? t->f.slow.excess
                                               : nanos_of(c->saving * (double)step),
        .saving_share = c->saving,
        .base = base,
        .base_time = base != BASE_RUN              ? step
                     : c->cause == ROOT_CLOCK_DROP ? t->f.clock.run
                                                   : t->f.slow.run,
        .profiled_saving_share = c->profiled_saving,
        .score = score,
        .confidence = cause_confidence(score),
        .what = what_of(t, c),
        .action = cause_plain(t->arena, action_of(t, c)),
        .against = cause_plain(t->arena, kind->against),
        .record = cause_plain(t->arena, kind->record),
        .whatif = c->is_share ? kind->gone : kind->whatif, /* NULL: the accounting values it */
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

/* ---- facts ---- */

ORDER_BY(by_time, struct diagnosis_class, ORDER(y->time, x->time) ?: strcmp(x->name, y->name));

/* Of the steps that count: the first has its own start-up in it. */
static void add_groups(struct cause_words *t)
{
    const struct accounting *a = t->f.a;
    nanos *times = ARENA_ARRAY(t->arena, nanos, a->n);

    t->d->groups = ARENA_ARRAY(t->arena, struct diagnosis_group, a->n);
    for (size_t i = t->f.first; i < a->n; i++) {
        struct diagnosis_group g = {.first = a->steps[i].id, .place = i};
        if (a->steps[i].tasks == 0)
            continue;
        for (size_t k = t->f.first; k < a->n; k++)
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

/* The two classes that steps of a kind spend most time in. */
static struct wording parts_of_kind(struct cause_words *t, size_t kind)
{
    const struct accounting *a = t->f.a;
    nanos by[ACCOUNT_CLASSES] = {0}, all = 0;
    struct wording part[2];
    int most = -1;

    for (size_t i = t->f.first; i < a->n; i++)
        for (int class = 0; class < ACCOUNT_CLASSES && a->steps[i].group == a->steps[kind].group;
             class ++) {
            by[class] += a->steps[i].by[class];
            all += a->steps[i].by[class];
        }
    for (int i = 0; i < 2; i++) {
        int next = 0;
        for (int class = 0; class < ACCOUNT_CLASSES; class ++)
            if (class != most && (next == most || by[class] > by[next]))
                next = class;
        part[i] =
            WORDING(t->arena, &diagnosis_text.of_kind_part,
                    place_wording("class", cause_class_label(t->arena, next)),
                    place_quantity("share", num_share((double)by[next], (double)all), UNIT_RATIO));
        most = next;
    }
    return WORDING(t->arena, &diagnosis_text.of_kind_parts,
                   place_wording("first", wording_keep(t->arena, part[0])),
                   place_wording("second", wording_keep(t->arena, part[1])));
}

/* A sentence on each kind that takes a good part of the time. */
static void describe_kinds(struct cause_words *t)
{
    nanos all = 0;

    for (size_t i = 0; i < t->d->n_groups; i++)
        all += t->d->groups[i].time;
    for (size_t i = 0; i < t->d->n_groups; i++) {
        struct diagnosis_group *g = &t->d->groups[i];
        g->share = num_share((double)g->time, (double)all);
        if (!t->d->is_mixed || g->share < KIND_SHARE / 100.0)
            continue;
        struct wording parts = parts_of_kind(t, g->place);
        g->text =
            WORDING(t->arena, &diagnosis_text.of_kind, PLACE("n", g->steps),
                    PLACE("first", g->first), place_quantity("time", (double)g->median, UNIT_NS),
                    place_quantity("share", g->share, UNIT_RATIO),
                    place_wording("parts", wording_keep(t->arena, parts)));
    }
}

static void add_step_times(struct cause_words *t)
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

/* Steps that nobody marked are told as what they are. */
static void lack_marks(struct cause_words *t)
{
    static const struct message *const words[] = {
        [FOUND_LOADER] = &diagnosis_text.found_loader,
        [FOUND_OPTIMIZER] = &diagnosis_text.found_optimizer,
        [FOUND_RANGES] = &diagnosis_text.found_ranges,
        [FOUND_GRAPHS] = &diagnosis_text.found_graphs,
        [FOUND_LOOP] = &diagnosis_text.found_loop,
        [FOUND_PASSES] = &diagnosis_text.found_passes,
    };
    const struct steps *steps = study_steps(t->f.st);

    if (steps->found != FOUND_NOT)
        lack(t->d, WORDING(t->arena, words[steps->found], PLACE("n", steps->n)));
}

static bool names_untraced(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->n_causes; i++)
        if (d->causes[i].found.cause == ROOT_HOST_UNTRACED && !waits_in_system(&d->causes[i].found))
            return true;
    return false;
}

static void add_missing(struct cause_words *t)
{
    const struct accounting *a = t->f.a;
    struct diagnosis *d = t->d;
    double linked = num_share((double)a->host.links, (double)(a->tasks.n - a->orphans));
    bool is_torch = t->framework < FRAMEWORK_XLA;

    if (a->missing != NULL || a->host.links == 0)
        lack(d, cause_plain(t->arena, &diagnosis_text.no_links));
    else if (linked < LIMIT_LINKED / 100.0)
        lack(d, WORDING(t->arena, &diagnosis_text.few_links,
                        place_quantity("share", linked, UNIT_RATIO)));
    lack_marks(t);
    if (!a->is_pseudo && t->f.steps < 3)
        lack(d, WORDING(t->arena, &diagnosis_text.too_short, PLACE("n", t->f.steps)));
    if (!(t->f.cap->has & HAS_SHAPES))
        lack(d, cause_plain(t->arena, is_torch ? &diagnosis_text.no_shapes
                                               : &diagnosis_text.no_shapes_plain));
    if (!(t->f.cap->has & HAS_STACKS) && names_untraced(d))
        lack(d, cause_plain(t->arena, is_torch ? &diagnosis_text.no_stacks
                                               : &diagnosis_text.no_stacks_plain));
    if (t->f.w->is_device_assumed)
        lack(d, WORDING(t->arena, &diagnosis_text.no_device,
                        PLACE("device", str_of(t->f.w->device->name))));
    if (!d->is_calibrated)
        lack(d, cause_plain(t->arena, &diagnosis_text.no_cost));
    if (a->host.count > 1)
        lack(d, cause_plain(t->arena, &diagnosis_text.threads));
}

/* ---- start-up ---- */

/* The steady part of a recording whose start-up is the verdict, in a sentence. */
static struct wording rest_of(struct cause_words *t)
{
    const struct root_finder *f = &t->f;
    nanos rest = (f->window - f->by[ACCOUNT_IDLE + CAUSE_START_UP]) / (nanos)f->units;
    struct message_place time = place_quantity("rest", (double)rest, UNIT_NS);

    for (size_t i = 0; i < t->d->n_causes; i++) {
        const struct diagnosis_cause *c = &t->d->causes[i];
        enum root_cause cause = c->found.cause;
        if (cause == ROOT_START_UP || c->confidence == CONFIDENCE_UNKNOWN ||
            c->saving_share < root_least(f, cause, ROOT_NAMED))
            continue;
        return WORDING(t->arena, &diagnosis_text.start_rest, time,
                       place_wording("cause", cause_label(t->arena, cause)),
                       place_quantity("saving", (double)c->saving, UNIT_NS),
                       place_wording("confidence",
                                     wording_keep(t->arena, wording_plain(str_of(
                                                                confidence_name(c->confidence))))));
    }
    return WORDING(t->arena, &diagnosis_text.start_rest_none, time);
}

/* A verdict on the steady part says that there is a start-up beside it. */
static struct wording with_start(struct cause_words *t, struct wording verdict)
{
    for (size_t i = 0; i < t->d->n_causes; i++)
        if (t->d->causes[i].found.cause == ROOT_START_UP &&
            t->d->verdict.found.cause != ROOT_START_UP)
            return WORDING(t->arena, &diagnosis_text.start_beside,
                           place_wording("verdict", wording_keep(t->arena, verdict)),
                           place_wording("start", wording_keep(t->arena, t->d->causes[i].what)));
    return verdict;
}

/* ---- all of it ---- */

static void diagnosis_begin(struct cause_words *t, struct study *st, struct whatif *w,
                            const struct accounting *a)
{
    struct root_finder *f = &t->f;

    *f = (struct root_finder){.st = st, .cap = st->cap, .a = a, .w = w};
    const struct account_mean mean = t->mean = account_mean_of(a);

    f->steps = mean.steps;
    f->units = mean.units;
    f->first = mean.first;
    f->window = mean.window;
    memcpy(f->by, mean.all, sizeof(f->by));
    nanos step = mean.time;
    t->arena = &st->scratch;
    t->framework = framework_of(st->cap);
    t->window = mean.is_mixed  ? WORDING(t->arena, &diagnosis_text.mixed, PLACE("n", mean.steps),
                                         place_quantity("time", (double)step, UNIT_NS))
                : a->is_pseudo ? WORDING(t->arena, &diagnosis_text.whole,
                                         place_quantity("time", (double)step, UNIT_NS))
                               : WORDING(t->arena, &diagnosis_text.each_step,
                                         place_quantity("time", (double)step, UNIT_NS));
}

static void diagnosis_finish(struct cause_words *t, bool is_named)
{
    struct diagnosis *d = t->d;
    const struct root_finder *f = &t->f;

    d->causes = ARENA_ARRAY(t->arena, struct diagnosis_cause, ROOT_CAUSES);
    for (size_t i = 0; i < f->n; i++)
        d->causes[d->n_causes++] = diagnosis_tell(t, &f->found[i], i + 1);
    bool is_doubtful = is_named && d->causes[0].confidence == CONFIDENCE_UNKNOWN;
    d->verdict = is_named && !is_doubtful ? d->causes[0] : cause_none(t, is_doubtful);
    const struct diagnosis_cause *c = &d->verdict;
    const struct wording *sure =
        wording_keep(t->arena, wording_plain(str_of(confidence_name(c->confidence))));
    nanos step = d->is_calibrated ? d->bare : d->device_period;
    d->text = WORDING(t->arena, cause_verdict_message(c),
                      place_wording("what", wording_keep(t->arena, c->what)),
                      place_wording("do", wording_keep(t->arena, c->action)),
                      place_quantity("saving", (double)c->saving, UNIT_NS),
                      place_quantity("after", (double)step - (double)c->saving, UNIT_NS),
                      place_wording("share", wording_keep(t->arena, diagnosis_share(t->arena, c))),
                      place_wording("confidence", sure), PLACE("n", f->a->n),
                      place_wording("rest", wording_keep(t->arena, rest_of(t))));
    d->text = with_start(t, d->text);
    d->why_first = cause_why_first(t, c);
    d->classes = ARENA_ARRAY(t->arena, struct diagnosis_class, ACCOUNT_CLASSES);
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        if (f->by[class] > 0)
            d->classes[d->n_classes++] = (struct diagnosis_class){
                account_class_name(class), account_class_label(class), t->mean.by[class],
                num_share((double)f->by[class], (double)f->window)};
    qsort(d->classes, d->n_classes, sizeof(*d->classes), by_time);
    add_groups(t);
    describe_kinds(t);
    add_step_times(t);
    add_missing(t);
    d->slow = f->slow;
    d->slow_id = f->slow.step != SIZE_MAX ? f->a->steps[f->slow.step].id : S("");
}

static const struct diagnosis *without_work(struct diagnosis *d, const struct capture *cap,
                                            struct arena *arena)
{
    *d = (struct diagnosis){
        .verdict = {.id = root_causes[ROOT_UNKNOWN].id, .found = {.cause = ROOT_UNKNOWN}},
        .text = cause_no_work(cap, arena),
        .framework = framework_name(framework_of(cap)),
        .slow = {.step = SIZE_MAX},
    };
    return d;
}

/* Where a contract has one step, what limits the run is judged by what repeats, as elsewhere. */
static const struct diagnosis *judge_apart(struct study *st)
{
    st->judged = ARENA_NEW(&st->scratch, struct study);
    study_begin(st->judged, st->cap, study_with_passes());
    return study_diagnosis(st->judged);
}

const struct diagnosis *diagnosis_find(struct study *st)
{
    if (st->options.is_contract && st->options.step_choice == STEP_CHOICE_AUTO &&
        study_steps(st)->source == STEPS_PSEUDO)
        return judge_apart(st);
    const struct accounting *a = study_accounting(st);
    struct cause_words t = {0};
    struct whatif w;

    struct diagnosis *d = ARENA_NEW(&st->scratch, struct diagnosis);
    if (a->n == 0 || a->tasks.n == 0)
        return without_work(d, st->cap, &st->scratch);
    whatif_init(&w, st, a);
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
        .device_period = t.f.window / (nanos)t.f.units,
        .is_mixed = t.f.units < t.f.steps,
        /* The replay has a mean over all steps. */
        .profiled = t.f.units < t.f.steps ? t.f.window : w.profiled,
        /* From the step as recorded: how far the replay is off has no part in it. */
        .bare = nanos_of((double)(t.f.window / (nanos)t.f.units) *
                         (w.profiled > 0 ? (double)w.bare / (double)w.profiled : 1)),
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
    diagnosis_finish(&t, root_rank(&t.f));
    whatif_fini(&w);
    return d;
}
