/*
 * The verdict: the first cause in a sentence, and what stands there when there is none.
 */
#include "analysis/diagnose/diagnosis_in.h"

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/study.h"
#include "ops/name_tokens.h"
#include "text/cause.h"
#include "text/diagnosis.h"

enum {
    SECOND_PRODUCT = 5, /* percent */
    LEAST_KERNELS = 50, /* percent of the time of a healthy run */
    SAVES_MORE = 20,    /* part of a saving that is worth a word */
};

const struct message *cause_verdict_message(const struct diagnosis_cause *c)
{
    unsigned flags = root_causes[c->found.cause].flags;

    if (c->found.cause == ROOT_HEALTHY || c->found.cause == ROOT_UNKNOWN)
        return &diagnosis_text.verdict_alone;
    if (flags & ROOT_OF_STEP)
        return &diagnosis_text.verdict_once;
    if (c->found.cause == ROOT_START_UP)
        return &diagnosis_text.verdict_start;
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
static struct wording bound_of(struct cause_words *t)
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
    struct message_place first = place_wording("what", cause_class_label(t->arena, most[0]));
    if (most[1] < 0)
        return WORDING(t->arena, &diagnosis_text.bound_compute, first, share);
    return WORDING(t->arena, &diagnosis_text.bound_both, first,
                   place_wording("other", cause_class_label(t->arena, most[1])), share);
}

/* `action` NULL: what the cause asks for. */
static struct diagnosis_cause nothing_found(struct cause_words *t, enum root_cause cause,
                                            const struct message *action, struct wording what,
                                            double score)
{
    return (struct diagnosis_cause){
        .id = root_causes[cause].id,
        .score = score,
        .confidence = cause_confidence(score),
        .what = what,
        .action = cause_plain(t->arena, action ?: root_cause_action(cause, t->f.framework)),
        .found = {.cause = cause},
        .evidence = {what},
        .n_evidence = 1,
    };
}

/* Whether the device idles for long in the recording, if not in what it would be without it. */
static bool is_idle_as_recorded(const struct root_finder *f)
{
    nanos idle = 0;

    for (int cause = 0; cause < IDLE_CAUSES; cause++)
        idle = nanos_add(idle, cause != CAUSE_DEVICE_LATENCY ? f->by[ACCOUNT_IDLE + cause] : 0);
    return root_share(f, idle) >= ROOT_NOT_HEALTHY / 100.0;
}

static struct diagnosis_cause healthy(struct cause_words *t)
{
    struct wording bound = bound_of(t);
    struct found_cause none = {.cause = ROOT_HEALTHY};
    double score = root_confidence(&t->f, &none), most = (ROOT_SURE - 1) / 100.0;
    if (is_idle_as_recorded(&t->f) && score > most)
        score = most; /* what recording costs is an estimate */
    bool is_weak = cause_confidence(score) <= CONFIDENCE_POSSIBLE;

    return nothing_found(
        t, ROOT_HEALTHY, NULL,
        WORDING(t->arena, is_weak ? &cause_text.healthy_what_weak : root_cause_what(ROOT_HEALTHY),
                place_wording("window", wording_keep(t->arena, t->window)),
                place_wording("bound", wording_keep(t->arena, bound))),
        score);
}

static struct diagnosis_cause unknown(struct cause_words *t)
{
    const struct diagnosis_cause *first = t->d->n_causes > 0 ? &t->d->causes[0] : NULL;
    int class = ACCOUNT_COMM; /* with most of the time besides compute and the device's latency */

    for (int i = ACCOUNT_COMM; i < ACCOUNT_CLASSES; i++)
        if (i != ACCOUNT_IDLE + CAUSE_DEVICE_LATENCY && t->f.by[i] > t->f.by[class])
            class = i;
    return nothing_found(
        t, ROOT_UNKNOWN, NULL,
        WORDING(t->arena,
                first != NULL ? &diagnosis_text.what_unknown_most : root_cause_what(ROOT_UNKNOWN),
                place_wording("window", wording_keep(t->arena, t->window)),
                place_wording("class", cause_class_label(t->arena, class)),
                place_quantity("share", num_share((double)t->f.by[class], (double)t->f.window),
                               UNIT_RATIO),
                place_wording("cause", first != NULL
                                           ? cause_label(t->arena, first->found.cause)
                                           : wording_keep(t->arena, wording_plain(S("")))),
                place_quantity("saving", first != NULL ? first->saving_share : 0, UNIT_RATIO)),
        0);
}

/* The device is busy, and what would save most is not certain. */
static struct diagnosis_cause doubtful(struct cause_words *t)
{
    const struct diagnosis_cause *first = &t->d->causes[0];

    return nothing_found(t, ROOT_UNKNOWN, &diagnosis_text.do_doubtful,
                         WORDING(t->arena, &diagnosis_text.what_doubtful,
                                 place_wording("window", wording_keep(t->arena, t->window)),
                                 place_wording("cause", cause_label(t->arena, first->found.cause)),
                                 place_quantity("share", first->saving_share, UNIT_RATIO)),
                         0);
}

static struct diagnosis_cause unnamed(struct cause_words *t, double share)
{
    return nothing_found(t, ROOT_UNKNOWN, &diagnosis_text.do_unnamed,
                         WORDING(t->arena, &diagnosis_text.what_unnamed,
                                 place_wording("window", wording_keep(t->arena, t->window)),
                                 place_quantity("share", share, UNIT_RATIO)),
                         0);
}

/* Nothing tells how fast the device's kernels could be. */
static struct diagnosis_cause no_roof(struct cause_words *t)
{
    return nothing_found(t, ROOT_UNKNOWN, &diagnosis_text.do_no_roof,
                         WORDING(t->arena, &diagnosis_text.what_no_roof,
                                 place_wording("window", wording_keep(t->arena, t->window))),
                         0);
}

static struct diagnosis_cause too_few(struct cause_words *t)
{
    return nothing_found(t, ROOT_UNKNOWN, &diagnosis_text.do_few,
                         WORDING(t->arena, &diagnosis_text.what_few,
                                 place_wording("window", wording_keep(t->arena, t->window))),
                         0);
}

static struct diagnosis_cause unjudged(struct cause_words *t, enum kernel_family family,
                                       double share)
{
    return nothing_found(t, ROOT_UNKNOWN, &diagnosis_text.do_unjudged,
                         WORDING(t->arena, &diagnosis_text.what_unjudged,
                                 place_wording("window", wording_keep(t->arena, t->window)),
                                 place_wording("class", cause_class_label(t->arena, family)),
                                 place_quantity("share", share, UNIT_RATIO)),
                         0);
}

static bool is_without_tensor(const struct root_finder *f, size_t i)
{
    return f->a->tasks.at[i].is_simt;
}

static bool is_product(const struct device_task *t)
{
    return t->class == TASK_COMPUTE &&
           (t->family == FAMILY_GEMM_TENSOR || t->family == FAMILY_GEMM_SIMT);
}

/* The next product on a task's stream, in a direction, with nothing but small kernels between. */
static bool has_product(const struct device_tasks *tasks, size_t i, int step)
{
    size_t at = i;

    for (int k = 0; k < LIMIT_ATTENTION_PARTS; k++) {
        at += (size_t)step; /* wraps below 0 */
        if (at >= tasks->n)
            return false;
        const struct device_task *t = &tasks->at[at];
        if (t->stream == tasks->at[i].stream && is_product(t))
            return true;
    }
    return false;
}

/* A softmax between two products is attention by hand. */
static bool is_scores(const struct root_finder *f, size_t i)
{
    const struct device_task *t = &f->a->tasks.at[i];
    char buf[NAME_TOKENS_MOST];

    if (t->class != TASK_COMPUTE || t->family != FAMILY_REDUCE)
        return false;
    struct str name = name_tokens_lower(capture_text(f->cap, f->cap->slices.name[t->slice]), buf);
    return name_tokens_any(name, "softmax") && !name_tokens_any(name, "logsoftmax log_softmax") &&
           has_product(&f->a->tasks, i, 1) && has_product(&f->a->tasks, i, -1);
}

/* Kernels whose name alone tells their kind, and which no library made: whether they are good ones
 * cannot be seen. */
static bool is_hand_written(const struct root_finder *f, size_t i)
{
    static const char libraries[] =
        "cutlass cublas cudnn cask nvjet xmma scudnn ampere_ volta_ turing_ hopper_ maxwell_ sm50_ "
        "sm52_ sm60_ sm70_ sm75_ sm80_ sm86_ sm89_ sm90_ sm100_ cijk_ rocblas hipblas miopen igemm "
        "ck_tile cub:: thrust:: at::native flash fmha triton_ cufft regular_fft vector_fft "
        "cusparse "
        "cusolver magma rocfft tensorrt trt_ gemv gemmk1 splitk";
    const struct device_task *t = &f->a->tasks.at[i];
    char buf[NAME_TOKENS_MOST];

    if (t->class != TASK_COMPUTE || t->family == FAMILY_OTHER)
        return false;
    struct str name = name_tokens_lower(capture_text(f->cap, f->cap->slices.name[t->slice]), buf);
    return !name_tokens_any(name, libraries);
}

/* Share of the time in tasks that `picks` wants. */
static double share_of_tasks(const struct cause_words *t,
                             bool (*picks)(const struct root_finder *f, size_t task))
{
    const struct device_tasks *tasks = &t->f.a->tasks;
    nanos sum = 0;

    for (size_t i = 0; i < tasks->n; i++)
        if (root_counts_step(&t->f, tasks->at[i].step) && picks(&t->f, i))
            sum = nanos_add(sum, tasks->at[i].end - tasks->at[i].begin);
    return num_share((double)sum, (double)t->f.window);
}

static double kernels_share(const struct root_finder *f)
{
    nanos sum = 0;

    for (int i = ACCOUNT_COMPUTE; i < ACCOUNT_COMM; i++)
        sum = nanos_add(sum, f->by[i]);
    return num_share((double)sum, (double)f->window);
}

/* The cause that the verdict names is not always the one that saves most. */
struct wording cause_why_first(struct cause_words *t, const struct diagnosis_cause *first)
{
    const struct diagnosis_cause *most = NULL;

    for (size_t i = 1; i < t->d->n_causes; i++) {
        const struct diagnosis_cause *c = &t->d->causes[i];
        if (first->rank == 1 && c->base != BASE_RUN && first->base != BASE_RUN &&
            c->saving > first->saving + first->saving / SAVES_MORE &&
            (most == NULL || c->saving > most->saving))
            most = c;
    }
    if (most == NULL)
        return (struct wording){0};
    return WORDING(t->arena,
                   most->confidence < first->confidence ? &diagnosis_text.first_surer
                                                        : &diagnosis_text.first_other,
                   place_wording("other", cause_label(t->arena, most->found.cause)),
                   place_quantity("saving", (double)most->saving, UNIT_NS),
                   place_wording("confidence",
                                 wording_keep(t->arena, wording_plain(str_of(
                                                            confidence_name(most->confidence))))));
}

/* Nothing saves enough, or nobody would believe it. */
struct diagnosis_cause cause_none(struct cause_words *t, bool is_doubtful)
{
    struct root_shares shares = root_shares_of(&t->f);
    double most = ROOT_NOT_HEALTHY / 100.0;
    bool is_fine = shares.comm < most && shares.copies < most && shares.idle < most;

    if (!is_fine)
        return unknown(t);
    if (is_doubtful)
        return doubtful(t);
    if (t->f.w->device == NULL)
        return no_roof(t);
    /* The device is busy, but with kernels that nobody could judge: no bound, and no health. */
    double strange = num_share((double)t->f.by[FAMILY_OTHER], (double)t->f.window);
    if (t->f.framework == FRAMEWORK_NATIVE)
        strange += share_of_tasks(t, is_hand_written);
    if (strange >= most)
        return unnamed(t, strange);
    if (kernels_share(&t->f) < LEAST_KERNELS / 100.0)
        return unknown(t);
    double simt = share_of_tasks(t, is_without_tensor), attention = share_of_tasks(t, is_scores);
    if (simt >= most || attention >= most)
        return unjudged(t, simt >= attention ? FAMILY_GEMM_SIMT : FAMILY_ATTENTION,
                        simt >= attention ? simt : attention);
    struct diagnosis_cause fine = healthy(t);
    return fine.confidence == CONFIDENCE_UNKNOWN ? too_few(t) : fine;
}
