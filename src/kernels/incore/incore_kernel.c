/*
 * One kernel of a run: its texts, what was given for its arguments, and what it has to say.
 */
#include <limits.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/limits.h"
#include "base/run/cancel.h"
#include "kernels/incore/incore_run.h"
#include "kernels/replay/draft.h"

void incore_kernel_step(const struct incore_run *run, struct incore_kernel *k, const char *step)
{
    const char *line = arena_printf(&k->arena, "[%02zu/%02zu] %s %s", k->number, run->kernels.n,
                                    step, k->source->name);

    if (k->says_now && run->job->say != NULL)
        run->job->say(run->job->say_ctx, line);
    else
        vec_push(&k->lines, line);
}

bool incore_kernel_names(const struct incore_kernel *k, struct str name, size_t i)
{
    int64_t number;

    if (name.n > 0 && name.at[0] == '%')
        name = str_part(name, 1, name.n);
    if (i < k->sizes.n && str_equal(k->sizes.args[i].name, name))
        return true;
    if (k->has_entry && i < k->entry.n_params && str_equal(k->entry.params[i].name, name))
        return true;
    for (size_t n = 0; n < k->slots.n; n++)
        if (k->slots.at[n].index == (int64_t)i && str_equal(k->slots.at[n].name, name))
            return true;
    return num_i64(name, &number) && number >= 0 && (uint64_t)number == i;
}

struct str incore_kernel_given(const struct incore_kernel *k, const struct words *list, size_t i)
{
    struct str value = {0};

    for (size_t n = 0; n < list->n; n++) {
        struct str text = str_of(list->at[n]);
        size_t equal = str_find_char(text, '=');
        if (incore_kernel_names(k, str_part(text, 0, equal), i))
            value = str_part(text, equal + 1, text.n);
    }
    return value;
}

struct str incore_kernel_note(struct incore_kernel *k, struct str workload, struct str name,
                              struct str value, const char *how)
{
    return arena_format(&k->arena, "%.*s%s%.*s=%.*s%s", STR_ARGS(workload),
                        workload.n > 0 ? "; " : "", STR_ARGS(name), STR_ARGS(value), how);
}

const char *incore_kernel_no_pto(struct incore_kernel *k)
{
    return arena_printf(&k->arena, "sibling .pto not found next to the kernel: %s",
                        k->source->expected);
}

const char *incore_kernel_error(struct incore_kernel *k)
{
    for (size_t i = 0; i < k->diag.entries.n; i++) {
        const struct diag_entry *e = &k->diag.entries.at[i];
        const struct diag_text *t = &e->first[0];
        if (e->severity != SEV_ERROR)
            continue;
        if (t->where.path == NULL)
            return arena_cstr(&k->arena, str_of(t->text));
        if (t->where.line == 0)
            return arena_printf(&k->arena, "%s: %s", t->where.path, t->text);
        bool has_column = strncmp(t->text, "column ", 7) == 0;
        return arena_printf(&k->arena, "%s:%llu:%s%s", t->where.path,
                            (unsigned long long)t->where.line, has_column ? "" : " ",
                            t->text + (has_column ? 7 : 0));
    }
    return cancelled() ? "interrupted" : "failed without a message";
}

enum status incore_kernel_open(struct incore_kernel *k, struct incore_texts *t)
{
    const struct kernel_source *s = k->source;

    *t = (struct incore_texts){0};
    if (s->pto != NULL) {
        TRY(mapfile_open(&t->pto, s->pto, &k->diag));
        if (t->pto.text.n > LIMIT_PTO_BYTES)
            return diag_fail(&k->diag, ST_LIMIT, "incore-run.too-large",
                             (struct where){.path = s->pto},
                             "%zu MB is too large for a kernel (limit %d MB)", t->pto.text.n >> 20,
                             LIMIT_PTO_BYTES >> 20);
        k->text = t->pto.text;
    }
    if (s->cpp != NULL) {
        TRY(mapfile_open(&t->cpp, s->cpp, &k->diag));
        if (t->cpp.text.n <= LIMIT_PTO_BYTES) {
            k->cpp = t->cpp.text;
            k->has_entry = entry_find(&k->arena, k->cpp, s->cpp, &k->entry, NULL) == ST_OK;
        }
    }
    k->is_cpp = s->pto == NULL && discover_is_cpp(k->cpp);
    if (k->is_cpp && str_contains(k->cpp, S("kernel_entry")))
        draft_slots(k->cpp, 1, &k->arena, &k->slots);
    gm_text_scan(&k->arena, k->text, k->has_entry ? k->entry.name : str_of(s->stem), &k->sizes);
    return ST_OK;
}

void incore_kernel_close(struct incore_texts *t)
{
    mapfile_close(&t->pto);
    mapfile_close(&t->cpp);
}

/* A path that means the same from everywhere. */
static const char *from_root(struct arena *arena, const char *path)
{
    char here[PATH_MAX];

    return path[0] == '/' || getcwd(here, sizeof(here)) == NULL ? path : fs_join(arena, here, path);
}

void incore_kernel_begin(struct incore_kernel *k, const struct kernel_source *s, size_t number)
{
    *k = (struct incore_kernel){.source = s, .number = number};
    arena_init(&k->arena);
    diag_init(&k->diag);
    k->row = (struct run_row){.func = s->name,
                              .status = "failed",
                              .source = from_root(&k->arena, s->path),
                              .intensity = -1};
}

void incore_kernel_end(struct incore_kernel *k)
{
    vec_free(&k->lines);
    vec_free(&k->slots);
    diag_fini(&k->diag);
    arena_free(&k->arena);
    k->source = NULL;
}
