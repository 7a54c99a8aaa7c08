/*
 * The architecture job: captures in, reports and documents out.
 */
#include "answers/answer_arch.h"

#include "analysis/arch/arch.h"
#include "analysis/arch/arch_rules.h"
#include "analysis/study.h"
#include "answers/results.h"
#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "capture/fleet.h"
#include "report/report.h"
#include "text/arch.h"

void arch_document_fill(struct study *st, const struct arch *a, enum lang lang, struct arena *arena,
                        struct arch_document *out)
{
    arch_write_md(st, a, lang, &out->markdown);
    arch_write_json(st, a, text_sink(&out->json));
    out->rank = st->cap->facts.rank;
    for (enum lang of = 0; of < LANGS; of++)
        out->summary[of] = arch_summary(arena, a, of);
    out->row = arch_cover_row_of(st, a, lang, arena);
}

static enum status read_rules(const struct arch_job *job, struct arena *arena,
                              struct arch_rules *rules, struct diag *d)
{
    *rules = (struct arch_rules){0};
    if (job->rules != NULL) {
        struct mapfile file;
        TRY(mapfile_open(&file, job->rules, d));
        enum status st = arch_rules_read(arena, file.text, job->rules, rules, d);
        mapfile_close(&file);
        if (st != ST_OK)
            return st;
    }
    return job->marker != NULL ? arch_rules_marker(arena, job->marker, rules, d) : ST_OK;
}

static void set_paths(struct arena *arena, const char *folder, const char *name, bool is_alone,
                      struct arch_document *doc)
{
    struct str base = arena_format(arena, "model_architecture_report_%s", name);

    if (!is_alone)
        base = arena_format(arena, "%.*s_rank%lld", STR_ARGS(base), (long long)doc->rank);
    doc->markdown_path = fs_join(arena, folder, arena_format(arena, "%.*s.md", STR_ARGS(base)).at);
    doc->json_path = fs_join(arena, folder, arena_format(arena, "%.*s.json", STR_ARGS(base)).at);
}

static enum status arch_save(const char *folder, const struct arch_document *doc, struct diag *d)
{
    TRY(results_save(folder, doc->markdown_path, (struct str){doc->markdown.at, doc->markdown.n},
                     d));
    return results_save(folder, doc->json_path, (struct str){doc->json.at, doc->json.n}, d);
}

const char *arch_words(struct arena *arena, const char *path)
{
    struct str file = str_basename(str_of(path));
    const char *name = results_name(arena, path);

    if (fs_is_dir(path) || file.at == path)
        return name;
    const char *folder = arena_cstr(arena, (struct str){path, (size_t)(file.at - path)});
    return arena_format(arena, "%s_%s", results_name(arena, folder), name).at;
}

static bool is_taken(const struct arch_result *result, size_t n, int64_t rank)
{
    for (size_t i = 0; i < n; i++)
        if (result->at[i].rank == rank)
            return true;
    return false;
}

static bool arch_write_twins(const void *found, struct sink sink)
{
    const struct arch_result *result = found;

    for (size_t i = 0; i < result->n; i++)
        results_put(sink, "strata.arch-set/1", i, result->n, text_view(&result->at[i].json));
    return true; /* the sink remembers a failure */
}

enum status arch_result_save(struct arch_result *result, const char *path, const char *out,
                             bool is_dry_run, struct arena *arena, struct diag *d)
{
    const char *folder = out != NULL ? out : "";
    const char *name = results_name(arena, path);
    bool is_alone = result->n == 1;

    for (size_t i = 0; i < result->n; i++) {
        if (!is_alone) {
            /* Captures without a rank, or that share one, are numbered: files need names. */
            struct arch_document *doc = &result->at[i];
            if (doc->rank < 0 || is_taken(result, i, doc->rank))
                for (doc->rank = 0; is_taken(result, i, doc->rank);)
                    doc->rank++;
            doc->row.rank = doc->rank;
        }
        set_paths(arena, folder, name, is_alone, &result->at[i]);
    }
    if (!is_alone) {
        struct arch_cover_row *rows = ARENA_ARRAY(arena, struct arch_cover_row, result->n);
        for (size_t i = 0; i < result->n; i++) {
            rows[i] = result->at[i].row;
            rows[i].file = arena_cstr(arena, str_basename(str_of(result->at[i].markdown_path)));
        }
        arch_cover_write(arena, result->lang, name, rows, result->n, &result->cover.markdown);
        set_paths(arena, folder, name, true, &result->cover);
        arch_write_twins(result, text_sink(&result->cover.json));
    }
    if (is_dry_run || out == NULL)
        return ST_OK;
    for (size_t i = 0; i < result->n; i++)
        TRY(arch_save(folder, &result->at[i], d));
    return is_alone ? ST_OK : arch_save(folder, &result->cover, d);
}

enum status answer_arch(const struct arch_job *job, struct arena *arena, struct diag *d,
                        struct arch_result *out)
{
    struct arch_rules rules;

    *out = (struct arch_result){.lang = job->lang};
    TRY(read_rules(job, arena, &rules, d));
    TRY(input_load_paths(job->paths, job->n_paths, &job->input, d, &out->fleet));
    struct arch_options options = {.rules = &rules,
                                   .name = str_of(arch_words(arena, job->paths[0]))};
    out->at = ARENA_ARRAY(arena, struct arch_document, out->fleet->ranks.n);
    out->n = out->fleet->ranks.n;
    fleet_study_begin(&out->ranks, out->fleet, study_contract());
    for (size_t i = 0; i < out->n; i++) {
        struct study *st = &out->ranks.ranks[i];
        arch_document_fill(st, arch_find(st, &options), job->lang, arena, &out->at[i]);
    }
    return arch_result_save(out, job->paths[0], job->out, job->is_dry_run, arena, d);
}

void arch_result_free(struct arch_result *result)
{
    for (size_t i = 0; i < result->n; i++) {
        text_free(&result->at[i].markdown);
        text_free(&result->at[i].json);
    }
    text_free(&result->cover.markdown);
    text_free(&result->cover.json);
    if (result->ranks.n > 0)
        fleet_study_end(&result->ranks);
    fleet_free(result->fleet);
}

static void arch_describe(const void *found, struct report *r)
{
    const struct arch_result *result = found;

    for (size_t i = 0; i < result->n; i++) {
        const char *summary = result->at[i].summary[r->lang];
        report_line_text(r, result->n == 1 ? str_of(summary)
                                           : REPORT_MESSAGE(r, &arch_text.rank_summary,
                                                            PLACE("rank", result->at[i].rank),
                                                            PLACE("summary", summary)));
    }
}

struct answer arch_answer(const struct arch_result *result)
{
    return (struct answer){.schema = result->n == 1 ? &arch_schema : NULL,
                           .result = result,
                           .title = S(""),
                           .describe = arch_describe,
                           .write = arch_write_twins};
}
