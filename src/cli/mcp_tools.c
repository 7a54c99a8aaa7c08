/*
 * mcp_tools: the table of tools, words of a command line from arguments, and running them.
 */
#include "cli/mcp_tools.h"

#include "analysis/sql/sql.h"
#include "base/files/inputs.h"
#include "base/text/text.h"
#include "cli/help/skills.h"
#include "cli/path_kind.h"
#include "cli/session.h"
#include "cli/terminal/frame.h"
#include "input/kept.h"

enum { NAMES = 8, OPERANDS = 2, PROPERTIES = COMMAND_OPTIONS + OPERANDS };

struct mcp_operand {
    const char *name, *about;
    bool is_path, is_list, is_optional;
};

/* A command as a tool. */
static const struct mcp_plan {
    const char *name, *title, *about;
    const char *words[2]; /* of the command */
    struct mcp_operand operands[OPERANDS];
    const char *reads[NAMES];  /* options whose value is a path that is read */
    const char *hidden[NAMES]; /* options that are no arguments */
    const char *given[NAMES];  /* words that are always there */
    bool is_capture;           /* the operands are captures, which stay in memory */
    bool is_picture;
    unsigned kinds; /* of enum path_kind: all that the operands may be; 0: whatever is read */
    bool runs;      /* starts programs */
} plans[] = {
    {"open",
     "Open a capture",
     "Reads a profile (Ascend, PyTorch/Kineto, Chrome, Nsight Systems, in-core traces; detected) "
     "and lists what it holds and what is missing: files, time span, lanes, steps, kernels. Begin "
     "here; the capture stays in memory for the other tools.",
     {"info"},
     {{"path", "file or folder of the capture", .is_path = true}},
     .is_capture = true},
    {"diagnose",
     "Diagnose a run",
     "What limits the run, what that costs per step and what to do: causes with their share of the "
     "step, evidence and expected saving.",
     {"diagnose"},
     {{"path", "file or folder of the capture", .is_path = true}},
     .is_capture = true},
    {"query",
     "Query a capture with SQL",
     "Runs one SELECT (SQLite's dialect) over a capture. Times are nanoseconds. 50 rows are shown "
     "unless limit is given; skip pages through them. Tables and columns:",
     {"query"},
     {{"path", "file or folder of the capture", .is_path = true},
      {"sql", "the statement", .is_path = false}},
     .hidden = {"to", "schema"},
     .is_capture = true},
    {"timeline",
     "Picture of the timeline",
     "A picture of how busy each lane is over time, as a PNG or in characters; steps, range and "
     "lane zoom in.",
     {"convert"},
     {{"path", "file or folder of the capture", .is_path = true}},
     .hidden = {"what", "clip", "to"},
     .given = {"-o", "-"},
     .is_capture = true,
     .is_picture = true},
    {"diff",
     "Compare two captures",
     "What changed from one capture to another: steps, idle time, kernels that got slower or "
     "faster, with noise taken into account.",
     {"diff"},
     {{"before", "capture before the change", .is_path = true},
      {"after", "capture after the change", .is_path = true}},
     .hidden = {"to", "max-size", "redact", "fail-above", "fail-if"},
     .is_capture = true,
     .kinds = 1 << KIND_CAPTURE},
    {"ops",
     "Time by operator",
     "Device and host time by operator, module, shape, kernel family, range or layer.",
     {"ops"},
     {{"path", "file or folder of the capture", .is_path = true}},
     .is_capture = true},
    {"gpu_report",
     "What bounds GPU kernels",
     "Verdict, bottleneck of each kernel and ranked changes, of a folder of strata gpu profile or "
     "a CSV page of Nsight Compute (ncu --csv --page raw).",
     {"gpu", "report"},
     {{"path", "run folder or CSV file", .is_path = true}},
     .reads = {"spec"},
     .hidden = {"check", "version"},
     .kinds = 1 << KIND_GPU_RUN | 1 << KIND_NCU_PAGE}, /* others start a program */
    {"incore",
     "Trace of one Ascend core",
     "Critical pipe, use of each pipe, instructions that take the most time and waits of a kernel, "
     "from the trace of one core (visualize_data.bin, trace.json).",
     {"incore", "show"},
     {{"path", "file or folder of the trace", .is_path = true}},
     .hidden = {"width"}},
    {"simulate",
     "Simulate a kernel",
     "Cycles, use of each pipe, waits with their causes and the critical path of a PTO kernel "
     "(.pto) on a model of an Ascend AI core; what_if ranks changes by gain.",
     {"pto", "sim"},
     {{"path", "kernel file (.pto)", .is_path = true}},
     .reads = {"cost"},
     .hidden = {"apply", "timeline", "lines"}},
    {"db_query",
     "Latency of an operator",
     "How long an operator or a collective takes, from the tables of a performance database: "
     "measured, interpolated or modelled, with an interval and the rows it came from.",
     {"db", "query"},
     .reads = {"database-path", "data-root"},
     .hidden = {"stdin", "compat", "max-dims"}},
    {"gpu_profile",
     "Profile a program on a GPU",
     "Runs a program and reports what bounds its kernels. Starts programs and writes a folder.",
     {"gpu", "profile"},
     {{"command", "the program and its arguments", .is_list = true, .is_optional = true}},
     .reads = {"spec"},
     .hidden = {"devlog", "clock", "baseline"},
     .runs = true},
};

static const char *const picture_forms[] = {"png", "text", NULL};
static const struct mcp_property picture_form = {
    "as", "png: an image; text: characters (default: png)", MCP_CHOICE, .choices = picture_forms};

/* ---- properties from options ---- */

static bool is_listed(const char *const list[NAMES], const char *name)
{
    for (size_t i = 0; i < NAMES && list[i] != NULL; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static bool is_path(const struct opt *o)
{
    return o->value != NULL &&
           (strstr(o->value, "FILE") != NULL || strstr(o->value, "PATH") != NULL ||
            strstr(o->value, "DIR") != NULL);
}

static bool is_argument(const struct mcp_plan *plan, const struct command *c, size_t i,
                        const struct opt *o)
{
    size_t own = 0;

    for (size_t k = 0; k < c->n_options; k++)
        own += opt_is_option(&c->options[k]);
    if (is_listed(plan->reads, o->name))
        return true;
    /* Of the options all commands take, those about what is read, and what a run would do. */
    return !is_path(o) && !is_listed(plan->hidden, o->name) &&
           (i < own || strcmp(o->name, "from") == 0 ||
            (plan->runs && strcmp(o->name, "dry-run") == 0));
}

/* Options are spelt with dashes, arguments with underscores. */
static const char *respell(struct arena *arena, struct str name, char from, char to)
{
    char *text = arena_cstr(arena, name);

    for (char *c = text; *c != '\0'; c++)
        if (*c == from)
            *c = to;
    return text;
}

static struct mcp_property property_of(struct arena *arena, const struct opt *o)
{
    static const enum mcp_type types[] = {
        [OPT_KIND_FLAG] = MCP_BOOL,     [OPT_KIND_STRING] = MCP_TEXT,   [OPT_KIND_LIST] = MCP_TEXTS,
        [OPT_KIND_INT] = MCP_INT,       [OPT_KIND_SIZE] = MCP_TEXT, /* with suffixes */
        [OPT_KIND_DOUBLE] = MCP_NUMBER, [OPT_KIND_CHOICE] = MCP_CHOICE,
    };

    return (struct mcp_property){.name = respell(arena, str_of(o->name), '-', '_'),
                                 .about = o->help,
                                 .type = types[o->kind],
                                 .choices = o->choices,
                                 .min = o->kind == OPT_KIND_INT ? o->min : 0,
                                 .max = o->kind == OPT_KIND_INT ? o->max : 0};
}

static const struct command *command_of(const struct mcp_plan *plan)
{
    int used;

    return command_find(plan->words[1] != NULL ? 2 : 1, plan->words, &used).command;
}

/* What SQL can ask, behind the sentences of the tool. */
static const char *with_tables(struct arena *arena, const char *about)
{
    const struct sql_table_info *t;

    for (size_t i = 0; (t = sql_schema(i)) != NULL; i++)
        about = arena_printf(arena, "%s%s %s(%s)", about, i > 0 ? ";" : "", t->name, t->columns);
    return about;
}

static struct mcp_tool tool_of(struct arena *arena, const struct mcp_plan *plan)
{
    const struct command *c = command_of(plan);
    struct mcp_property *list = ARENA_ARRAY(arena, struct mcp_property, PROPERTIES);
    struct opt options[COMMAND_OPTIONS];
    size_t n = 0, count = command_options(c, options);
    struct mcp_tool tool = {.name = plan->name,
                            .title = plan->title,
                            .about = plan->about,
                            .properties = list,
                            .has_document = !plan->is_picture,
                            .runs_programs = plan->runs};

    for (size_t i = 0; i < OPERANDS && plan->operands[i].name != NULL; i++)
        list[n++] = (struct mcp_property){.name = plan->operands[i].name,
                                          .about = plan->operands[i].about,
                                          .type = plan->operands[i].is_list ? MCP_TEXTS : MCP_TEXT,
                                          .is_required = !plan->operands[i].is_optional};
    if (plan->is_picture)
        list[n++] = picture_form;
    for (size_t i = 0; i < count; i++)
        if (is_argument(plan, c, i, &options[i]))
            list[n++] = property_of(arena, &options[i]);
    tool.n_properties = n;
    for (size_t i = 0; i < MCP_SCHEMAS && tool.has_document; i++)
        tool.schemas[i] = c->schemas[i];
    if (c == &command_query) { /* its schema is of the list of tables */
        tool.schemas[0] = NULL;
        tool.about = with_tables(arena, plan->about);
    }
    return tool;
}

/* ---- captures that stay ---- */

struct mcp_opened {
    struct input_kept *kept; /* NULL: free */
    uint64_t stamp, used;
};

struct mcp_tools {
    struct arena *arena;
    const struct roots *roots;
    struct mcp_tool *list;
    const struct mcp_plan **plans; /* by tool */
    size_t n;
    struct mcp_resource *resources;
    size_t n_resources;
    struct mcp_opened opened[MCP_CAPTURES];
    size_t keep;
    uint64_t now;
};

/* The place of the capture at `path`: its own, else the one that was not used for longest. */
static struct mcp_opened *place_for(struct mcp_tools *t, const char *path)
{
    struct mcp_opened *oldest = &t->opened[0];

    for (size_t i = 0; i < t->keep; i++) {
        struct mcp_opened *o = &t->opened[i];
        if (o->kept != NULL && strcmp(input_kept_path(o->kept), path) == 0)
            return o;
        if (o->used < oldest->used)
            oldest = o;
    }
    return oldest;
}

/* NULL: none is kept. What changed on disk is read again. */
static struct input_kept *keep_capture(struct mcp_tools *t, const struct root_place *at)
{
    if (t->keep == 0)
        return NULL;
    struct mcp_opened *o = place_for(t, at->path);
    bool is_same =
        o->kept != NULL && o->stamp == at->stamp && strcmp(input_kept_path(o->kept), at->path) == 0;
    if (!is_same) {
        input_kept_free(o->kept);
        *o = (struct mcp_opened){.kept = input_kept_new(at->path), .stamp = at->stamp};
    }
    o->used = ++t->now;
    return o->kept;
}

/* ---- words from arguments ---- */

struct mcp_call {
    struct mcp_tools *tools;
    const struct mcp_plan *plan;
    const struct tree *arguments;
    struct arena *arena;
    struct diag *d;
    struct words words;
    struct input_kept *kept[OPERANDS + 1]; /* ends with NULL */
    struct root_place places[OPERANDS + NAMES];
    size_t n_places;
    enum path_kind kind; /* of the last operand */
    bool is_fresh;       /* captures are read for this call alone */
};

static enum status resolve(struct mcp_call *c, const char *path, struct root_place *at)
{
    TRY(roots_resolve(c->tools->roots, c->arena, path, c->d, at));
    if (c->n_places < ARRAY_LEN(c->places))
        c->places[c->n_places++] = *at;
    return ST_OK;
}

static enum status add_path(struct mcp_call *c, const char *path, const char **out)
{
    struct root_place at;

    TRY(resolve(c, path, &at));
    *out = at.path;
    c->kind = path_kind_of(at.path, c->arena);
    if (c->plan->kinds != 0 && (c->plan->kinds >> c->kind & 1) == 0)
        return diag_fail(c->d, ST_UNSUPPORTED, c->plan->is_capture ? "mcp.no-capture" : "mcp.kind",
                         (struct where){.path = path}, "not what the tool %s reads", c->plan->name);
    for (size_t i = 0; c->plan->is_capture && i < OPERANDS; i++)
        if (c->kept[i] == NULL) {
            c->kept[i] = keep_capture(c->tools, &at);
            break;
        }
    return ST_OK;
}

static enum status add_operand(struct mcp_call *c, const struct mcp_operand *operand)
{
    const struct tree *value = tree_get(c->arguments, str_of(operand->name));
    const char *word = arena_cstr(c->arena, tree_text(value));

    if (operand->is_list)
        for (const struct tree *one = tree_items(value); one != NULL; one = one->next)
            vec_push(&c->words, arena_cstr(c->arena, one->text));
    if (operand->is_list)
        return ST_OK;
    if (operand->is_path)
        TRY(add_path(c, word, &word));
    vec_push(&c->words, word);
    return ST_OK;
}

static bool is_operand(const struct mcp_plan *plan, struct str name)
{
    for (size_t i = 0; i < OPERANDS && plan->operands[i].name != NULL; i++)
        if (str_equal(str_of(plan->operands[i].name), name))
            return true;
    return plan->is_picture && str_equal(name, str_of(picture_form.name));
}

static void add_value(struct mcp_call *c, const char *name, const char *value)
{
    vec_push(&c->words, arena_printf(c->arena, "--%s=%s", name, value));
}

static enum status add_option(struct mcp_call *c, const struct tree *argument)
{
    const char *name = respell(c->arena, argument->key, '_', '-');
    const char *value = arena_cstr(c->arena, tree_word(argument));

    if (strcmp(name, "chip") == 0) /* is written into what was read */
        c->is_fresh = true;
    if (argument->kind == TREE_BOOL) {
        vec_push(&c->words, arena_printf(c->arena, argument->i != 0 ? "--%s" : "--no-%s", name));
    } else if (argument->kind == TREE_LIST) {
        for (const struct tree *one = argument->first; one != NULL; one = one->next)
            add_value(c, name, arena_cstr(c->arena, one->text));
    } else {
        struct root_place at;
        if (is_listed(c->plan->reads, name)) {
            TRY(resolve(c, value, &at));
            value = at.path;
        }
        add_value(c, name, value);
    }
    return ST_OK;
}

static enum status add_words(struct mcp_call *c)
{
    const struct tree *first = c->arguments != NULL ? c->arguments->first : NULL;

    for (size_t i = 0; i < ARRAY_LEN(c->plan->words) && c->plan->words[i] != NULL; i++)
        vec_push(&c->words, c->plan->words[i]);
    for (size_t i = 0; i < NAMES && c->plan->given[i] != NULL; i++)
        vec_push(&c->words, c->plan->given[i]);
    if (c->plan->is_picture)
        add_value(c, "to", arena_cstr(c->arena, tree_get_text(c->arguments, S("as"), S("png"))));
    /* Limits that a reader has unless it asks for others. */
    bool is_query = strcmp(c->plan->name, "query") == 0;
    if (is_query && tree_get(c->arguments, S("limit")) == NULL)
        vec_push(&c->words, "--limit=50");
    if (is_query && tree_get(c->arguments, S("timeout")) == NULL)
        vec_push(&c->words, "--timeout=60");
    for (const struct tree *a = first; a != NULL; a = a->next)
        if (!is_operand(c->plan, a->key))
            TRY(add_option(c, a));
    vec_push(&c->words, "--");
    for (size_t i = 0; i < OPERANDS && c->plan->operands[i].name != NULL; i++)
        TRY(add_operand(c, &c->plan->operands[i]));
    return ST_OK;
}

/* ---- running ---- */

/* The tool for such a path, if that is another. */
static void point(const struct mcp_call *c, struct mcp_outcome *to)
{
    const struct path_way *way = &path_ways[c->kind];

    if (way->tool != NULL && strcmp(way->tool, c->plan->name) != 0)
        text_format(&to->text, "  this is %s: use the tool %s\n", way->what, way->tool);
}

/* What went wrong, as the command line prints it, is the text of the outcome. */
static void tools_fail(const struct mcp_call *c, const struct diag *d, struct mcp_outcome *to)
{
    struct out out;

    to->is_error = true;
    text_clear(&to->text);
    out_init(&out, -1);
    out.to = text_sink(&to->text);
    frame_show_diag(&out, d, false);
    out_flush(&out);
    out_fini(&out);
    point(c, to);
}

enum part { PART_DOCUMENT, PART_TEXT, PART_PICTURE };

/* Runs the words for one part of the outcome; false after a failure. */
static bool run_words(struct mcp_call *c, enum part part, struct mcp_outcome *out)
{
    struct text *const parts[] = {&out->document, &out->text, &out->picture};
    struct session s;

    inputs_clear();
    frame_embed(&s, parts[part]);
    s.kept = c->is_fresh ? NULL : c->kept;
    s.common.json = part == PART_DOCUMENT;
    int code = frame_answer(&s, (int)c->words.n, c->words.at);
    bool is_ok = code <= CODE_NO && session_error(&s.diag) == NULL;
    if (diag_count(&s.diag, "input.nothing") > 0 && c->n_places > 0)
        roots_hint(c->tools->roots, c->arena, c->places[0].path, &s.diag);
    if (!is_ok)
        tools_fail(c, &s.diag, out);
    else if (part == PART_TEXT)
        point(c, out);
    frame_release(&s);
    inputs_clear();
    return is_ok;
}

/* Files that were replaced while they were read may have come from outside: nothing of them is
 * told, and nothing is kept. */
static void check_places(struct mcp_call *c, struct mcp_outcome *out)
{
    size_t i = 0;

    while (i < c->n_places && roots_is_same(c->tools->roots, c->arena, &c->places[i]))
        i++;
    if (i == c->n_places)
        return;
    for (size_t k = 0; k < MCP_CAPTURES; k++)
        for (size_t j = 0; j < OPERANDS; j++)
            if (c->kept[j] != NULL && c->tools->opened[k].kept == c->kept[j]) {
                input_kept_free(c->kept[j]);
                c->tools->opened[k] = (struct mcp_opened){0};
            }
    diag_fail(c->d, ST_IO, "roots.changed", (struct where){.path = c->places[i].path},
              "changed while it was read; call again");
    text_clear(&out->document);
    text_clear(&out->picture);
    tools_fail(c, c->d, out);
}

static void tools_run(void *ctx, const struct mcp_tool *tool, const struct tree *arguments,
                      struct mcp_outcome *out)
{
    struct mcp_tools *t = ctx;
    struct arena arena;
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    struct mcp_call c = {.tools = t,
                         .plan = t->plans[tool - t->list],
                         .arguments = arguments,
                         .arena = &arena,
                         .d = &d};
    bool is_png = !str_equal(tree_get_text(c.arguments, S("as"), S("png")), S("text"));
    if (add_words(&c) != ST_OK)
        tools_fail(&c, c.d, out);
    else if (c.plan->is_picture)
        run_words(&c, is_png ? PART_PICTURE : PART_TEXT, out);
    else if (run_words(&c, PART_DOCUMENT, out) && !c.plan->runs)
        run_words(&c, PART_TEXT, out); /* for people */
    check_places(&c, out);
    vec_free(&c.words);
    diag_fini(&d);
    arena_free(&arena);
}

/* ---- the catalog ---- */

struct mcp_tools *mcp_tools_new(struct arena *arena, const struct roots *roots, size_t keep,
                                bool may_run)
{
    struct mcp_tools *t = ARENA_NEW(arena, struct mcp_tools);
    struct skill skill;

    t->arena = arena;
    t->roots = roots;
    t->keep = keep < MCP_CAPTURES ? keep : MCP_CAPTURES;
    t->list = ARENA_ARRAY(arena, struct mcp_tool, ARRAY_LEN(plans));
    t->plans = ARENA_ARRAY(arena, const struct mcp_plan *, ARRAY_LEN(plans));
    for (size_t i = 0; i < ARRAY_LEN(plans); i++)
        if (!plans[i].runs || may_run) {
            t->plans[t->n] = &plans[i];
            t->list[t->n++] = tool_of(arena, &plans[i]);
        }
    while (skill_at(arena, t->n_resources, &skill))
        t->n_resources++;
    t->resources = ARENA_ARRAY(t->arena, struct mcp_resource, t->n_resources + 1);
    for (size_t i = 0; skill_at(arena, i, &skill); i++)
        t->resources[i] = (struct mcp_resource){
            arena_printf(t->arena, "strata://skill/%.*s", STR_ARGS(skill.name)),
            arena_cstr(t->arena, skill.name), arena_cstr(t->arena, skill.about), skill.text};
    return t;
}

void mcp_tools_free(struct mcp_tools *t)
{
    for (size_t i = 0; i < MCP_CAPTURES; i++)
        input_kept_free(t->opened[i].kept);
}

struct mcp_catalog mcp_tools_catalog(struct mcp_tools *t)
{
    return (struct mcp_catalog){.tools = t->list,
                                .n_tools = t->n,
                                .resources = t->resources,
                                .n_resources = t->n_resources,
                                .run = tools_run,
                                .ctx = t};
}
