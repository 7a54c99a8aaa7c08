/*
 * The text that `ncu` prints by default, as rows of a details page.
 *
 *     [4711] app@127.0.0.1
 *       scale(float *, int) (196, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
 *         Section: GPU Speed Of Light Throughput
 *         ----------------------- ----------- ------------
 *         Metric Name             Metric Unit Metric Value
 *         ----------------------- ----------- ------------
 *         Elapsed Cycles                cycle        3,911
 *         ----------------------- ----------- ------------
 *
 *         OPT   Est. Speedup: 12.5%
 *               Text of a rule, over several lines.
 *
 * With --print-summary a launch stands for all of a kernel ("…, Device 0, CC 9.0, Invocations 10"),
 * and its tables have a minimum, a maximum and an average, which is the value that is taken.
 *
 * The dashes tell where columns begin and end. Names of rules are not printed; that of the section
 * stands for it.
 */
#include "base/tables/vec.h"
#include "base/text/num.h"
#include "gpu/ncu/ncu_page.h"

enum { COLUMNS = 3, SUMMARY_COLUMNS = 5 };

struct reading {
    struct ncu_rows rows;
    struct arena *arena;
    uint64_t process, launches;
    struct str kernel, section;
    struct str grid, block, context, stream, device, cc;
    size_t begin[SUMMARY_COLUMNS], end[SUMMARY_COLUMNS]; /* of the table */
    size_t columns;
    int rulers;      /* lines of dashes of this table so far */
    struct str type; /* of the rule that is being read; empty: none */
    struct str rule;
};

/* What stands behind `key` up to the next comma. */
static struct str after(struct str line, struct str key)
{
    size_t at = str_find(line, key);
    struct str rest = str_part(line, at + key.n, line.n);

    return at < line.n ? str_trim(str_part(rest, 0, str_find_char(rest, ','))) : S("");
}

bool ncu_is_text_launch(struct str line)
{
    bool is_one = str_contains(line, S(", Context ")) && str_contains(line, S(", Stream "));

    return str_starts(line, S("  ")) && str_contains(line, S(")x(")) &&
           (is_one || str_contains(line, S(", Invocations ")));
}

/* "NAME (x, y, z)x(x, y, z), Context …": the name may have brackets of its own. */
static void begin_launch(struct reading *r, struct str line)
{
    size_t times = str_find(line, S(")x(")), open = times;

    while (open > 0 && line.at[open] != '(')
        open--;
    struct str rest = str_part(line, times + 2, line.n);
    r->kernel = str_trim(str_part(line, 0, open));
    r->grid = str_part(line, open, times - open + 1);
    r->block = str_part(rest, 0, str_find_char(rest, ')') + 1);
    r->context = after(line, S(", Context "));
    r->stream = after(line, S(", Stream "));
    r->device = after(line, S(", Device "));
    r->cc = after(line, S(", CC "));
    r->section = S("");
    r->launches++;
}

/* The cells of the launch, then the given ones. */
static void text_add_row(struct reading *r, const struct str *cells, size_t n)
{
    const struct str launch[] = {
        arena_format(r->arena, "%llu", (unsigned long long)r->launches - 1),
        arena_format(r->arena, "%llu", (unsigned long long)r->process),
        r->kernel,
        r->context,
        r->stream,
        r->block,
        r->grid,
        r->device,
        r->cc,
        r->section,
    };

    for (size_t i = 0; i < ARRAY_LEN(launch); i++)
        ncu_add_cell(&r->rows, launch[i]);
    for (size_t i = 0; i < n; i++)
        ncu_add_cell(&r->rows, cells[i]);
    vec_push(&r->rows, '\n');
}

/* "Est. Speedup: 12.5%" and "Est. Local Speedup: 3%" stand at the begin of a rule. */
static void end_rule(struct reading *r)
{
    static const struct {
        struct str begin, kind;
    } forms[] = {{S_INIT("Est. Speedup: "), S_INIT("global")},
                 {S_INIT("Est. Local Speedup: "), S_INIT("local")}};
    struct str kind = S(""), speedup = S(""), rest = r->rule;

    for (size_t i = 0; i < ARRAY_LEN(forms) && kind.n == 0; i++)
        if (str_skip(&rest, forms[i].begin)) {
            kind = forms[i].kind;
            speedup = str_part(rest, 0, str_find_char(rest, '%'));
        }
    if (speedup.n > 0)
        r->rule = str_trim(str_part(r->rule, str_find_char(r->rule, '%') + 1, r->rule.n));
    if (r->type.n > 0 && r->launches > 0)
        text_add_row(
            r, (struct str[]){S(""), S(""), S(""), r->section, r->type, r->rule, kind, speedup}, 8);
    r->type = S("");
}

static bool begins_rule(struct str line, struct str *type)
{
    static const struct str types[] = {S_INIT("OPT "), S_INIT("INF "), S_INIT("WRN "),
                                       S_INIT("ERR ")};

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_starts(line, types[i])) {
            *type = str_part(types[i], 0, 3);
            return true;
        }
    return false;
}

/* Three runs of dashes, or five: where the columns are. Any other line leaves them alone. */
static bool read_ruler(struct reading *r, struct str line)
{
    size_t begin[SUMMARY_COLUMNS], end[SUMMARY_COLUMNS], n = 0;

    for (size_t i = 0; i < line.n; i++) {
        if (line.at[i] != '-' && line.at[i] != ' ' && line.at[i] != '\r')
            return false;
        bool begins = line.at[i] == '-' && (i == 0 || line.at[i - 1] != '-');
        if (begins && n == SUMMARY_COLUMNS)
            return false;
        if (begins)
            begin[n++] = i;
        if (line.at[i] == '-')
            end[n - 1] = i + 1;
    }
    if (n != COLUMNS && n != SUMMARY_COLUMNS)
        return false;
    r->columns = n;
    memcpy(r->begin, begin, n * sizeof(*begin));
    memcpy(r->end, end, n * sizeof(*end));
    return true;
}

static void add_metric(struct reading *r, struct str name, struct str unit, struct str value)
{
    text_add_row(r, (struct str[]){name, unit, value, S(""), S(""), S(""), S(""), S("")}, 8);
}

/* A value may be longer than its column is wide: the last one ends with the line, and begins where
 * the unit ends. */
static void read_metric(struct reading *r, struct str line)
{
    struct str name = str_trim(str_part(line, r->begin[0], r->end[0] - r->begin[0])),
               unit = str_trim(str_part(line, r->begin[1], r->end[1] - r->begin[1])),
               value = str_trim(str_part(line, r->end[r->columns - 2], line.n));

    if (name.n > 0 && value.n > 0 && r->launches > 0)
        add_metric(r, name, unit, value);
}

static void read_line(struct reading *r, struct str line)
{
    struct str text = str_trim(line), type;

    if (text.n == 0) {
        end_rule(r);
        r->rulers = 0;
    } else if (ncu_is_text_launch(line)) {
        struct str all = after(line, S(", Invocations "));
        end_rule(r);
        begin_launch(r, line);
        if (all.n > 0)
            add_metric(r, S(NCU_INVOCATIONS), S(""), all);
    } else if (str_starts(line, S("["))) {
        num_u64(str_part(line, 1, str_find_char(line, ']') - 1), &r->process);
    } else if (str_skip(&text, S("Section: "))) {
        end_rule(r);
        r->section = str_trim(text);
        r->rulers = 0;
    } else if (begins_rule(text, &type)) {
        end_rule(r);
        r->type = type;
        r->rule = str_trim(str_part(text, 3, text.n));
    } else if (r->type.n > 0) {
        r->rule = arena_format(r->arena, "%.*s %.*s", STR_ARGS(r->rule), STR_ARGS(text));
    } else if (read_ruler(r, line)) {
        r->rulers++;
    } else if (r->rulers == 2) { /* one before the head of the table, one behind it */
        read_metric(r, line);
    }
}

void ncu_add_cell(struct ncu_rows *rows, struct str cell)
{
    if (rows->n > 0 && rows->at[rows->n - 1] != '\n')
        vec_push(rows, ',');
    vec_push(rows, '"');
    for (size_t i = 0; i < cell.n; i++) {
        if (cell.at[i] == '"')
            vec_push(rows, '"');
        vec_push(rows, cell.at[i]);
    }
    vec_push(rows, '"');
}

struct str ncu_text_rows(struct arena *arena, struct str text)
{
    struct str heads = S("ID,Process ID,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC,"
                         "Section Name,Metric Name,Metric Unit,Metric Value,Rule Name,Rule Type,"
                         "Rule Description,Estimated Speedup Type,Estimated Speedup");
    struct reading all = {.arena = arena, .section = S(""), .type = S(""), .rule = S("")},
                   *r = &all;

    for (struct str head; str_split(&heads, ',', &head);)
        ncu_add_cell(&r->rows, head);
    vec_push(&r->rows, '\n');
    for (struct str line; text.n > 0 && str_split(&text, '\n', &line);)
        read_line(r, line);
    end_rule(r);
    struct str rows = arena_str(arena, (struct str){r->rows.at, r->rows.n});
    vec_free(&r->rows);
    return rows;
}
