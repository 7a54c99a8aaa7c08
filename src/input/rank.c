/* What names of files and folders say: rank, time stamp, part. */
#include "input/rank.h"

#include "base/text/char.h"
#include "base/text/num.h"

/* Takes "_<digits>" off the end; false when there is none. */
static bool cut_number(struct str *s, struct str *digits)
{
    size_t n = s->n - str_last_digits(*s);

    if (n == s->n || n == 0 || s->at[n - 1] != '_')
        return false;
    *digits = str_part(*s, n, s->n - n);
    s->n = n - 1;
    return true;
}

/* "msprof_0_2_10", "op_summary_0_2_10_20250101120000": device, model and iteration, where each
 * iteration is a file. Time stamps have 14 digits and more. */
static bool cut_iteration(struct str base, struct name_parts *p)
{
    static const struct str tables[] = {S_INIT("msprof"), S_INIT("op_summary"),
                                        S_INIT("task_time")};
    struct str iteration, model, device, stamp = {0};

    if (!cut_number(&base, &iteration))
        return false;
    if (iteration.n >= 14) {
        stamp = iteration;
        if (!cut_number(&base, &iteration))
            return false;
    }
    if (!cut_number(&base, &model) || !cut_number(&base, &device) ||
        !STR_ANY(str_equal, base, tables) || iteration.n > 9 || !num_i64(iteration, &p->slice))
        return false;
    p->base = base;
    p->stamp = stamp;
    p->is_iteration = true;
    return true;
}

struct name_parts rank_name_parts(struct str name)
{
    struct name_parts p = {.base = name, .slice = -1};
    size_t dot = name.n;

    if (str_ends(name, S(".gz")))
        dot -= 3;
    while (dot > 0 && name.at[dot - 1] != '.')
        dot--;
    if (dot > 0) {
        p.base = str_part(name, 0, dot - 1);
        p.ext = str_part(name, dot, name.n - dot);
    }
    if (cut_iteration(p.base, &p))
        return p;
    struct str digits, before = p.base;
    if (cut_number(&before, &digits)) {
        p.base = before;
        p.stamp = digits;
    }
    before = p.base;
    if (cut_number(&before, &digits) && str_ends(before, S("_slice")) &&
        num_i64(digits, &p.slice)) {
        before.n -= strlen("_slice");
        p.base = before;
    }
    return p;
}

static bool is_rank_folder(struct str name)
{
    return str_ends(name, S("_ascend_pt")) || str_ends(name, S("_ascend_ms")) ||
           str_starts(name, S("PROF_"));
}

static bool is_results_folder(struct str name)
{
    return str_equal(name, S("ASCEND_PROFILER_OUTPUT")) ||
           str_equal(name, S("mindstudio_profiler_output")) || str_equal(name, S("analyze"));
}

/* Folders of the operator simulator; `rest` is what follows: a file, or the folder of a core. */
static bool is_simulator_folder(struct str name, struct str rest)
{
    return (str_equal(name, S("simulator")) || str_equal(name, S("dump"))) &&
           (str_find_char(rest, '/') == rest.n || str_starts(rest, S("core")));
}

bool rank_is_core(struct str name)
{
    return str_starts(name, S("core")) && name.n > 4 && char_is_digit(name.at[4]);
}

size_t rank_folder(struct str path, size_t root)
{
    size_t own = path.n - str_basename(path).n; /* with the '/' */
    size_t above = 0, from = 0;

    for (size_t i = 0; i < own; i++) {
        if (path.at[i] != '/')
            continue;
        struct str name = str_part(path, from, i - from);
        if (i >= root && is_rank_folder(name))
            return i;
        bool is_results =
            is_results_folder(name) || is_simulator_folder(name, str_part(path, i + 1, path.n));
        if (i >= root && is_results && above == 0 && from > 0)
            above = from - 1;
        from = i + 1;
    }
    if (above > 0)
        return above;
    if (own <= 1)
        return own;
    struct str folder = str_basename(str_part(path, 0, own - 1));
    size_t outer = own - 1 - folder.n; /* with the '/' */
    return rank_is_core(folder) && outer > root && outer > 1 ? outer - 1 : own - 1;
}

/* The field `back` places before the last one, of fields between underscores. */
static struct str field_from_end(struct str name, size_t back)
{
    size_t end = name.n;

    for (;;) {
        size_t begin = end;
        while (begin > 0 && name.at[begin - 1] != '_')
            begin--;
        if (back-- == 0)
            return str_part(name, begin, end - begin);
        if (begin == 0)
            return S("");
        end = begin - 1;
    }
}

struct str rank_folder_stamp(struct str name)
{
    struct str stamp = S("");

    if (str_ends(name, S("_ascend_pt")) || str_ends(name, S("_ascend_ms")))
        stamp = field_from_end(name, 2);
    else if (str_starts(name, S("PROF_")))
        stamp = field_from_end(name, 1);
    return stamp.n > 0 && str_digits(stamp) == stamp.n ? stamp : S("");
}

int64_t rank_of_file(struct str name)
{
    struct name_parts p = rank_name_parts(name);
    int64_t rank;
    bool tells = str_equal(p.base, S("profiler_info")) || str_ends(p.base, S("_profiler")) ||
                 (str_starts(name, S("msmonitor_")) && str_equal(p.ext, S("db")));

    return tells && p.slice < 0 && num_i64(p.stamp, &rank) ? rank : -1;
}

int64_t rank_in_text(struct str name)
{
    for (size_t i = 0; i + 4 < name.n; i++) {
        size_t at = i + 4, from;
        int64_t rank;
        if (!str_starts_nocase(str_part(name, i, name.n), S("rank")))
            continue;
        if (name.at[at] == '-' || name.at[at] == '_')
            at++;
        for (from = at; at < name.n && char_is_digit(name.at[at]);)
            at++;
        if (num_i64(str_part(name, from, at - from), &rank))
            return rank;
    }
    return -1;
}

static struct str significant(struct str s)
{
    while (s.n > 0 && s.at[0] == '0')
        s = str_part(s, 1, s.n);
    return s;
}

int rank_compare_stamps(struct str a, struct str b)
{
    a = significant(a);
    b = significant(b);
    if (a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return str_compare(a, b);
}
