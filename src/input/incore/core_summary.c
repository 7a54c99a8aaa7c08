/* Counters out of the lines of a summary log. */
#include "input/incore/core_summary.h"

#include "base/text/num.h"
#include "input/rank.h"

bool core_summary_is_log(struct str name)
{
    return rank_is_core(name) && str_ends(name, S("_summary_log"));
}

bool core_summary_has_busy(struct str name)
{
    return core_summary_is_log(name) && !str_ends(name, S("_perf_summary_log"));
}

/* "cubecore0" of "mte2_cubecore0_su_busy_cycle". */
static struct str sub_of(struct str name)
{
    static const struct str kinds[] = {S_INIT("cubecore"), S_INIT("veccore"), S_INIT("mixcore")};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t at = str_find(name, kinds[i]), end = at + kinds[i].n;
        if (at == name.n)
            continue;
        end += str_digits(str_part(name, end, name.n));
        return str_part(name, at, end - at);
    }
    return S("");
}

static struct str pipe_of(struct str name)
{
    static const struct {
        struct str front, end, pipe;
    } pipes[] = {
        {S_INIT("fixp_"), S_INIT("_busy_cycle"), S_INIT("FIXPIPE")},
        {S_INIT("mte1_"), S_INIT("_su_busy_cycle"), S_INIT("MTE1")},
        {S_INIT("mte2_"), S_INIT("_su_busy_cycle"), S_INIT("MTE2")},
        {S_INIT("mte3_"), S_INIT("_su_busy_cycle"), S_INIT("MTE3")},
        {S_INIT("cube.cube_"), S_INIT("_busy_cycle"), S_INIT("CUBE")},
        {S_INIT("CCU.scalar_"), S_INIT("_su_busy_cycle"), S_INIT("SCALAR")},
        {S_INIT("vec.vec_"), S_INIT("_busy_cycle"), S_INIT("VECTOR")},
    };

    if (str_ends(name, S("_mac_busy_cycle"))) /* the multiplying part of the cube alone */
        return S("");
    for (size_t i = 0; i < ARRAY_LEN(pipes); i++)
        if (str_starts(name, pipes[i].front) && str_ends(name, pipes[i].end))
            return pipes[i].pipe;
    return S("");
}

/* "kernal total ticks : 22677", as the log spells it. */
static bool take_total(struct str line, struct core_counter *out)
{
    static const struct {
        struct str front, name;
    } totals[] = {
        {S_INIT("kernal total ticks"), S_INIT("kernel_total_ticks")},
        {S_INIT("kernel total ticks"), S_INIT("kernel_total_ticks")},
        {S_INIT("system total ticks"), S_INIT("system_total_ticks")},
    };
    size_t colon = str_find_char(line, ':');

    for (size_t i = 0; i < ARRAY_LEN(totals); i++)
        if (str_starts(line, totals[i].front)) {
            *out = (struct core_counter){.name = totals[i].name};
            return num_i64(str_part(line, colon + 1, line.n), &out->value);
        }
    return false;
}

/* "1   : CCU.scalar_cubecore0_su_busy_cycle   | 4487", the number in front where there is one. */
static bool take_counter(struct str line, struct core_counter *out)
{
    size_t bar = str_find_char(line, '|');
    struct str name = str_trim(str_part(line, 0, bar));
    size_t colon = str_find_char(name, ':');
    uint64_t number;

    if (bar == line.n || !num_i64(str_part(line, bar + 1, line.n), &out->value))
        return false;
    if (colon < name.n && num_u64(str_part(name, 0, colon), &number))
        name = str_trim(str_part(name, colon + 1, name.n));
    out->name = name;
    out->sub = sub_of(name);
    out->pipe = pipe_of(name);
    return name.n > 0;
}

bool core_summary_next(struct str *rest, struct core_counter *out)
{
    struct str line;

    while (rest->n > 0 && str_split(rest, '\n', &line)) {
        line = str_trim(line);
        if (take_total(line, out) || take_counter(line, out))
            return true;
    }
    return false;
}
