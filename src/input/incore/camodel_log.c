/* Lines of instruction logs into records, begins and ends into instructions. */
#include "input/incore/camodel.h"

#include <stdlib.h>

#include "base/tables/hash.h"
#include "base/text/char.h"
#include "base/text/num.h"

enum { CLOSE_ENDS = 8 }; /* ends of one run may be logged this many ticks apart */

/* ---- a line ---- */

static bool is_word(char c)
{
    return char_is_word(c) || c == '-';
}

static void log_skip_blanks(struct str *s)
{
    while (s->n > 0 && (s->at[0] == ' ' || s->at[0] == '\t'))
        *s = str_part(*s, 1, s->n);
}

static struct str take_word(struct str *s)
{
    size_t n = 0;

    while (n < s->n && is_word(s->at[n]))
        n++;
    struct str word = str_part(*s, 0, n);
    *s = str_part(*s, n, s->n);
    return word;
}

/* Of a detail; what may not stand in one ends it. */
static struct str without_blanks(struct str s, struct arena *arena)
{
    char *copy = arena_alloc(arena, s.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.at[i];
        if (!is_word(c) && (c == '\0' || strchr("[]|, :=/#\t\r", c) == NULL))
            break;
        if (c != ' ' && c != '\t' && c != '\r')
            copy[n++] = c;
    }
    return (struct str){copy, n};
}

/* The lane of a pipe word. */
static struct str log_lane_of(struct str pipe, struct str name, struct str detail)
{
    static const struct str known[] = {
        S_INIT("SCALAR"),   S_INIT("FLOWCTRL"), S_INIT("MTE1"),      S_INIT("CUBE"),
        S_INIT("FIXP"),     S_INIT("MTE2"),     S_INIT("VECTOR"),    S_INIT("MTE3"),
        S_INIT("RVECEX"),   S_INIT("RVECLP"),   S_INIT("RVECST"),    S_INIT("RVECLD"),
        S_INIT("PUSHQ"),    S_INIT("RVECSU"),   S_INIT("CACHEMISS"), S_INIT("SCALARLDST"),
        S_INIT("USERMARK"), S_INIT("EVENT"),    S_INIT("ALL"),
    };

    if (str_contains(detail, S("LPCNT")) || str_contains(detail, S("SPR:COND,")))
        return S("USERMARK");
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_equal(known[i], pipe))
            return known[i];
    if (str_equal(pipe, S("VECTOR0")) || str_equal(pipe, S("VEC0")) || str_equal(pipe, S("VEC")))
        return S("VECTOR");
    if (str_equal(pipe, S("FC")))
        return S("FLOWCTRL");
    if (str_equal(pipe, S("FIX_PIPE")))
        return S("FIXP");
    if (str_equal(pipe, S("ISSUE")))
        return S("EVENT");
    return str_contains(name, S("scalar_ld")) || str_contains(name, S("scalar_st")) ? S("SCALAR")
                                                                                    : S("ALL");
}

/* The value of "[key:value]" in a detail; empty when absent. */
static struct str bracket(struct str detail, struct str key)
{
    size_t at = str_find(detail, key);
    struct str rest = str_part(detail, at + key.n, detail.n);

    return at < detail.n ? str_part(rest, 0, str_find_char(rest, ']')) : S("");
}

/* Instructions of many threads stand on the lane of their warp, and tell how many ran. */
static void take_warp(struct camodel_record *r, struct arena *arena)
{
    struct str warp = bracket(r->detail, S("[warpId:"));
    uint64_t number, predicate, active;

    if (num_u64(warp, &number) && str_contains(r->detail, S("[schId:")))
        r->pipe = arena_format(arena, "WARP_%llu", (unsigned long long)number);
    if (num_hex(bracket(r->detail, S("[prdctMask:")), &predicate) &&
        num_hex(bracket(r->detail, S("[execMask:")), &active))
        r->detail = arena_format(arena, "%.*s,[threadNum:%d]", STR_ARGS(r->detail),
                                 __builtin_popcountll(predicate & active));
}

/* "[00011036] (PC: 0x10f86000)": what every line begins with. */
static bool take_place(struct str *s, struct camodel_record *out)
{
    str_skip(s, S("[info] "));
    if (!str_skip(s, S("[")))
        return false;
    size_t end = str_find_char(*s, ']');
    if (end == s->n || !num_i64(str_part(*s, 0, end), &out->tick) || out->tick < 0)
        return false;
    *s = str_part(*s, end + 1, s->n);
    log_skip_blanks(s);
    if (!str_skip(s, S("(PC: 0x")))
        return false;
    end = str_find_char(*s, ')');
    if (end == s->n || !num_hex(str_part(*s, 0, end), &out->pc))
        return false;
    *s = str_part(*s, end + 1, s->n);
    return true;
}

static bool take_line(struct str s, struct arena *arena, struct camodel_record *out)
{
    *out = (struct camodel_record){0};
    if (!take_place(&s, out))
        return false;
    log_skip_blanks(&s);
    if (str_skip(&s, S("@CORE")))
        take_word(&s);
    log_skip_blanks(&s);
    struct str pipe = take_word(&s);
    size_t colon = str_find(s, S(": (Binary:"));
    if (pipe.n == 0 || colon == s.n)
        return false;
    s = str_part(s, colon, s.n);
    size_t end = str_find_char(s, ')');
    if (end == s.n)
        return false;
    s = str_part(s, end + 1, s.n);
    log_skip_blanks(&s);
    if (str_skip(&s, S("(ID:"))) {
        end = str_find_char(s, ')');
        if (end == s.n || !num_u64(str_part(s, 0, end), &out->id))
            return false;
        s = str_part(s, end + 1, s.n);
        log_skip_blanks(&s);
    }
    out->name = take_word(&s);
    str_skip(&s, S("("));
    out->detail = without_blanks(s, arena);
    out->pipe = log_lane_of(pipe, out->name, out->detail);
    if (str_contains(out->detail, S("[")))
        take_warp(out, arena);
    return out->name.n > 0;
}

void camodel_records_read(struct camodel_records *r, struct str log, struct arena *arena)
{
    struct camodel_record record;
    struct str rest = log.n > 0 ? log : S(""), line;

    while (str_split(&rest, '\n', &line)) {
        if (str_trim(line).n == 0 || str_contains(line, S("poped from IQ")))
            continue;
        if (take_line(str_trim(line), arena, &record))
            vec_push(&r->list, record);
        else
            r->lost++;
    }
}

void camodel_misses_read(struct camodel_records *r, struct str log, struct arena *arena)
{
    static const struct str words = S_INIT("icache read address is ");
    struct str rest = log.n > 0 ? log : S(""), line;

    while (str_split(&rest, '\n', &line)) {
        struct camodel_record record = {.pipe = S("CACHEMISS")};
        size_t at = str_find(line, words);
        if (at == line.n || !str_contains(line, S("status is MISS")))
            continue;
        struct str front = str_trim(str_part(line, 0, at));
        str_skip(&front, S("[info] "));
        str_skip(&front, S("["));
        str_skip(&front, S("@"));
        size_t digits = str_digits(front);
        struct str tail = str_part(line, at + words.n, line.n);
        record.name = str_part(tail, 0, str_find_char(tail, ','));
        if (!num_i64(str_part(front, 0, digits), &record.tick) ||
            !str_starts(record.name, S("0x")) ||
            !num_hex(str_part(record.name, 2, record.name.n), &record.pc)) {
            r->lost++;
            continue;
        }
        record.detail = without_blanks(str_part(tail, record.name.n + 1, tail.n), arena);
        vec_push(&r->list, record);
    }
}

/* ---- joining ---- */

struct point {
    uint64_t key;
    int64_t tick;
    uint32_t record;
};

struct points {
    VEC_OF(struct point) list;
};

ORDER_BY(by_key, struct point,
         ORDER(x->key, y->key) ?: ORDER(x->tick, y->tick) ?: ORDER(x->record, y->record));

static void list_points(const struct camodel_records *r, bool by_id, struct points *out)
{
    for (size_t i = 0; i < r->list.n; i++) {
        const struct camodel_record *record = &r->list.at[i];
        if (!str_equal(record->pipe, S("USERMARK")))
            vec_push(&out->list,
                     ((struct point){by_id ? record->id : record->pc, record->tick, (uint32_t)i}));
    }
    if (out->list.n > 0)
        qsort(out->list.at, out->list.n, sizeof(*out->list.at), by_key);
}

/* Points that stand close are one; the later stays. Gives how many are left. */
static size_t collapse(struct point *at, size_t n, int64_t least, int64_t most)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t gap = kept > 0 ? nanos_sub(at[i].tick, at[kept - 1].tick) : -1;
        if (kept > 0 && gap >= least && gap <= most)
            at[kept - 1] = at[i];
        else
            at[kept++] = at[i];
    }
    return kept;
}

static size_t run_of(const struct points *p, size_t from, uint64_t key)
{
    size_t n = 0;

    while (from + n < p->list.n && p->list.at[from + n].key == key)
        n++;
    return n;
}

static void join_run(struct point *begins, size_t n_begins, struct point *ends, size_t n_ends,
                     struct camodel_instrs *out)
{
    if (n_ends > n_begins)
        n_ends = collapse(ends, n_ends, 0, CLOSE_ENDS);
    if (n_begins > n_ends)
        n_begins = collapse(begins, n_begins, 1, 1);
    size_t n = n_begins < n_ends ? n_begins : n_ends;
    out->unmatched += n_begins + n_ends - 2 * n;
    for (size_t i = 0; i < n; i++) {
        if (begins[i].tick <= ends[i].tick)
            vec_push(&out->list,
                     ((struct camodel_instr){begins[i].tick, ends[i].tick, ends[i].record}));
        else
            out->unmatched += 2;
    }
}

static bool all_have_ids(const struct camodel_records *r)
{
    for (size_t i = 0; i < r->list.n; i++)
        if (r->list.at[i].id == 0)
            return false;
    return r->list.n > 0;
}

ORDER_BY(by_end, struct camodel_instr, ORDER(x->end, y->end) ?: ORDER(x->record, y->record));

void camodel_join(const struct camodel_records *begins, const struct camodel_records *ends,
                  struct camodel_instrs *out)
{
    bool by_id = all_have_ids(begins) && all_have_ids(ends);
    struct points b = {0}, e = {0};
    size_t i = 0, k = 0;

    list_points(begins, by_id, &b);
    list_points(ends, by_id, &e);
    while (i < b.list.n || k < e.list.n) {
        bool first = k == e.list.n || (i < b.list.n && b.list.at[i].key <= e.list.at[k].key);
        uint64_t key = first ? b.list.at[i].key : e.list.at[k].key;
        size_t n = run_of(&b, i, key), m = run_of(&e, k, key);
        if (n > 0 && m > 0)
            join_run(b.list.at + i, n, e.list.at + k, m, out);
        else
            out->unmatched += n + m;
        i += n;
        k += m;
    }
    if (out->list.n > 0)
        qsort(out->list.at, out->list.n, sizeof(*out->list.at), by_end);
    vec_free(&b.list);
    vec_free(&e.list);
}

/* ---- marks ---- */

/* The value that a line writes into the mark register. */
static bool mark_value(const struct camodel_record *r, uint64_t *value)
{
    size_t at = str_find(r->detail, S("=0x"));

    if (!str_equal(r->pipe, S("USERMARK")) || !str_contains(r->detail, S("LPCNT")) ||
        at == r->detail.n)
        return false;
    struct str digits = str_part(r->detail, at + 3, r->detail.n);
    return num_hex(str_part(digits, 0, str_find_char(digits, ',')), value);
}

/* The tick of the first, or last, NOP_PIPE directly behind record `i`; its own when there is none.
 */
static int64_t settle(const struct camodel_records *r, size_t i, bool last)
{
    int64_t tick = r->list.at[i].tick;

    for (size_t k = i + 1; k < r->list.n && str_equal(r->list.at[k].name, S("NOP_PIPE")); k++) {
        tick = r->list.at[k].tick;
        if (!last)
            break;
    }
    return tick;
}

void camodel_marks_find(const struct camodel_records *ends, struct camodel_marks *out)
{
    struct hash open = {0}; /* number -> record plus one; UINT32_MAX: begun twice */
    uint64_t value, begun = 0, ended = 0;

    for (size_t i = 0; i < ends->list.n; i++) {
        uint32_t begin = 0;
        if (!mark_value(&ends->list.at[i], &value))
            continue;
        uint32_t number = (uint32_t)(value & 0x3fffffff);
        hash_get(&open, number, &begin);
        if (value >> 30 == 2) {
            begun++;
            hash_put(&open, number, begin == 0 ? (uint32_t)i + 1 : UINT32_MAX);
        } else if (value >> 30 == 3 && begin != 0 && begin != UINT32_MAX) {
            vec_push(&out->list, ((struct camodel_mark){number, settle(ends, begin - 1, false),
                                                        settle(ends, i, true)}));
            hash_put(&open, number, 0);
            ended++;
        }
    }
    out->dropped = begun - ended;
    hash_free(&open);
}
