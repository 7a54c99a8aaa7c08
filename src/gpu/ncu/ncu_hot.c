/*
 * Where warps were seen waiting most: the hottest instructions and lines of each listing, hung on
 * the kernel that it belongs to.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text/char.h"
#include "gpu/ncu/ncu_csv.h"
#include "gpu/ncu/ncu_page.h"

enum { HOT = 10 };

static int hotter_sass(const void *a, const void *b)
{
    const struct gpu_sass *const *x = a, *const *y = b;
    double p = isnan((*x)->samples) ? 0 : (*x)->samples,
           q = isnan((*y)->samples) ? 0 : (*y)->samples;

    return ORDER(q, p) ?: ORDER((*x)->pc, (*y)->pc);
}

static int hotter_line(const void *a, const void *b)
{
    const struct gpu_line *const *x = a, *const *y = b;
    double p = isnan((*x)->samples) ? 0 : (*x)->samples,
           q = isnan((*y)->samples) ? 0 : (*y)->samples;

    return ORDER(q, p) ?: str_compare((*x)->file, (*y)->file) ?: ORDER((*x)->line, (*y)->line);
}

double gpu_listing_share(const struct gpu_listing *l, double samples)
{
    return l->samples > 0 ? 100 * samples / l->samples : 0;
}

struct str gpu_listing_stall(const struct gpu_listing *l, const double *stalls)
{
    struct str best = {"", 0};
    double most = 0;

    for (size_t i = 0; i < l->stall_names.n; i++)
        if (stalls[i] > most && !str_ends(l->stall_names.at[i], S("_not_issued"))) {
            most = stalls[i];
            best = l->stall_names.at[i];
        }
    return best;
}

static void attach_sass(struct arena *arena, const struct gpu_listing *l, struct gpu_kernel *k)
{
    const struct gpu_sass **order = ARENA_ARRAY(arena, const struct gpu_sass *, l->sass.n + 1);

    for (size_t i = 0; i < l->sass.n; i++)
        order[i] = &l->sass.at[i];
    if (l->sass.n > 0)
        qsort(order, l->sass.n, sizeof(*order), hotter_sass);
    for (size_t i = 0; i < l->sass.n && i < HOT && order[i]->samples > 0; i++) {
        double inst = NAN;
        gpu_number(order[i]->cells[GPU_SASS_INST], GPU_NUMBERS_ENGLISH, &inst);
        vec_push(&k->hot_instructions,
                 ((struct gpu_hot){
                     .place = arena_format(arena, "0x%04llx", (unsigned long long)order[i]->pc),
                     .text = order[i]->text,
                     .samples = order[i]->samples,
                     .share = gpu_listing_share(l, order[i]->samples),
                     .inst = inst,
                     .stall = gpu_listing_stall(l, order[i]->stalls)}));
    }
}

const struct gpu_line **gpu_hot_lines(struct arena *arena, const struct gpu_listing *l)
{
    const struct gpu_line **order = ARENA_ARRAY(arena, const struct gpu_line *, l->lines.n + 1);

    for (size_t i = 0; i < l->lines.n; i++)
        order[i] = &l->lines.at[i];
    if (l->lines.n > 0)
        qsort(order, l->lines.n, sizeof(*order), hotter_line);
    return order;
}

void gpu_listing_attach(struct arena *arena, const struct gpu_listing *l, struct gpu_kernel *k)
{
    const struct gpu_line **order = gpu_hot_lines(arena, l);

    attach_sass(arena, l, k);
    for (size_t i = 0; i < l->lines.n && i < HOT && order[i]->samples > 0; i++)
        vec_push(
            &k->hot_lines,
            ((struct gpu_hot){.place = arena_format(arena, "%.*s:%llu", STR_ARGS(order[i]->file),
                                                    (unsigned long long)order[i]->line),
                              .text = str_trim(order[i]->text),
                              .samples = order[i]->samples,
                              .share = gpu_listing_share(l, order[i]->samples),
                              .inst = order[i]->inst,
                              .stall = order[i]->stall}));
}

/* Source pages spell the arguments of templates with their types: "<(int)32>" for "<32>". */
static struct str without_casts(struct arena *arena, struct str name)
{
    char *plain = arena_alloc(arena, name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        struct str rest = str_part(name, i, name.n);
        size_t close = str_find_char(rest, ')');
        bool is_cast = rest.at[0] == '(' && n > 0 && (plain[n - 1] == '<' || plain[n - 1] == ' ') &&
                       close + 1 < rest.n &&
                       (char_is_digit(rest.at[close + 1]) || rest.at[close + 1] == '-');
        if (is_cast)
            i += close;
        else
            plain[n++] = name.at[i];
    }
    return (struct str){plain, n};
}

void gpu_source_attach(struct gpu_import *in)
{
    size_t n = in->kernels.n;
    struct str *plain = ARENA_ARRAY(in->arena, struct str, n + 1);

    for (size_t i = 0; i < n; i++)
        plain[i] = without_casts(in->arena, in->kernels.at[i].name);
    for (size_t i = 0; i < in->listings.n; i++) {
        struct gpu_listing *l = &in->listings.at[i];
        size_t at = 0;
        l->kernel = without_casts(in->arena, l->kernel);
        /* The first launch of that name without a listing; a new one when no page told of it. */
        while (at < n &&
               (in->kernels.at[at].hot_instructions.n + in->kernels.at[at].hot_lines.n > 0 ||
                !str_equal(plain[at], l->kernel)))
            at++;
        if (at == n) {
            struct gpu_kernel k = gpu_kernel_none();
            at = k.id = in->kernels.n;
            k.name = l->kernel;
            vec_push(&in->kernels, k);
            vec_push(&in->known, (struct gpu_known){.kinds = 1u << GPU_PAGE_SOURCE});
        }
        gpu_listing_attach(in->arena, l, &in->kernels.at[at]);
    }
}
