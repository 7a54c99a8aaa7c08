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

/* Time of the host that holds up the device, a step: what the host does may last longer. */
static double held_time(const struct root_finder *f, const struct found_cause *c)
{
    const struct root_cause_kind *kind = &root_causes[c->cause];
    double share = c->share;

    if (c->slow != NULL)
        return (double)c->slow->time;
    if (c->run > 0)
        return (double)c->once;
    if (kind->flags & ROOT_WHILE_IDLE) {
        double idle = root_share(f, f->by[ACCOUNT_IDLE + kind->idle]);
        share = fmin(share, idle < c->profiled_saving / 2 ? c->profiled_saving : idle);
    }
    return share * (double)f->window / (double)f->units;
}

/* "each 39.4 ms step", or the recording of which it is a part. */
static struct wording window_of_cause(struct cause_words *t, const struct found_cause *c)
{
    return c->slow != NULL || c->run == 0
               ? t->window
               : WORDING(t->arena, &diagnosis_text.whole,
                         place_quantity("time", (double)c->run, UNIT_NS));
}

static struct wording what_of(struct cause_words *t, const struct found_cause *c)
{
    const struct root_finder *f = &t->f;
    const struct slow_step none = {.step = SIZE_MAX}, *slow = c->slow != NULL ? c->slow : &none;
    struct str site = c->n_sites > 0 ? cause_short_name(t->arena, c->sites[0].name) : S("-");
    struct str step = c->slow != NULL ? f->a->steps[slow->step].id : S("");

    return WORDING(t->arena, c->what != NULL ? c->what : root_cause_what(c->cause),
                   place_wording("window", wording_keep(t->arena, window_of_cause(t, c))),
                   place_quantity("share", c->told >= 0 ? c->told : c->share, UNIT_RATIO),
                   place_quantity("time", held_time(f, c), UNIT_NS),
                   PLACE("n", c->slow != NULL ? slow->kernels : (long long)c->count),
                   place_quantity("each", (double)c->each, UNIT_NS), PLACE("site", site),
                   PLACE("step", step), place_quantity("median", (double)slow->median, UNIT_NS),
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

struct diagnosis_cause cause_describe(struct cause_words *t, const struct found_cause *c,
                                      size_t rank)
{
    const struct root_cause_kind *kind = &root_causes[c->cause];
    double score = root_confidence(&t->f, c);
    enum saving_base base = c->run > 0                               ? BASE_RUN
                            : c->is_recorded || !t->d->is_calibrated ? BASE_RECORDED
                                                                     : BASE_BARE;
    nanos step = base == BASE_BARE ? t->d->bare : t->d->device_period;
    /* The profiler has no part in the time of what runs alone on the device. */
    nanos of = c->is_share ? t->d->device_period : step;
    nanos saving = c->run > 0 ? c->once : nanos_of(c->saving * (double)of);
    struct diagnosis_cause out = {
        .id = kind->id,
        .rank = rank,
        .saving = saving,
        .saving_share = c->is_share ? fmin(num_share((double)saving, (double)step), 1) : c->saving,
        .base = base,
        .base_time = c->run > 0 ? c->run : step,
        .profiled_saving_share = c->profiled_saving,
        .score = score,
        .confidence = cause_confidence(score),
        .what = what_of(t, c),
        .action = cause_plain(
            t->arena, c->action != NULL ? c->action : root_cause_action(c->cause, t->f.framework)),
        .against = cause_plain(t->arena, root_cause_against(c->cause)),
        .record = cause_plain(t->arena, root_cause_record(c->cause)),
        .whatif = c->is_share ? c->whatif : kind->whatif, /* NULL: the accounting values it */
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
