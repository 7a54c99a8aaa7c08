/*
 * strata cluster: all ranks of a run together.
 */
#include "analysis/ranks/cluster_job.h"
#include "base/files/fs.h"
#include "cli/answer.h"
#include "cli/captures.h"
#include "cli/page_answer.h"
#include "driver/mpi.h"
#include "report/record_file.h"
#include "report/report.h"

struct args {
    struct input_options input;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    OPT_INT(0, "device", "N", struct args, input.device, 0, INT32_MAX,
            "only this device (default: all)"),
    OPT_CHOICE(0, "source", captures_sources, struct args, input.source,
               "preferred source when files overlap (default: auto)"),
};

static const struct example examples[] = {
    {"strata cluster examples/ranks", "who makes the others wait"},
    {"strata cluster examples/ranks --json", "the same as JSON"},
    {"strata cluster examples/ranks -o ranks.html", "a page for a browser"},
};

static void read_inputs(struct session *s, const struct cluster_outcome *out)
{
    for (size_t i = 0; i < out->n_parts; i++)
        for (size_t k = 0; k < out->parts[i].n_sources; k++) {
            const struct cluster_source *source = &out->parts[i].sources[k];
            session_read(s, arena_cstr(&s->arena, source->path),
                         arena_cstr(&s->arena, source->format), source->rows, source->lost);
        }
}

/* The result beside the summaries. */
static enum status cluster_save(struct session *s, const struct cluster_outcome *out)
{
    const char *path = fs_join(&s->arena, s->common.out, "cluster.json");

    TRY(record_save(path, cluster_schema.record, out->result, &s->diag));
    session_wrote(s, path);
    return ST_OK;
}

static void cluster_describe_it(const void *cluster, struct report *r)
{
    cluster_describe(cluster, r);
}

static enum status cluster_give(struct session *s, const struct cluster_outcome *out)
{
    const struct answer a = {.schema = &cluster_schema,
                             .origin = origin_name(ORIGIN_ESTIMATED),
                             .result = out->result,
                             .title = str_basename(str_of(s->operands.at[0])),
                             .describe = cluster_describe_it};

    return page_answer_give(s, &a, page_answer_cluster, out->result);
}

/* Where summaries are kept: in the folder of -o, or beside the page; NULL: nowhere. */
static const char *keep_folder(struct session *s)
{
    struct str page = str_of(s->page != NULL ? s->page->out : "-");

    if (s->page == NULL)
        return s->common.out != NULL ? fs_join(&s->arena, s->common.out, "summaries") : NULL;
    if (str_equal(page, S("-")))
        return NULL;
    if (str_ends(page, S(".html")))
        page.n -= 5;
    return arena_printf(&s->arena, "%.*s.summaries", STR_ARGS(page));
}

extern const struct command command_cluster;

static int cli_cluster_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct cluster_job job = {.path = s->operands.at[0], .input = args->input};
    struct cluster_outcome out;
    struct mpi mpi;

    if (s->page == NULL && s->common.out != NULL && str_ends(str_of(s->common.out), S(".html"))) {
        s->common.html = s->common.out;
        s->common.out = NULL;
        return answer_html(s, &command_cluster, given);
    }
    captures_input(s, &job.input);
    TRY_CODE(session_code(mpi_open(&mpi, &s->arena, &s->diag)));
    job.mpi = &mpi;
    job.keep = keep_folder(s);
    if (mpi.rank > 0)
        job.input.progress = NULL;
    if (mpi.rank > 0 && s->page != NULL)
        s->page->is_written = true; /* by process 0 */
    enum status status = ranks_run(&job, &s->diag, &out);
    if (out.result != NULL) {
        read_inputs(s, &out);
        if (s->common.out != NULL)
            status = cluster_save(s, &out);
        if (status == ST_OK)
            status = cluster_give(s, &out);
    } else if (mpi.rank > 0) { /* process 0 reports what the others met */
        diag_fini(&s->diag);
        diag_init(&s->diag);
        /* And it alone fails then: a launcher ends the others when one process fails, so that the
         * reason might never be printed. */
        if (out.is_failure_shared)
            status = ST_OK;
    }
    cluster_outcome_free(&out);
    mpi_close(&mpi);
    return session_code(status);
}

const struct command command_cluster = {
    .name = "cluster",
    .group = GROUP_EXPLAIN,
    .summary = "analyze all ranks of a run together",
    .usage = "[OPTIONS] DIR",
    .details =
        "Reads the captures of all ranks below a folder one after the other, aligns their clocks "
        "by the ends of collectives, and names who makes the others wait: ranks that compute "
        "slowly, stall on their hosts, wait for storage or have more work than their peers, and "
        "links that transfer slowly. What each costs is replayed across ranks.\n"
        "\n"
        "Each capture is reduced to a summary of at most 1 MB. With -o the summaries are kept in "
        "DIR/summaries, by the content of the files, so that a second run does not read the "
        "captures again; the result is written to DIR/cluster.json. "
        "A folder of such summaries can be given in place of the captures. -o PAGE.html writes a "
        "page for a browser instead: ranks by steps, who waits for whom, links, and the slowest "
        "step on one clock; the summaries are then kept in PAGE.summaries.\n"
        "\n"
        "Under mpirun or srun the captures are divided among the processes by size; the result is "
        "the same.",
    .see = "docs/howto/many-ranks.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_OUT | COMMON_LANG | COMMON_HTML,
    .schemas = {&cluster_schema},
    COMMAND_PARTS,
    .run = cli_cluster_run,
};
