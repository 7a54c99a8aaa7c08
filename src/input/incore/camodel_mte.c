/* Records of the transfer engines into bytes a microsecond. */
#include "input/incore/camodel.h"

#include <stdlib.h>

#include "base/text/num.h"

enum { MOST_US = 60000000 }; /* one minute */

const char *camodel_way_name(enum camodel_way way)
{
    static const char *const names[] = {"GM_TO_L1", "GM_TO_UB", "GM_TO_TOTAL",
                                        "L1_TO_GM", "UB_TO_GM", "TOTAL_TO_GM"};

    return way < CAMODEL_WAYS ? names[way] : "";
}

/* One record: "[info] 120: BRIF instr_id: 7, req_id: 3, size: 256." */
struct mte_record {
    int64_t tick;
    struct str unit; /* "B", "L1", "UB0" */
    bool writes;     /* ...WIF */
    uint64_t instr, request, size;
    bool has_instr, has_request;
};

/* The unit in front of RIF or WIF: of "BRIF", of "mte2.UBWIF.x". */
static bool take_unit(struct str name, struct mte_record *out)
{
    size_t end = str_ends(name, S("IF")) ? name.n - 2 : str_find(name, S("IF."));

    if (end == name.n || end < 2 || (name.at[end - 1] != 'R' && name.at[end - 1] != 'W'))
        return false;
    out->writes = name.at[end - 1] == 'W';
    name = str_part(name, 0, end - 1);
    for (size_t i = name.n; i > 0; i--)
        if (name.at[i - 1] == '.') {
            name = str_part(name, i, name.n);
            break;
        }
    out->unit = name;
    return name.n > 0;
}

static void take_member(struct str field, struct mte_record *out)
{
    size_t colon = str_find_char(field, ':');
    struct str key = str_trim(str_part(field, 0, colon));
    struct str value = str_trim(str_part(field, colon + 1, field.n));
    uint64_t number;

    while (value.n > 0 && (value.at[value.n - 1] == '.' || value.at[value.n - 1] == '\r'))
        value.n--;
    for (size_t i = key.n; i > 0; i--) /* words may stand before the key */
        if (key.at[i - 1] == ' ') {
            key = str_part(key, i, key.n);
            break;
        }
    if (colon == field.n || !num_u64(value, &number))
        return;
    if (str_equal(key, S("instr_id"))) {
        out->instr = number;
        out->has_instr = true;
    } else if (str_equal(key, S("req_id")) || (str_equal(key, S("gid")) && !out->has_request)) {
        out->request = number;
        out->has_request = true;
    } else if (str_equal(key, S("size"))) {
        out->size = number;
    }
}

static bool mte_take_record(struct str line, struct mte_record *out)
{
    struct str rest, field;
    size_t colon;

    *out = (struct mte_record){0};
    if (!str_skip(&line, S("[info] ")))
        return false;
    colon = str_find_char(line, ':');
    if (colon == line.n || !num_i64(str_part(line, 0, colon), &out->tick))
        return false;
    rest = str_trim(str_part(line, colon + 1, line.n));
    size_t blank = str_find_char(rest, ' ');
    if (!take_unit(str_part(rest, 0, blank), out))
        return false;
    rest = str_part(rest, blank + 1, rest.n);
    while (rest.n > 0 && str_split(&rest, ',', &field))
        take_member(field, out);
    return true;
}

static enum camodel_way way_of(const struct mte_record *r)
{
    if (str_equal(r->unit, S("L1")))
        return r->writes ? WAY_GM_TO_L1 : WAY_L1_TO_GM;
    if (str_starts(r->unit, S("UB")))
        return r->writes ? WAY_GM_TO_UB : WAY_UB_TO_GM;
    return r->writes ? WAY_GM_TO_TOTAL : WAY_TOTAL_TO_GM;
}

/* A request may be told several times: the first size counts, and the last time. */
static void take_transfer(struct camodel_mte *m, const struct mte_record *r, uint32_t instr)
{
    uint64_t key = hash_mix((uint64_t)instr, r->request);
    uint32_t number = hash_add(&m->requests, key, (uint32_t)m->transfers.n);

    if (number == m->transfers.n)
        vec_push(&m->transfers, ((struct camodel_transfer){instr, r->tick, r->size}));
    struct camodel_transfer *t = &m->transfers.at[number];
    t->bytes = t->bytes == 0 ? r->size : t->bytes;
    t->tick = r->tick > t->tick ? r->tick : t->tick;
}

void camodel_mte_read(struct camodel_mte *m, struct str log)
{
    struct str rest = log.n > 0 ? log : S(""), line;
    struct mte_record r;

    while (str_split(&rest, '\n', &line)) {
        if (!mte_take_record(str_trim(line), &r))
            continue;
        bool is_memory = str_equal(r.unit, S("B"));
        if (!r.has_instr || (is_memory && !r.has_request)) {
            m->lost++;
            continue;
        }
        uint32_t instr = hash_add(&m->instr_ids, hash_mix(r.instr, m->core), (uint32_t)m->ways.n);
        if (instr == m->ways.n)
            vec_push(&m->ways, CAMODEL_WAYS);
        if (is_memory)
            take_transfer(m, &r, instr);
        else if (m->ways.at[instr] == CAMODEL_WAYS) /* the first unit beside it tells the way */
            m->ways.at[instr] = way_of(&r);
    }
}

void camodel_mte_free(struct camodel_mte *m)
{
    hash_free(&m->instr_ids);
    hash_free(&m->requests);
    vec_free(&m->ways);
    vec_free(&m->transfers);
}

ORDER_BY(by_time, struct camodel_rate, ORDER(x->way, y->way) ?: ORDER(x->us, y->us));

static void add_rate(struct camodel_rates *out, enum camodel_way way, int64_t us, uint64_t bytes)
{
    vec_push(&out->list, ((struct camodel_rate){way, us, (double)bytes}));
}

void camodel_mte_rates(const struct camodel_mte *m, int64_t mhz, struct camodel_rates *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->transfers.n; i++) {
        const struct camodel_transfer *t = &m->transfers.at[i];
        enum camodel_way way = (enum camodel_way)m->ways.at[t->instr];
        int64_t us = t->tick / mhz;
        if (way == CAMODEL_WAYS || t->bytes == 0 || t->tick < 0)
            continue;
        if (us > MOST_US) {
            out->late++;
            continue;
        }
        add_rate(out, way, us, t->bytes);
        if (way == WAY_GM_TO_L1 || way == WAY_GM_TO_UB)
            add_rate(out, WAY_GM_TO_TOTAL, us, t->bytes);
        if (way == WAY_L1_TO_GM || way == WAY_UB_TO_GM)
            add_rate(out, WAY_TOTAL_TO_GM, us, t->bytes);
    }
    if (out->list.n > 0)
        qsort(out->list.at, out->list.n, sizeof(*out->list.at), by_time);
    for (size_t i = 0; i < out->list.n; i++) {
        if (kept > 0 && by_time(&out->list.at[kept - 1], &out->list.at[i]) == 0)
            out->list.at[kept - 1].bytes += out->list.at[i].bytes;
        else
            out->list.at[kept++] = out->list.at[i];
    }
    out->list.n = kept;
}
