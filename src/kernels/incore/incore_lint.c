/*
 * The rules of MindStudio Insight, checked block by block and event by event.
 */
#include "kernels/incore/incore_lint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/formats/event_json.h"
#include "base/tables/hash.h"
#include "base/text/num.h"

enum {
    MIB = 1 << 20,
    MOST_BIN = 500 * 1000 * 1000,
    MOST_JSON = 1000 * 1000 * 1000,
    MOST_TABLE = 100 * 1000 * 1000,
};

void incore_lint_init(struct incore_lint *l)
{
    *l = (struct incore_lint){0};
    arena_init(&l->arena);
}

void incore_lint_fini(struct incore_lint *l)
{
    vec_free(&l->problems);
    vec_free(&l->rules);
    arena_free(&l->arena);
}

static uint64_t count_rule(struct incore_lint *l, const char *rule)
{
    for (size_t i = 0; i < l->rules.n; i++)
        if (strcmp(l->rules.at[i].rule, rule) == 0)
            return ++l->rules.at[i].count;
    vec_push(&l->rules, ((struct lint_rule){rule, 1}));
    return 1;
}

__attribute__((format(printf, 5, 6))) static void report(struct incore_lint *l,
                                                         enum lint_weight weight, const char *rule,
                                                         uint64_t offset, const char *format, ...)
{
    char text[256];
    va_list args;

    *(weight == LINT_REFUSED ? &l->refused : &l->unseen) += 1;
    if (count_rule(l, rule) > LINT_KEPT)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    vec_push(&l->problems,
             ((struct lint_problem){rule, weight, offset, arena_cstr(&l->arena, str_of(text))}));
}

/* ---- events ---- */

/* Something of an event is not shown. */
#define UNSEEN(t, e, rule, ...)                                                                    \
    report((t)->l, LINT_UNSEEN, rule, (t)->offset + (e)->at, __VA_ARGS__)

/* A slice on its row, for traces that promise not to overlap. */
struct span {
    uint64_t row;
    nanos begin, end;
    uint64_t offset;
};

struct trace {
    struct incore_lint *l;
    struct json json;
    uint64_t offset;   /* of the text in the file */
    bool is_file;      /* a trace.json, where numbers name lanes too */
    bool has_rows;     /* lanes are named: one slice at a time on each */
    struct hash pairs; /* hash of an id -> 1 begun, 2 ended */
    VEC_OF(struct span) spans;
};

static void check_lane(struct trace *t, const struct event_json *e)
{
    const struct event_value *ids[] = {&e->member[EVENT_PID], &e->member[EVENT_TID]};

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        bool is_number = ids[i]->token == JSON_NUMBER && t->is_file;
        if (!is_number && (ids[i]->token != JSON_STRING || ids[i]->text.n == 0))
            UNSEEN(t, e, "event-lane", "the %s is not a string, or empty", i == 0 ? "pid" : "tid");
    }
}

/* `state`: 0 not seen, 1 begun, 2 ended. An id serves one pair: viewers join by id alone. */
static void check_pair(struct trace *t, const struct event_json *e)
{
    bool begins = e->member[EVENT_PH].text.at[0] == 'B';
    struct str name = e->member[EVENT_NAME].text, id = e->member[EVENT_ID].text;
    uint32_t state = 0;

    if (!str_equal(name, S("SET_FLAG")) && !str_equal(name, S("WAIT_FLAG")) &&
        !str_equal(name, S("set_event")) && !str_equal(name, S("wait_event"))) {
        UNSEEN(t, e, "flag-name", "B and E are shown for flags and events only, not for '%.*s'",
               STR_ARGS(str_part(name, 0, 64)));
        return;
    }
    if (e->member[EVENT_ID].token != JSON_STRING || id.n == 0) {
        UNSEEN(t, e, "flag-id", "no id to match it with its end");
        return;
    }
    uint64_t key = hash_mix(hash_bytes(id), hash_bytes(name));
    hash_get(&t->pairs, key, &state);
    if (begins && state != 0)
        UNSEEN(t, e, "flag-id", "a second begin with the id '%.*s'", STR_ARGS(str_part(id, 0, 64)));
    if (!begins && state != 1)
        UNSEEN(t, e, "flag-id", "an end without a begin: id '%.*s'", STR_ARGS(str_part(id, 0, 64)));
    hash_put(&t->pairs, key, begins ? 1 : 2);
}

static void check_times(struct trace *t, const struct event_json *e, char ph)
{
    nanos ts = 0, dur = 0;

    if (e->member[EVENT_TS].token != JSON_NUMBER || !num_us(e->member[EVENT_TS].text, &ts)) {
        UNSEEN(t, e, "event-time", "the ts is not a number");
        return;
    }
    if (ph != 'X')
        return;
    if (e->member[EVENT_DUR].token != JSON_NUMBER || !num_us(e->member[EVENT_DUR].text, &dur) ||
        dur < 0) {
        UNSEEN(t, e, "event-time", "the dur is not a number, or negative");
        return;
    }
    uint64_t row =
        hash_mix(hash_bytes(e->member[EVENT_PID].text), hash_bytes(e->member[EVENT_TID].text));
    vec_push(&t->spans, ((struct span){row, ts, nanos_add(ts, dur), t->offset + e->at}));
}

static void check_event(struct trace *t, const struct event_json *e)
{
    uint64_t size = e->end - e->at;
    struct str ph = e->member[EVENT_PH].token == JSON_STRING ? e->member[EVENT_PH].text : S("");

    t->l->events++;
    if (size >= MIB)
        report(t->l, LINT_REFUSED, "event-size", t->offset + e->at, "an event of %llu bytes",
               (unsigned long long)size);
    if (ph.n != 1 || memchr("XBEstMC", ph.at[0], 7) == NULL) {
        /* "f" ends an arrow elsewhere, and a cleaned trace is for such viewers */
        if (ph.n == 0)
            report(t->l, LINT_REFUSED, "event-ph", t->offset + e->at, "no ph");
        else if (!t->has_rows || !str_equal(ph, S("f")))
            UNSEEN(t, e, "event-ph", "unknown ph, ignored: '%.*s'", STR_ARGS(str_part(ph, 0, 16)));
        return;
    }
    if (ph.at[0] == 'M') {
        bool is_row = str_equal(e->member[EVENT_NAME].text, S("thread_name")) &&
                      e->member[EVENT_TID].token == JSON_STRING;
        t->has_rows = t->has_rows || is_row;
        return;
    }
    check_times(t, e, ph.at[0]);
    if (ph.at[0] == 'X' || ph.at[0] == 'B')
        check_lane(t, e);
    if (ph.at[0] == 'B' || ph.at[0] == 'E')
        check_pair(t, e);
}

ORDER_BY(by_row, struct span,
         ORDER(x->row, y->row) ?: ORDER(x->begin, y->begin) ?: ORDER(x->offset, y->offset));

/* On named rows one slice ends before the next begins. */
static void check_rows(struct trace *t)
{
    nanos last = 0;

    if (!t->has_rows || t->spans.n == 0)
        return;
    qsort(t->spans.at, t->spans.n, sizeof(*t->spans.at), by_row);
    for (size_t i = 0; i < t->spans.n; i++) {
        const struct span *s = &t->spans.at[i];
        bool is_first = i == 0 || s[-1].row != s->row;
        if (!is_first && s->begin < last)
            report(t->l, LINT_UNSEEN, "lane-overlap", s->offset,
                   "it begins while another slice of its row runs");
        last = is_first || s->end > last ? s->end : last;
    }
}

/* ---- a trace ---- */

static void not_json(struct trace *t)
{
    const struct json *j = &t->json;
    bool is_error = j->token == JSON_ERROR;

    report(t->l, LINT_REFUSED, "trace-json", t->offset + (is_error ? j->error_at : json_offset(j)),
           "%s", is_error ? j->error : "the trace ends too early");
}

static void walk_events(struct trace *t)
{
    struct json *j = &t->json;
    struct event_json e;
    struct str key;

    while (event_json_next(j, NULL, &e))
        check_event(t, &e);
    if (j->token != JSON_ARRAY_END) {
        not_json(t);
        return;
    }
    while (json_key(j, &key))
        continue;
    if (j->token != JSON_OBJECT_END || json_next(j) != JSON_END)
        not_json(t);
}

static void check_trace(struct incore_lint *l, struct str text, uint64_t offset, bool is_file)
{
    struct trace *t = mem_grow(NULL, sizeof(*t), 1);
    size_t word = str_find(str_part(text, 0, MIB), S("\"traceEvents\""));

    memset(t, 0, sizeof(*t));
    t->l = l;
    t->offset = offset;
    t->is_file = is_file;
    json_open(&t->json, text, JSON_STRICT);
    if (word >= text.n || word >= MIB)
        report(l, LINT_REFUSED, "trace-events", offset, "no \"traceEvents\" in the first MiB");
    else if (event_json_enter(&t->json))
        walk_events(t);
    else if (t->json.token == JSON_ERROR || t->json.token == JSON_END)
        not_json(t);
    else
        report(l, LINT_REFUSED, "trace-events", offset, "no array of events");
    check_rows(t);
    hash_free(&t->pairs);
    vec_free(&t->spans);
    mem_free(t);
}

/* ---- the container ---- */

static void check_block(struct incore_lint *l, const struct bin_block *block)
{
    uint64_t offset = block->offset;

    if (block->content == 0)
        report(l, LINT_REFUSED, "empty-block", offset, "a block without content");
    if (l->blocks == 1 && block->version != BIN_MARK)
        report(l, LINT_REFUSED, "first-version", offset + 10,
               "the first block has version 0x%02x, not 0x5a", block->version);
    if (block->counts_path)
        report(l, LINT_REFUSED, "source-counts-path", offset,
               "the size of a SOURCE block counts its path");
    if (block->content % 4 != 0)
        report(l, LINT_UNSEEN, "padding-length", offset, "%llu bytes are no whole words",
               (unsigned long long)block->content);
    if (block->type == BIN_TRACE)
        check_trace(l, block->payload, offset + BIN_HEADER, false);
    else if (block->type == BIN_API_FILE || block->type == BIN_API_INSTR) {
        struct json j;
        if (block->payload.n > MOST_TABLE)
            report(l, LINT_UNSEEN, "table-size", offset, "over 100 MB");
        json_open(&j, block->payload, JSON_STRICT);
        if (json_skip(&j) && json_next(&j) == JSON_END)
            return;
        bool is_error = j.token == JSON_ERROR;
        report(l, LINT_UNSEEN, "table-json",
               offset + BIN_HEADER + (is_error ? j.error_at : block->payload.n), "%s",
               is_error ? j.error : "the text ends too early");
    }
}

/* `places`: offset in the 12-byte header of the byte at fault. */
static void check_blocks(struct incore_lint *l, struct str text)
{
    static const char *const rules[] = {
        [BIN_BAD_MARK] = "block-mark",
        [BIN_BAD_SIZE] = "block-size",
        [BIN_BAD_PADDING] = "block-padding",
        [BIN_BAD_SOURCE] = "source-size",
    };
    static const int places[] = {[BIN_BAD_MARK] = 11, [BIN_BAD_PADDING] = 9, [BIN_BAD_SOURCE] = 0};
    bool has_data = false;
    struct bin_blocks b;
    struct bin_block block;
    char words[BIN_FAULT_TEXT];

    bin_blocks_open(&b, text);
    while (bin_blocks_next(&b, &block)) {
        l->blocks++;
        has_data = has_data || block.type == BIN_TRACE || block.type == BIN_BASE_INFO;
        check_block(l, &block);
    }
    if (b.fault != BIN_FINE) {
        struct str fault = {words, bin_blocks_fault(&b, words)};
        report(l, LINT_REFUSED, rules[b.fault], b.at + (uint64_t)places[b.fault], "%.*s",
               STR_ARGS(fault));
    } else if (!has_data) {
        report(l, LINT_REFUSED, "no-trace", 0, "neither a TRACE block nor base info");
    }
}

void incore_lint_check(struct incore_lint *l, struct str text, struct lint_file file)
{
    bool is_json = text.n > 0 && text.at[0] == '{';
    struct str top = str_part(text, 0, is_json ? str_find_char(text, '[') : 0);

    if (file.size > (is_json ? MOST_JSON : MOST_BIN))
        report(l, LINT_REFUSED, "file-size", 0, "over %s", is_json ? "1 GB" : "500 MB");
    if (file.others_may_write)
        report(l, LINT_REFUSED, "file-access", 0, "others may write the file");
    if (!is_json) {
        check_blocks(l, text);
        return;
    }
    if (!str_contains(top, S("profilingType")) || !str_contains(top, S("\"op\"")))
        report(l, LINT_REFUSED, "json-type", 0,
               "profilingType and op must come before the first bracket");
    check_trace(l, text, 0, true);
}

static const char *weight_name(enum lint_weight weight)
{
    return weight == LINT_REFUSED ? "refused" : "unseen";
}

static const struct field problem_fields[] = {
    FIELD(struct lint_problem, rule, "rule"),
    FIELD_OF_ENUM(struct lint_problem, weight, "weight", weight_name, 2),
    FIELD(struct lint_problem, offset, "byte"),
    FIELD(struct lint_problem, text, "text"),
};
static const struct record problem_record = RECORD(struct lint_problem, problem_fields);

static struct field_value opens(const void *record, const struct record_env *env)
{
    (void)env;
    return value_bool(incore_lint_opens(record));
}

static const struct field lint_fields[] = {
    FIELD(struct incore_lint, path, "path"),
    FIELD_CALC(FIELD_BOOL, "opens", opens),
    FIELD(struct incore_lint, blocks, "blocks"),
    FIELD(struct incore_lint, events, "events"),
    FIELD(struct incore_lint, refused, "refused"),
    FIELD(struct incore_lint, unseen, "unseen"),
    FIELD_LIST(struct incore_lint, problems.at, problems.n, "problems", &problem_record),
};
static const struct record lint_record = RECORD(struct incore_lint, lint_fields);

const struct schema incore_lint_schema = {
    .name = "strata.incore-lint/1",
    .title = "whether MindStudio Insight opens a file, and which rules it breaks",
    .record = &lint_record,
    .is_list = true,
};
