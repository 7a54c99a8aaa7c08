/*
 * Where the files of an analysis go, and how they are written.
 */
#include "answers/results.h"

#include "base/files/fs.h"
#include "base/text/char.h"
#include "render/render.h"

static struct str without_slashes(struct str path)
{
    while (path.n > 0 && path.at[path.n - 1] == '/')
        path.n--;
    return path;
}

const char *results_name(struct arena *arena, const char *path)
{
    static const struct str inner[] = {S_INIT("ASCEND_PROFILER_OUTPUT"),
                                       S_INIT("mindstudio_profiler_output")};
    struct str rest = without_slashes(str_of(path));
    struct str name = str_basename(rest);

    for (size_t i = 0; i < ARRAY_LEN(inner); i++)
        if (str_equal(name, inner[i]) && name.n < rest.n) {
            rest = without_slashes(str_part(rest, 0, rest.n - name.n));
            name = str_basename(rest);
        }
    char *text = arena_cstr(arena, name.n > 0 ? str_part(name, 0, 200) : S("capture"));
    for (char *c = text; *c != '\0'; c++)
        if (!char_is_word(*c) && *c != '.' && *c != '-')
            *c = '_';
    return text;
}

enum status results_save(const char *folder, const char *path, struct str text, struct diag *d)
{
    struct outfile file;

    TRY(fs_mkdirs(folder, d));
    TRY(outfile_open(&file, path, d));
    outfile_write(&file, text);
    return outfile_commit(&file, OUTFILE_FAST, d);
}

static void answers_results_put(struct sink out, struct str text)
{
    out.write(out.ctx, text);
}

enum status results_save_markdown(const char *path, const struct answer *a, enum lang lang,
                                  struct diag *d)
{
    struct outfile file;
    bool has_begun = false;

    TRY(outfile_open(&file, path, d));
    for (size_t i = 0; i < answer_reports(a); i++) {
        struct report *r = answer_report(a, i, lang);
        if (r == NULL)
            continue;
        if (has_begun)
            outfile_write(&file, S("\n"));
        render_write(&renderer_markdown, r, &(struct render_options){0}, outfile_sink(&file));
        report_free(r);
        has_begun = true;
    }
    return outfile_commit(&file, OUTFILE_FAST, d);
}

void results_put(struct sink out, const char *schema, size_t i, size_t n, struct str document)
{
    struct str line;

    if (n == 1) {
        answers_results_put(out, document);
        return;
    }
    if (i == 0) {
        answers_results_put(out, S("{\n  \"schema\": \""));
        answers_results_put(out, str_of(schema));
        answers_results_put(out, S("\",\n  \"captures\": ["));
    }
    answers_results_put(out, i == 0 ? S("\n") : S(",\n"));
    /* Every line is indented, and the last line end is left out. */
    while (document.n > 0 && document.at[document.n - 1] == '\n')
        document.n--;
    for (bool is_first = true; str_split(&document, '\n', &line); is_first = false) {
        answers_results_put(out, is_first ? S("    ") : S("\n    "));
        answers_results_put(out, line);
    }
    if (i + 1 == n)
        answers_results_put(out, S("\n  ]\n}\n"));
}
