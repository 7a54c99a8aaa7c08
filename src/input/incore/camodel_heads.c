/* Fetches and issues of instructions, found in the logs and joined with their runs. */
#include "input/incore/camodel.h"

#include <stdlib.h>

#include "base/text/char.h"
#include "base/text/num.h"

enum { LINE_INSTRS = 4, INSTR_BYTES = 4 };

/* The tick in front of a line: "[info] 2355: ", "[info] @2355: ", "[2355]: ". */
static bool take_tick(struct str line, int64_t *out)
{
    size_t at = str_starts(line, S("[info] ")) ? 7 : 0, end;

    while (at < line.n && (line.at[at] == '@' || line.at[at] == '[' || line.at[at] == ' '))
        at++;
    end = at + str_digits(str_part(line, at, line.n));
    return end > at && num_i64(str_part(line, at, end - at), out);
}

/* The address behind `words` in a line. */
static bool take_address(struct str line, struct str words, uint64_t *out)
{
    size_t at = str_find(line, words), end;

    if (at == line.n)
        return false;
    at += words.n;
    if (!str_starts(str_part(line, at, 2), S("0x")))
        return false;
    for (end = at + 2; end < line.n && char_hex(line.at[end]) >= 0;)
        end++;
    return num_hex(str_part(line, at, end - at), out);
}

static void read_points(struct camodel_points *p, struct str log, const struct str *words, size_t n,
                        unsigned per_line)
{
    struct str rest = log.n > 0 ? log : S(""), line;
    struct camodel_point point;

    while (str_split(&rest, '\n', &line))
        for (size_t i = 0; i < n; i++) {
            if (!take_address(line, words[i], &point.pc) || !take_tick(line, &point.tick))
                continue;
            for (unsigned k = 0; k < per_line; k++, point.pc += INSTR_BYTES)
                vec_push(&p->list, point);
            break;
        }
}

void camodel_fetches_read(struct camodel_points *p, struct str log)
{
    static const struct str words[] = {S_INIT("lookup_tag is fetch req addr:")};

    read_points(p, log, words, ARRAY_LEN(words), LINE_INSTRS);
}

void camodel_issues_read(struct camodel_points *p, struct str log)
{
    static const struct str words[] = {S_INIT("is_single_issue instr, pc:"),
                                       S_INIT("ccu do issue success.issue isa pc :")};

    read_points(p, log, words, ARRAY_LEN(words), 1);
}

ORDER_BY(by_point, struct camodel_point, ORDER(x->pc, y->pc) ?: ORDER(x->tick, y->tick));

static void sort(struct camodel_points *p)
{
    if (p->list.n > 0)
        qsort(p->list.at, p->list.n, sizeof(*p->list.at), by_point);
}

/* How many points come before this one. */
static size_t count_before(const struct camodel_points *p, uint64_t pc, int64_t tick)
{
    struct camodel_point key = {pc, tick};
    size_t n;

    vec_bisect(n, p->list.n, i, by_point(&p->list.at[i], &key) < 0);
    return n;
}

/* A run of an instruction. */
struct run {
    struct camodel_point at;
    uint32_t number;
};

ORDER_BY(by_run, struct run, by_point(&x->at, &y->at) ?: ORDER(x->number, y->number));

void camodel_heads_find(const struct camodel_instrs *instrs, const struct camodel_records *ends,
                        struct camodel_points *fetches, struct camodel_points *issues,
                        struct camodel_head *out)
{
    size_t n = instrs->list.n;
    struct run *runs = mem_grow(NULL, sizeof(*runs), n + 1);

    sort(fetches);
    sort(issues);
    for (size_t i = 0; i < n; i++) {
        const struct camodel_instr *in = &instrs->list.at[i];
        out[i] = (struct camodel_head){-1, -1};
        runs[i] = (struct run){{ends->list.at[in->record].pc, in->begin}, (uint32_t)i};
    }
    if (n > 0)
        qsort(runs, n, sizeof(*runs), by_run);
    for (size_t i = 0, next; i < n; i = next) {
        uint64_t pc = runs[i].at.pc;
        size_t issue = count_before(issues, pc, INT64_MIN);
        bool is_lost = false;
        for (next = i; next < n && runs[next].at.pc == pc; next++, issue++) {
            is_lost = is_lost || issue >= issues->list.n || issues->list.at[issue].pc != pc ||
                      issues->list.at[issue].tick > runs[next].at.tick;
            if (is_lost)
                continue;
            struct camodel_head *head = &out[runs[next].number];
            head->issued = issues->list.at[issue].tick;
            size_t fetch = count_before(fetches, pc, head->issued);
            if (fetch > 0 && fetches->list.at[fetch - 1].pc == pc)
                head->fetched = fetches->list.at[fetch - 1].tick;
        }
    }
    mem_free(runs);
}
