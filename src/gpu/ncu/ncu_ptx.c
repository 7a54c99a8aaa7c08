/*
 * The PTX page. See ncu_source.h.
 */
#include "gpu/ncu/ncu_source.h"

#include "base/files/fs.h"
#include "base/formats/csv.h"
#include "base/text/mangled.h"
#include "base/text/num.h"
#include "gpu/collect/rundir.h"
#include "gpu/ncu/ncu_csv.h"
#include "ops/short_name.h"

bool gpu_ptx_is_header(struct str line)
{
    struct str head = S("\"Line No\",\"Source\"");

    if (!str_starts(line, head))
        return false;
    for (size_t i = head.n; i < line.n; i++)
        if (strchr(", \t\r\"", line.at[i]) == NULL)
            return false; /* other columns: a page with samples */
    return true;
}

/* ---- reading ---- */

struct ptx_page {
    struct gpu_import *in;
    struct csv csv;
    struct text text; /* of the module so far */
};

static void ptx_finish(struct ptx_page *p)
{
    struct str text = text_view(&p->text);

    for (size_t i = 0; i < p->in->ptx.n && text.n > 0; i++)
        if (str_equal(p->in->ptx.at[i], text))
            text.n = 0;
    if (text.n > 0 && p->in->ptx.n < GPU_PTX_MODULES)
        vec_push(&p->in->ptx, arena_str(p->in->arena, text));
    text_free(&p->text);
    p->text = (struct text){0};
}

void gpu_ptx_read(struct gpu_import *in, const char *path, struct str text, uint64_t line_base,
                  struct diag *d)
{
    struct ptx_page *p = ARENA_NEW(in->arena, struct ptx_page);
    uint64_t line;

    p->in = in;
    csv_open(&p->csv, text); /* takes the first row, which is a header or names something */
    while (csv_next(&p->csv)) {
        struct str first = csv_cell(&p->csv, 0);
        if (str_equal(first, S("Line No"))) {
            ptx_finish(p);
        } else if (num_u64(first, &line)) {
            struct str source = csv_unquote(csv_cell(&p->csv, 1), in->arena);
            text_format(&p->text, "%.*s\n", STR_ARGS(source));
            in->rows++;
        } else if (!str_equal(first, S("File Path")) && !str_equal(first, S("Kernel Name")) &&
                   !str_equal(first, S("Function Name")) && !str_equal(first, S("Module"))) {
            in->lost++;
            diag_add(d, SEV_LOSS, "ncu-csv.bad-row",
                     (struct where){.path = path, .line = p->csv.line + line_base},
                     "row skipped: it has no line number");
        }
    }
    ptx_finish(p);
}

/* ---- kernels ---- */

/* The next name behind ".entry"; `rest` goes on behind it. */
static bool next_entry(struct str *rest, struct str *name)
{
    struct str word = S(".entry ");
    size_t at = str_find(*rest, word), end = 0;

    if (at >= rest->n)
        return false;
    *rest = str_trim(str_part(*rest, at + word.n, rest->n));
    while (end < rest->n && strchr("( \t\n", rest->at[end]) == NULL)
        end++;
    *name = str_part(*rest, 0, end);
    *rest = str_part(*rest, end, rest->n);
    return true;
}

static bool has_kernel(struct str ptx, struct str plain)
{
    struct str name;

    while (next_entry(&ptx, &name))
        if (name.n > 0 && str_equal(mangled_plain(name), plain))
            return true;
    return false;
}

void gpu_ptx_attach(struct gpu_import *in)
{
    struct str name;

    if (in->kernels.n > 0)
        return;
    for (size_t i = 0; i < in->ptx.n; i++)
        for (struct str rest = in->ptx.at[i]; next_entry(&rest, &name);) {
            struct gpu_kernel k = gpu_kernel_none();
            bool is_new = name.n > 0;
            k.id = in->kernels.n;
            k.name = mangled_plain(name);
            for (size_t j = 0; j < in->kernels.n; j++)
                is_new = is_new && !str_equal(in->kernels.at[j].name, k.name);
            if (!is_new)
                continue;
            vec_push(&in->kernels, k);
            vec_push(&in->known, ((struct gpu_known){1u << GPU_PAGE_PTX, in->n_pages}));
        }
}

/* ---- writing ---- */

enum status gpu_ptx_write(const char *dir, const struct gpu_import *in, const struct gpu_run *run,
                          struct diag *d)
{
    struct arena arena;
    enum status st = ST_OK;

    if (in == NULL || in->ptx.n == 0)
        return ST_OK;
    arena_init(&arena);
    const char *folder = fs_join(&arena, dir, "ptx");
    st = fs_mkdirs(folder, d);
    for (size_t k = 0; k < run->kernels.n && st == ST_OK; k++) {
        struct str shown = short_name_of(run->kernels.at[k].name);
        struct str plain = str_part(shown, 0, str_find_char(shown, '<')); /* without "lib::" */
        for (size_t at; (at = str_find(plain, S("::"))) < plain.n;)
            plain = str_part(plain, at + 2, plain.n);
        const char *name = arena_printf(
            &arena, "%.*s.ptx", STR_ARGS(fs_safe_name(&arena, str_part(shown, 0, 80), '-')));
        for (size_t i = 0; i < in->ptx.n && !fs_exists(fs_join(&arena, folder, name)); i++)
            if (st == ST_OK && has_kernel(in->ptx.at[i], plain))
                st = gpu_rundir_put(folder, name, in->ptx.at[i], d);
    }
    arena_free(&arena);
    return st;
}
