/*
 * The list of causes, what is known of the steps, and what the recording does not show.
 */
#include "analysis/diagnose/diagnosis_in.h"

#include <stdlib.h>

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "text/diagnosis.h"

enum { KIND_SHARE = 10 }; /* percent of the time that a kind of steps takes to get a sentence */

ENUM_NAMES(saving_base_name, enum saving_base, "recorded_step", "step_without_profiler", "run")
ENUM_NAMES(confidence_name, enum confidence, "unknown", "possible", "likely", "sure")

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
        if (d->causes[i].found.cause == ROOT_HOST_UNTRACED && d->causes[i].found.what == NULL)
            return true;
    return false;
}

static void add_missing(struct cause_words *t)
{
    const struct accounting *a = t->f.a;
    struct diagnosis *d = t->d;
    double linked = num_share((double)a->host.links, (double)(a->tasks.n - a->orphans));
    bool is_torch = framework_is_torch(t->f.framework);

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
    nanos rest =
        (root_start_base(f) - root_start_up(f)) / (f->is_start_of_run ? 1 : (nanos)f->units);
    nanos times = f->is_start_of_run ? (nanos)f->units : 1;
    struct message_place time = place_quantity("rest", (double)rest, UNIT_NS);

    for (size_t i = 0; i < t->d->n_causes; i++) {
        const struct diagnosis_cause *c = &t->d->causes[i];
        enum root_cause cause = c->found.cause;
        if (cause == ROOT_START_UP || c->confidence == CONFIDENCE_UNKNOWN ||
            c->saving_share < root_least(f, cause, ROOT_NAMED))
            continue;
        return WORDING(t->arena, &diagnosis_text.start_rest, time,
                       place_wording("cause", cause_label(t->arena, cause)),
                       place_quantity("saving", (double)(c->saving * times), UNIT_NS),
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
    f->framework = framework_of(st->cap);
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
        d->causes[d->n_causes++] = cause_describe(t, &f->found[i], i + 1);
    bool is_doubtful = is_named && d->causes[0].confidence == CONFIDENCE_UNKNOWN;
    d->verdict = is_named && !is_doubtful ? d->causes[0] : cause_none(t, is_doubtful);
    const struct diagnosis_cause *c = &d->verdict;
    const struct wording *sure =
        wording_keep(t->arena, wording_plain(str_of(confidence_name(c->confidence))));
    d->text = WORDING(t->arena, cause_verdict_message(c),
                      place_wording("what", wording_keep(t->arena, c->what)),
                      place_wording("do", wording_keep(t->arena, c->action)),
                      place_quantity("saving", (double)c->saving, UNIT_NS),
                      place_quantity("after", (double)c->base_time - (double)c->saving, UNIT_NS),
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

/* The replay has a mean over all steps, which is no time of steps that differ; and what is
 * predicted starts from the step as recorded, whatever the replay is off by. */
static double replay_scale_of(const struct root_finder *f)
{
    nanos recorded = f->window / (nanos)f->units;

    return f->w->profiled > 0 ? (double)recorded / (double)f->w->profiled : 1;
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
    double scale = replay_scale_of(&t.f);
    *d = (struct diagnosis){
        .framework = framework_name(t.f.framework),
        .steps = t.f.steps,
        .all_steps = t.f.a->n,
        .is_pseudo = a->is_pseudo,
        .is_calibrated = profiler_cost_is_known(w.cost),
        .time = a->step_time,
        .host_period = a->host_period,
        .device_period = t.f.window / (nanos)t.f.units,
        .is_mixed = t.f.units < t.f.steps,
        .replay_scale = scale,
        .profiled = t.f.units < t.f.steps ? t.f.window / (nanos)t.f.units : w.profiled,
        .bare = nanos_of((double)w.bare * scale),
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
