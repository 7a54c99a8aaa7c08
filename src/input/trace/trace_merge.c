/* Pieces put together: numbers of the capture, edges, samples, troubles. */
#include "input/trace/trace_inside.h"

#include "base/tables/hash.h"
#include "input/ascend/kernel_index.h"
#include "input/trace/step_name.h"
#include "input/trace/trace_ascend.h"
#include "input/trace/trace_links.h"
#include "input/trace/trace_rows.h"
#include "input/trace/trace_text.h"

void trace_merge_init(struct trace_merge *m, const struct input_file *in, struct capture *cap,
                      enum trace_dialect dialect)
{
    *m = (struct trace_merge){.in = in, .cap = cap, .dialect = dialect, .first = cap->slices.n};
    m->lanes.dialect = dialect;
    m->shift = INT64_MAX;
    arena_init(&m->scratch);
}

void trace_merge_fini(struct trace_merge *m)
{
    trace_lanes_fini(&m->lanes);
    trace_flows_fini(&m->flows);
    vec_free(&m->steps);
    vec_free(&m->open);
    vec_free(&m->series_uses);
    hash_free(&m->series_ids);
    arena_free(&m->scratch);
}

void trace_merge_trouble(struct trace_merge *m, enum trace_trouble kind, uint64_t offset)
{
    struct trace_tally *t = &m->troubles[kind];

    if (t->count++ == 0)
        t->first = offset;
}

static void add_tally(struct trace_tally *to, uint64_t count, uint64_t first)
{
    if (to->count == 0)
        to->first = first;
    to->count += count;
}

/* Copies a text that outlives its piece; false when there is no room. */
static bool merge_keep(struct trace_chunk *c, struct str *text)
{
    if (text->n > TRACE_KEPT - c->n_kept)
        return false;
    if (c->kept == NULL)
        c->kept = mem_grow(NULL, 1, TRACE_KEPT);
    if (text->n > 0)
        memcpy(c->kept + c->n_kept, text->at, text->n);
    text->at = c->kept + c->n_kept;
    c->n_kept += text->n;
    return true;
}

enum { EXPECTED = 16 }; /* texts whose places are fetched ahead */

static void intern_some(struct trace_merge *m, const struct trace_string *strings, size_t n,
                        strid *ids)
{
    struct arena_mark mark = arena_mark(&m->scratch);
    struct str texts[EXPECTED];
    uint32_t expected[EXPECTED];

    for (size_t i = 0; i < n; i++) {
        texts[i] = trace_text(strings[i].raw, (enum trace_form)strings[i].form, &m->scratch);
        expected[i] = intern_expect(&m->cap->strings, texts[i]);
    }
    for (size_t i = 0; i < n; i++)
        ids[i] = intern_put_expected(&m->cap->strings, texts[i], expected[i]);
    arena_rewind(&m->scratch, mark);
}

/* Those that are new. The numbers stay when all texts can be kept. */
static void map_strings(struct trace_merge *m, struct trace_chunk *c)
{
    struct trace_string *strings = c->strings.at.at;
    size_t first = c->map.strings.n, n = c->strings.at.n;

    c->is_merged = true;
    vec_reserve(&c->map.strings, n);
    for (size_t i = first; i < n; i += EXPECTED)
        intern_some(m, strings + i, n - i < EXPECTED ? n - i : EXPECTED, c->map.strings.at + i);
    for (size_t i = first; i < n; i++)
        c->is_merged = merge_keep(c, &strings[i].raw) && c->is_merged;
    c->map.strings.n = n;
}

static strid find_key(const struct trace_merge *m, const struct trace_chunk *c, strid key)
{
    struct trace_arg arg = trace_argument(m->dialect, c->strings.at.at[key].raw);

    switch (arg.action) {
    case ARG_KEY:
    case ARG_CORE:
    case ARG_TASK:
    case ARG_WAIT:
        return capture_key(m->cap, arg.key);
    case ARG_LINK:
        return capture_key(m->cap, KEY_LINK);
    default:
        return key != 0 ? c->map.strings.at[key] : capture_key(m->cap, KEY_CAT);
    }
}

/* The capture's name for an argument: some have a well-known one. */
static strid map_key(const struct trace_merge *m, struct trace_chunk *c, strid key)
{
    if (c->map.keys.at[key] == 0)
        c->map.keys.at[key] = find_key(m, c, key);
    return c->map.keys.at[key];
}

static attr_run map_set(struct trace_merge *m, struct trace_chunk *c, attr_run run)
{
    struct attr list[TRACE_ARGS + 1], attr;
    struct attr_walk walk = attrs_walk(&c->sets, run);
    size_t n = 0;

    while (attrs_next(&walk, &attr)) {
        if (attr.type == ATTR_TEXT)
            attr.bits = c->map.strings.at[attr.text];
        attr.key = map_key(m, c, attr.key);
        list[n++] = attr;
    }
    return attrs_set(&m->cap->attrs, list, n);
}

static void merge_add_slice(struct trace_merge *m, const struct trace_row *row)
{
    struct slices *s = &m->cap->slices;
    size_t i = s->n++;

    s->begin[i] = row->begin;
    s->dur[i] = row->dur;
    s->lane[i] = row->lane;
    s->name[i] = row->name;
    s->set[i] = row->set;
    s->own[i] = row->own;
    s->kind[i] = row->hint;
    m->lanes.at.at[row->lane].hints |= (uint32_t)1 << row->hint;
    if (row->hint == HINT_STEP)
        vec_push(&m->steps, (uint32_t)i);
}

/* A row in the capture's numbers. */
static struct trace_row map_row(struct trace_merge *m, struct trace_chunk *c,
                                const struct trace_row *from)
{
    struct trace_row row = *from;

    row.lane = c->map.lanes.at[row.lane];
    row.name = c->map.strings.at[row.name];
    if (row.set != 0 && c->map.sets.at[row.set] == 0)
        c->map.sets.at[row.set] = map_set(m, c, row.set);
    row.set = row.set != 0 ? c->map.sets.at[row.set] : 0;
    if (row.own != 0)
        row.own = attrs_copy_own(&m->cap->attrs, &c->owns, row.own, &c->map.own);
    return row;
}

static void open_edge(struct trace_merge *m, const struct trace_row *row)
{
    struct trace_lane *lane = &m->lanes.at.at[row->lane];
    size_t i = m->free_open;

    if (i > 0) {
        m->free_open = m->open.at[i - 1].below;
    } else {
        vec_reserve(&m->open, m->open.n + 1);
        i = ++m->open.n;
    }
    m->open.at[i - 1] = (struct open_edge){*row, lane->open};
    lane->open = (uint32_t)i;
    m->open_left++;
}

/* The end of the innermost open event of its lane. */
static void close_edge(struct trace_merge *m, const struct trace_row *end)
{
    struct trace_lane *lane = &m->lanes.at.at[end->lane];

    if (lane->open == 0 || end->begin < m->open.at[lane->open - 1].row.begin) {
        trace_merge_trouble(m, TROUBLE_UNPAIRED, TRACE_NOWHERE);
        return;
    }
    size_t i = lane->open;
    struct open_edge *edge = &m->open.at[i - 1];
    edge->row.dur = nanos_sub(end->begin, edge->row.begin);
    lane->open = edge->below;
    edge->below = (uint32_t)m->free_open;
    m->free_open = i;
    m->open_left--;
    merge_add_slice(m, &edge->row);
}

static void add_rows(struct trace_merge *m, struct trace_chunk *c)
{
    /* Room for the numbers of keys and sets, which are asked for one by one. */
    vec_reserve(&c->map.keys, c->strings.at.n);
    memset(c->map.keys.at + c->map.keys.n, 0,
           (c->strings.at.n - c->map.keys.n) * sizeof(*c->map.keys.at));
    c->map.keys.n = c->strings.at.n;
    vec_reserve(&c->map.sets, c->sets.bytes.n);
    memset(c->map.sets.at + c->map.sets.n, 0,
           (c->sets.bytes.n - c->map.sets.n) * sizeof(*c->map.sets.at));
    c->map.sets.n = c->sets.bytes.n;
    for (size_t i = 0; i < c->owns.columns.n; i++)
        map_key(m, c, c->owns.columns.at[i].key);
    c->map.own.strings = c->map.keys.at;
    slices_reserve(&m->cap->slices, m->cap->slices.n + c->rows.n);
    for (size_t i = 0; i < c->rows.n; i++) {
        struct trace_row row = map_row(m, c, &c->rows.at[i]);
        if (row.edge == 0)
            merge_add_slice(m, &row);
        else if (row.edge == 'B')
            open_edge(m, &row);
        else
            close_edge(m, &row);
    }
}

static void add_ends(struct trace_merge *m, const struct trace_chunk *c)
{
    uint32_t cats[2][256];

    for (size_t i = 0; i < c->flow_cats.n; i++) {
        enum flow_kind kind = trace_flow_kind(c->strings.at.at[c->flow_cats.at[i]].raw);
        for (int is_text = 0; is_text < 2; is_text++)
            cats[is_text][i] = trace_flows_cat(&m->flows, c->map.strings.at[c->flow_cats.at[i]],
                                               is_text == 1, kind);
    }
    for (size_t i = 0; i < c->ends.n; i++) {
        const struct trace_end *e = &c->ends.at[i];
        struct flow_cat *cat = &m->flows.cats.at[cats[e->is_text][e->cat]];
        struct flow_end end = {.id = e->id, .at = e->at, .lane = c->map.lanes.at[e->lane]};
        if (e->is_start)
            vec_push(&cat->starts, end);
        else
            vec_push(&cat->finishes, end);
    }
}

static void add_samples(struct trace_merge *m, const struct trace_chunk *c)
{
    const strid *strings = c->map.strings.at;

    for (size_t i = 0; i < c->samples.n; i++) {
        const struct trace_sample *s = &c->samples.at[i];
        strid name = strings[s->name], unit = strings[s->unit];
        uint32_t lane = c->map.lanes.at[s->lane], fresh = (uint32_t)m->cap->series.n;
        uint64_t key = hash_mix((uint64_t)name << 32 | unit, m->lanes.at.at[lane].process);
        uint32_t id = hash_add(&m->series_ids, key, fresh);
        if (id == fresh) {
            vec_push(&m->cap->series, ((struct series){.name = name, .unit = unit}));
            vec_push(&m->series_uses, ((struct series_use){lane, id}));
        }
        capture_sample(m->cap, id, s->at, s->value);
    }
}

static void add_metas(struct trace_merge *m, const struct trace_chunk *c)
{
    for (size_t i = 0; i < c->metas.n; i++) {
        const struct trace_meta *meta = &c->metas.at[i];
        struct trace_lane *lane = &m->lanes.at.at[c->map.lanes.at[meta->lane]];
        struct trace_process *process = &m->lanes.processes.at[lane->process];
        strid text = c->map.strings.at[meta->text];
        if (meta->kind == META_THREAD_NAME)
            lane->name = text;
        else if (meta->kind == META_ROW_OF)
            lane->row_of = text;
        else if (meta->kind == META_PROCESS_NAME)
            process->name = text;
        else
            process->labels = text;
    }
}

void trace_merge_add(struct trace_merge *m, struct trace_chunk *c)
{
    map_strings(m, c);
    const strid *strings = c->map.strings.at;
    for (size_t i = c->map.lanes.n; i < c->lanes.n; i++)
        vec_push(&c->map.lanes, trace_lanes_get(&m->lanes, strings[c->lanes.at[i].pid],
                                                strings[c->lanes.at[i].tid]));
    add_rows(m, c);
    add_ends(m, c);
    add_samples(m, c);
    add_metas(m, c);
    m->events += c->events;
    m->shift = c->shift < m->shift ? c->shift : m->shift;
    m->event_bytes += c->stop - c->start - c->damage.bytes;
    damage_join(&m->damage, &c->damage);
    for (size_t i = 0; i < TROUBLE_COUNT; i++)
        if (c->troubles[i].count > 0)
            add_tally(&m->troubles[i], c->troubles[i].count, c->troubles[i].first);
    for (size_t i = 0; i < JSON_RECOVERIES; i++)
        if (c->recovered[i].count > 0)
            add_tally(&m->recovered[i], c->recovered[i].count, c->recovered[i].first);
}

/* Lanes and kinds of all slices, now that every row has its class. */
static void settle_slices(struct trace_merge *m, const lane_id *lanes)
{
    uint8_t kinds[CLASS_COUNT][HINT_COUNT];
    struct slices *s = &m->cap->slices;

    for (int class = 0; class < CLASS_COUNT; class ++)
        for (int hint = 0; hint < HINT_COUNT; hint++)
            kinds[class][hint] =
                (uint8_t)trace_kind((enum trace_class) class, (enum trace_hint)hint);
    for (size_t i = m->first; i < s->n; i++) {
        const struct trace_lane *lane = &m->lanes.at.at[s->lane[i]];
        s->kind[i] = kinds[lane->class][s->kind[i]];
        s->lane[i] = lanes[s->lane[i]];
    }
}

/* Arrows have their events' own times, cut to microseconds; slices have exact ones, which begin at
 * most that much later. */
static void shift_ends(struct trace_merge *m)
{
    enum { CUT = 999 };

    for (size_t c = 0; c < m->flows.cats.n && m->shift != INT64_MAX; c++) {
        struct flow_cat *cat = &m->flows.cats.at[c];
        for (size_t i = 0; i < cat->starts.n; i++)
            cat->starts.at[i].at = nanos_add(nanos_add(cat->starts.at[i].at, m->shift), CUT);
        for (size_t i = 0; i < cat->finishes.n; i++)
            cat->finishes.at[i].at = nanos_add(nanos_add(cat->finishes.at[i].at, m->shift), CUT);
    }
}

/* Whether a kernel table came first that lists communication: older ones of msprof do not. */
static bool table_has_comm(const struct trace_merge *m)
{
    const struct slices *s = &m->cap->slices;
    bool found = false;

    for (size_t i = 0; i < m->first && m->in->kernels != NULL && !found; i++)
        found = slice_is_comm((enum slice_kind)s->kind[i]);
    return found;
}

/* With a kernel table: the timeline's kernels are those of the table, but for collectives that the
 * table does not list. Must come before settle_slices(), as arrows know the timeline's own rows. */
static void join_kernels(struct trace_merge *m, bool has_comm)
{
    struct slices *s = &m->cap->slices;
    size_t kept = m->first, step = 0;
    uint64_t unmatched = 0, kernels = 0;

    for (size_t i = m->first; i < s->n; i++) {
        const struct trace_lane *lane = &m->lanes.at.at[s->lane[i]];
        uint32_t slice;
        enum trace_hint hint = (enum trace_hint)s->kind[i];
        /* The table has no copies. */
        bool is_kernel = hint != HINT_TASK_COPY && (has_comm || lane->class != CLASS_GROUP) &&
                         slice_is_kernel(trace_kind(lane->class, hint));
        kernels += is_kernel;
        if (is_kernel) {
            if (kernel_index_find(m->in->kernels, s->name[i], s->begin[i], &slice))
                vec_push(&m->flows.aliases, ((struct flow_alias){s->begin[i], s->lane[i], slice}));
            else
                unmatched++;
            continue;
        }
        while (step < m->steps.n && m->steps.at[step] < i)
            step++;
        if (step < m->steps.n && m->steps.at[step] == i)
            m->steps.at[step++] = (uint32_t)kept;
        slices_move(s, kept++, i);
    }
    s->n = kept;
    capture_told(m->cap, m->in->path, kernels);
    for (uint64_t i = 0; i < unmatched; i++)
        diag_add(m->in->diag, SEV_NOTE, "trace.unmatched-kernel",
                 (struct where){.path = m->in->path},
                 "kernel skipped: it is in the timeline but not in the kernel table");
}

static void add_marks(struct trace_merge *m)
{
    struct capture *cap = m->cap;

    for (size_t k = 0; k < m->steps.n; k++) {
        size_t i = m->steps.at[k];
        struct mark mark = {.name = cap->slices.name[i],
                            .begin = cap->slices.begin[i],
                            .end = slices_end(&cap->slices, i)};
        if (cap->slices.kind[i] == SLICE_STEP &&
            cap->lanes.at[cap->slices.lane[i]].key.kind != LANE_OTHER &&
            step_name_parse(capture_text(cap, mark.name), &mark.source, &mark.number))
            vec_push(&cap->marks, mark);
    }
}

static const struct {
    enum severity severity;
    bool is_lost;
    const char *code, *text;
} troubles[TROUBLE_COUNT] = {
    [TROUBLE_DAMAGED] = {SEV_LOSS, true, "trace.damaged-event", "damaged event skipped"},
    [TROUBLE_NOT_AN_EVENT] = {SEV_LOSS, true, "trace.not-an-event",
                              "an element of the event list is not an object"},
    [TROUBLE_NO_PHASE] = {SEV_LOSS, true, "trace.no-phase", "event skipped: no phase"},
    [TROUBLE_NO_TIME] = {SEV_LOSS, true, "trace.no-time", "event skipped: no start time"},
    [TROUBLE_NO_DURATION] = {SEV_LOSS, true, "trace.no-duration", "event skipped: no duration"},
    [TROUBLE_BAD_DURATION] = {SEV_LOSS, true, "trace.bad-duration",
                              "event skipped: duration is negative or over 7 days"},
    [TROUBLE_UNKNOWN_PHASE] = {SEV_WARN, false, "trace.unknown-phase",
                               "event skipped: unknown phase"},
    [TROUBLE_MANY_ARGS] = {SEV_LOSS, false, "trace.many-arguments",
                           "an event has more than 64 arguments; the rest was dropped"},
    [TROUBLE_TOO_LONG] = {SEV_LOSS, true, "trace.too-long", "event skipped: too long"},
    [TROUBLE_UNPAIRED] = {SEV_LOSS, true, "trace.unpaired",
                          "begin or end event without its partner skipped"},
    [TROUBLE_TRUNCATED] = {SEV_LOSS, true, "trace.truncated",
                           "the file ends inside an event; all earlier events were read"},
    [TROUBLE_UNCLOSED] = {SEV_WARN, false, "trace.truncated",
                          "the event list is not closed; all events were read"},
    [TROUBLE_TRAILING_TEXT] = {SEV_WARN, false, "trace.trailing-text",
                               "text after the end of the trace was ignored"},
    [TROUBLE_SECOND_LIST] = {SEV_LOSS, true, "trace.second-list",
                             "the file has a second \"traceEvents\"; only the first was read"},
};

static const struct {
    const char *code, *text;
} recoveries[JSON_RECOVERIES] = {
    [JSON_CONTROL] = {"trace.control-characters",
                      "unescaped control characters in a string were replaced by U+FFFD"},
    [JSON_BAD_UTF8] = {"trace.bad-utf8", "invalid UTF-8 in a string was replaced by U+FFFD"},
    [JSON_NOT_FINITE] = {"trace.not-finite", "NaN or Infinity was read as missing"},
    [JSON_TRAILING_COMMA] = {"trace.trailing-comma", "comma before a closing bracket"},
    [JSON_MISSING_COMMA] = {"trace.missing-comma", "missing comma between two events"},
    [JSON_JOINED_ARRAYS] = {"trace.joined-arrays", "a second list of events follows the first"},
};

static void merge_report(struct trace_merge *m, enum severity severity, const char *code,
                         const char *text, const struct trace_tally *tally)
{
    struct where where = {.path = m->in->path};

    for (uint64_t i = 0; i < tally->count; i++) {
        where.byte = i == 0 && tally->first != TRACE_NOWHERE ? tally->first + 1 : 0;
        diag_add(m->in->diag, severity, code, where, "%s", text);
    }
}

void trace_merge_report(struct trace_merge *m)
{
    for (size_t i = 0; i < TROUBLE_COUNT; i++) {
        merge_report(m, troubles[i].severity, troubles[i].code, troubles[i].text, &m->troubles[i]);
        if (troubles[i].is_lost)
            m->lost += m->troubles[i].count;
    }
    for (size_t i = 0; i < JSON_RECOVERIES; i++)
        if (recoveries[i].code != NULL)
            merge_report(m, SEV_WARN, recoveries[i].code, recoveries[i].text, &m->recovered[i]);
    m->lost += damage_estimate(&m->damage, m->in->path, m->events, m->event_bytes, m->in->diag);
}

void trace_merge_next(struct trace_merge *m, const struct input_file *in)
{
    memset(m->troubles, 0, sizeof(m->troubles));
    memset(m->recovered, 0, sizeof(m->recovered));
    m->events = m->lost = m->event_bytes = 0;
    m->damage = (struct damage){0};
    m->in = in;
}

void trace_merge_finish(struct trace_merge *m)
{
    struct capture *cap = m->cap;
    struct pool *pool = m->in->options != NULL ? m->in->options->pool : NULL;

    for (uint64_t i = 0; i < m->open_left; i++)
        trace_merge_trouble(m, TROUBLE_UNPAIRED, TRACE_NOWHERE);
    bool has_table = m->in->kernels != NULL, is_ascend = m->dialect == TRACE_ASCEND;
    bool has_comm = table_has_comm(m);
    if (is_ascend)
        trace_ascend_detect(&m->lanes, cap, m->first, has_comm || m->is_own);
    lane_id *lanes = trace_lanes_resolve(&m->lanes, cap, has_table);
    if (is_ascend)
        trace_ascend_hints(&m->lanes, cap, m->first);
    if (has_table)
        join_kernels(m, has_comm);
    bool has_rows = m->dialect == TRACE_XLA || m->dialect == TRACE_ROCPROF;
    if (has_rows)
        trace_rows_hints(&m->lanes, cap, m->first);
    settle_slices(m, lanes);
    add_marks(m);
    if (is_ascend) {
        trace_ascend_marks(cap, m->first);
        if (m->lanes.is_mindspore && cap->facts.kind == 0)
            cap->facts.kind = capture_intern(cap, S("ascend_mindspore"));
        trace_ascend_compare(cap, m->first, m->in->path, m->in->diag);
    }
    for (size_t i = 0; i < m->series_uses.n; i++) {
        const struct trace_lane *lane = &m->lanes.at.at[m->series_uses.at[i].lane];
        cap->series.at[m->series_uses.at[i].id].process = m->lanes.processes.at[lane->process].name;
    }
    slices_sort_from(&cap->slices, m->first, pool);
    if (has_rows)
        trace_rows_settle(&m->lanes, cap, m->first,
                          m->in->options != NULL ? m->in->options->device : -1);
    shift_ends(m);
    trace_flows_bind(&m->flows, cap, m->first, lanes, pool);
    if (m->dialect == TRACE_KINETO || m->dialect == TRACE_XLA)
        trace_links_add(cap, m->first);
    mem_free(lanes);
}
