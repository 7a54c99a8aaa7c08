/*
 * The contract of the block, read back: headings, table heads, the forms of numbers.
 */
#include "base/text/char.h"
#include "gpu/judge/report.h"

struct report_check {
    const char *path;
    struct diag *d;
    struct str rest;
    struct str line;
    uint64_t number;
    bool has_line; /* false at the end */
    bool is_bad;
};

static const struct str stage_head =
    S_INIT("| Stage | Duration (us) | TC% | DRAM% | Occ% | Bottleneck | Key Issue |");
static const struct str stage_rule =
    S_INIT("|-------|---------------|-----|-------|------|------------|-----------|");
static const struct str change_head = S_INIT("| Metric | Previous | Current | Change |");
static const struct str change_rule = S_INIT("|--------|----------|---------|--------|");
static const struct str top_head = S_INIT("### Top 3 Opportunities (ranked by estimated impact)");

static void check_next(struct report_check *c)
{
    c->has_line = c->rest.n > 0;
    c->line = str_part(c->rest, 0, str_find_char(c->rest, '\n'));
    c->rest = str_part(c->rest, c->line.n + 1, c->rest.n);
    if (c->line.n > 0 && c->line.at[c->line.n - 1] == '\r')
        c->line.n--;
    c->number++;
}

static void skip_blank(struct report_check *c)
{
    while (c->has_line && str_trim(c->line).n == 0)
        check_next(c);
}

static bool complain(struct report_check *c, const char *what)
{
    if (!c->is_bad)
        diag_fail(c->d, ST_FORMAT, "gpu.report-contract",
                  (struct where){.path = c->path, .line = c->has_line ? c->number : 0}, "%s", what);
    c->is_bad = true;
    return false;
}

/* The line must be `wanted`; then goes on. */
static bool check_expect(struct report_check *c, struct str wanted, const char *what)
{
    if (!c->has_line || !str_equal(c->line, wanted))
        return complain(c, what);
    check_next(c);
    return true;
}

/* Cells between bars; an escaped bar belongs to its cell. 0: no row. */
static size_t cells_of(struct str line, struct str *out, size_t most)
{
    size_t n = 0, from = 1;

    if (line.n < 2 || line.at[0] != '|' || line.at[line.n - 1] != '|')
        return 0;
    for (size_t i = 1; i < line.n; i++)
        if (line.at[i] == '|' && line.at[i - 1] != '\\') {
            if (n < most)
                out[n] = str_trim(str_part(line, from, i - from));
            n++;
            from = i + 1;
        }
    return n;
}

static bool is_dashes(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.at[i] != '|' && line.at[i] != '-' && line.at[i] != ' ' && line.at[i] != ':')
            return false;
    return line.n > 0;
}

/* Digits with that many decimals, or the dash for "not collected". */
static bool is_number(struct str cell, size_t decimals)
{
    size_t point = str_find_char(cell, '.');

    if (str_equal(cell, S(MARKDOWN_DASH)))
        return true;
    if (point == cell.n || cell.n - point - 1 != decimals || point == 0)
        return false;
    for (size_t i = 0; i < cell.n; i++)
        if (i != point && !char_is_digit(cell.at[i]) && !(i == 0 && cell.at[i] == '-'))
            return false;
    return true;
}

static bool is_class(struct str cell)
{
    static const struct str words[] = {S_INIT("Memory ("), S_INIT("Compute ("), S_INIT("Latency ("),
                                       S_INIT("Unknown (")};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts(cell, words[i]) && str_ends(cell, S(")")) && cell.n > words[i].n + 1)
            return true;
    return false;
}

static bool check_configuration(struct report_check *c)
{
    struct str cells[64];

    skip_blank(c);
    if (!check_expect(c, S("### Configuration"), "\"### Configuration\" is expected"))
        return false;
    size_t n = cells_of(c->line, cells, ARRAY_LEN(cells));
    if (n == 0 || n > ARRAY_LEN(cells) || !str_equal(cells[n - 1], S("dtype")))
        return complain(c, "the Configuration table ends with the column dtype");
    check_next(c);
    if (cells_of(c->line, cells, ARRAY_LEN(cells)) != n || !is_dashes(c->line))
        return complain(c, "a line of dashes is expected under the head of the table");
    check_next(c);
    if (cells_of(c->line, cells, ARRAY_LEN(cells)) != n)
        return complain(c, "the Configuration row has as many cells as its head");
    check_next(c);
    return true;
}

static bool check_stages(struct report_check *c)
{
    struct str cells[7];

    skip_blank(c);
    if (!check_expect(c, S("### Stages"), "\"### Stages\" is expected") ||
        !check_expect(c, stage_head, "the head of the Stages table differs") ||
        !check_expect(c, stage_rule, "the line under the head of the Stages table differs"))
        return false;
    for (; c->has_line && str_starts(c->line, S("|"));
         check_next(c)) { /* a run may hold no stage */
        if (cells_of(c->line, cells, 7) != 7)
            return complain(c, "a stage has seven cells");
        if (!is_number(cells[1], 2))
            return complain(c, "a duration has two decimals, or is a dash");
        for (size_t i = 2; i < 5; i++)
            if (!is_number(cells[i], 1))
                return complain(c, "a percentage has one decimal, or is a dash");
        if (!is_class(cells[5]))
            return complain(c, "the Bottleneck cell reads like \"Memory (l1)\"");
        if (cells[0].n == 0 || cells[6].n == 0)
            return complain(c, "an empty cell");
    }
    return true;
}

/* A sentence ends in . ! or ? before a space or the end: not the point of a number. */
static bool check_bottleneck(struct report_check *c)
{
    struct str cause = S("Root cause: ");
    size_t sentences = 0;

    skip_blank(c);
    if (!str_equal(c->line, S("### Bottleneck: Memory-bound")) &&
        !str_equal(c->line, S("### Bottleneck: Compute-bound")) &&
        !str_equal(c->line, S("### Bottleneck: Latency-bound")) &&
        !str_equal(c->line, S("### Bottleneck: Unknown")))
        return complain(c, "\"### Bottleneck: Memory-bound\", Compute-bound, Latency-bound or "
                           "Unknown is expected");
    check_next(c);
    if (!c->has_line || !str_starts(c->line, cause) || c->line.n == cause.n)
        return complain(c, "\"Root cause: …\" is expected");
    for (size_t i = 0; i < c->line.n; i++) {
        bool is_last = i + 1 == c->line.n || c->line.at[i + 1] == ' ';
        sentences += is_last && memchr(".!?", c->line.at[i], 3) != NULL;
    }
    if (sentences > 2)
        return complain(c, "the root cause has more than two sentences");
    check_next(c);
    return true;
}

/* "1. name — est. 12.3% gain — trigger: metric=value" */
static bool is_opportunity(struct str line, char digit)
{
    struct str est = S(" " MARKDOWN_LONG " est. "), gain = S("% gain " MARKDOWN_LONG " trigger: ");
    size_t at = str_find(line, est), end = str_find(line, gain);

    if (line.n < 4 || line.at[0] != digit || line.at[1] != '.' || line.at[2] != ' ')
        return false;
    if (at <= 3 || at == line.n || end == line.n || end < at + est.n || end + gain.n >= line.n)
        return false;
    return is_number(str_part(line, at + est.n, end - at - est.n), 1);
}

static bool check_top(struct report_check *c)
{
    struct str none = S("none " MARKDOWN_LONG " at "), roof = S("% of roof");
    size_t n = 0;

    skip_blank(c);
    if (!check_expect(c, top_head,
                      "\"### Top 3 Opportunities (ranked by estimated impact)\" is expected"))
        return false;
    if (c->has_line && str_starts(c->line, none)) {
        struct str value = str_part(c->line, none.n, c->line.n - none.n - roof.n);
        if (!str_ends(c->line, roof) || c->line.n <= none.n + roof.n || !is_number(value, 1))
            return complain(c, "without opportunities the line reads \"none — at 87.0% of roof\"");
        check_next(c);
        return true;
    }
    while (c->has_line && n < 3 && is_opportunity(c->line, (char)('1' + n))) {
        n++;
        check_next(c);
    }
    if (n == 0 || (c->has_line && str_trim(c->line).n > 0 && c->line.at[0] != '#'))
        return complain(c, "an opportunity reads \"1. name — est. 12.3% gain — trigger: "
                           "metric=value\", and there are at most three");
    return true;
}

static bool check_changes(struct report_check *c)
{
    struct str cells[4];

    skip_blank(c);
    if (!c->has_line || !str_starts(c->line, S("### vs Baseline")))
        return true;
    check_next(c);
    if (!check_expect(c, change_head, "the head of the vs Baseline table differs") ||
        !check_expect(c, change_rule, "the line under the head of the vs Baseline table differs"))
        return false;
    for (; c->has_line && str_starts(c->line, S("|")); check_next(c))
        if (cells_of(c->line, cells, 4) != 4)
            return complain(c, "a row of the vs Baseline table has four cells");
    skip_blank(c);
    return true;
}

bool gpu_report_check(const char *path, struct str text, struct diag *d)
{
    struct report_check c = {.path = path, .d = d, .rest = text};

    check_next(&c);
    skip_blank(&c);
    struct str names = c.line;
    if (!c.has_line || !str_skip(&names, S("## Profile: ")))
        return complain(&c, "the report begins with \"## Profile: kernel version\"");
    names = str_trim(names);
    if (str_find_char(names, ' ') == names.n)
        return complain(&c, "the title names a kernel and a version");
    check_next(&c);
    if (!check_configuration(&c) || !check_stages(&c) || !check_bottleneck(&c) || !check_top(&c) ||
        !check_changes(&c))
        return false;
    if (c.has_line && !str_starts(c.line, S("## ")))
        return complain(&c, "after the block a section \"## …\" is expected");
    return true;
}
