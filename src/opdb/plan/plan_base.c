/*
 * Databases of a plan. See plan_in.h.
 */
#include "opdb/plan/plan_in.h"

#include <stdlib.h>

#include "base/files/fs.h"
#include "base/text/char.h"
#include "opdb/rows/opset.h"

/* ---- versions ---- */

/* "1.2.0rc5" before "1.2.0rc10" before "1.3.0": numbers by value, texts by letters. */
static int by_version(struct str a, struct str b)
{
    while (a.n > 0 && b.n > 0) {
        size_t x = str_digits(a), y = str_digits(b);
        if (x > 0 && y > 0) {
            struct str m = str_part(a, 0, x), n = str_part(b, 0, y);
            while (m.n > 1 && m.at[0] == '0')
                m = str_part(m, 1, m.n);
            while (n.n > 1 && n.at[0] == '0')
                n = str_part(n, 1, n.n);
            int order = ORDER(m.n, n.n) ?: str_compare(m, n);
            if (order != 0)
                return order;
            a = str_part(a, x, a.n);
            b = str_part(b, y, b.n);
            continue;
        }
        if (a.at[0] != b.at[0])
            return ORDER((unsigned char)a.at[0], (unsigned char)b.at[0]);
        a = str_part(a, 1, a.n);
        b = str_part(b, 1, b.n);
    }
    return ORDER(a.n, b.n);
}

ORDER_BY(newest_first, struct fs_entry, by_version(y->name, x->name));

static bool has_table(struct arena *arena, const char *dir, const char *op)
{
    return fs_exists(arena_printf(arena, "%s/%s.csv", dir, op));
}

static bool is_database(struct arena *arena, const char *dir)
{
    return has_table(arena, dir, "MatMulV2") || fs_exists(fs_join(arena, dir, "engine.yaml"));
}

/* ---- rows of the model ---- */

struct asking {
    struct plan_base *base;
    const char *missing; /* the first kind of call that no row is like */
};

static bool is_asked(const struct model_call *c)
{
    return c->op == MODEL_PRODUCT || c->op == MODEL_PREFILL || c->op == MODEL_DECODE ||
           c->op == MODEL_LATENT_DECODE || c->op == MODEL_MODULE;
}

static void ask_rows(void *ctx, const struct model_call *c)
{
    struct asking *x = ctx;
    struct call_times *t = &x->base->curves.times;
    struct opset *set;
    struct call_work w;
    struct arena scratch;

    if (!is_asked(c) || x->missing != NULL)
        return;
    arena_init(&scratch);
    t->arena = &scratch;
    bool is_placed = call_work(t, c, &set, &w);
    if (is_placed && (set == NULL || opset_find(set, &w) == NULL))
        x->missing = c->what;
    t->arena = NULL;
    arena_free(&scratch);
}

/* What the model calls that the database has no rows of; NULL: nothing. */
static const char *lacks(struct plan_base *b, const struct plan_request *r)
{
    static const struct model_load load = {
        .decodes = 8, .keys = 1024, .prompts = 1, .queries = 1024};
    struct asking x = {.base = b};
    struct model_layout one = model_layout_one();

    model_calls(r->model, &one, &r->model->types, &load, 0, ask_rows, &x);
    return x.missing;
}

static enum status open_base(struct plan *p, const char *dir, struct plan_base *b, struct diag *d)
{
    const struct plan_request *r = p->request;

    b->dir = dir;
    TRY(query_open(&b->db, dir, d));
    curves_init(&b->curves, &b->db, d);
    b->curves.times.links = r->links;
    const char *links = fs_join(&p->arena, dir, "../../links.csv");
    if (r->links.n == 0 && fs_exists(links))
        TRY(links_read(links, S(""), &b->curves.times.links, d));
    b->curves.times.spread = r->spread;
    b->engine_cost = *calibration_of(&r->calibration, b->engine);
    if (r->host_us >= 0)
        b->engine_cost.host_us = r->host_us;
    return ST_OK;
}

static void close_base(struct plan_base *b)
{
    curves_free(&b->curves);
    query_close(&b->db);
}

/* The versions of an engine, newest first; the first one with rows of all kinds of calls. */
static enum status open_newest(struct plan *p, const char *engine_dir, struct plan_base *b,
                               struct diag *d)
{
    struct fs_list list;
    const char *missing = NULL, *newest = NULL;

    TRY(fs_list(&p->arena, engine_dir, &list, d));
    qsort(list.at, list.n, sizeof(*list.at), newest_first);
    for (size_t i = 0; i < list.n; i++) {
        if (list.at[i].kind != FS_DIR || !is_database(&p->arena, list.at[i].path))
            continue;
        b->version = list.at[i].name;
        TRY(open_base(p, list.at[i].path, b, d));
        const char *lacking = lacks(b, p->request);
        if (lacking == NULL)
            return ST_OK;
        newest = newest != NULL ? newest : arena_cstr(&p->arena, b->version);
        missing = missing != NULL ? missing : lacking;
        close_base(b);
    }
    return diag_fail(d, ST_NOT_FOUND, "plan.no-rows", (struct where){.path = engine_dir},
                     newest != NULL ? "no version has rows for all calls of %.*s: %s lacks \"%s\""
                                    : "no version of this engine has tables",
                     STR_ARGS(p->request->model->name), newest, missing);
}

/* Folders of collectives lie beside those of engines and are none. With several engines there is no
 * default: their times differ by more than the layouts that a plan chooses from. */
static enum status choose_engine(struct plan *p, const char *system_dir, struct plan_base *b,
                                 struct diag *d)
{
    const struct plan_request *r = p->request;
    struct fs_list list;
    size_t n = 0, at = 0;

    if (r->engine.n > 0) {
        b->engine = r->engine;
        return ST_OK;
    }
    TRY(fs_list(&p->arena, system_dir, &list, d));
    for (size_t i = 0; i < list.n; i++)
        if (list.at[i].kind == FS_DIR && !str_equal(list.at[i].name, S("nccl")) &&
            !str_equal(list.at[i].name, S("oneccl")) && !str_equal(list.at[i].name, S("hccl"))) {
            at = i;
            n++;
        }
    if (n == 1) {
        b->engine = list.at[at].name;
        return ST_OK;
    }
    enum status st =
        diag_fail(d, ST_NOT_FOUND, "plan.which-engine", (struct where){.path = system_dir},
                  n == 0 ? "no engine has tables here" : "%zu engines have tables here", n);
    for (size_t i = 0; i < list.n && n > 0; i++)
        if (list.at[i].kind == FS_DIR)
            diag_hint(d, "try", "--engine %.*s", STR_ARGS(list.at[i].name));
    return st;
}

/* Each level that is missing has a message of its own, as each has another way out. */
static enum status open_system(struct plan *p, struct str system, struct diag *d)
{
    const struct plan_request *r = p->request;
    struct plan_base *b = ARENA_NEW(&p->arena, struct plan_base);
    const char *dir = arena_printf(&p->arena, "%s/%.*s", r->databases, STR_ARGS(system));

    b->system = system;
    b->version = r->version;
    if (!fs_is_dir(dir))
        return diag_fail(d, ST_NOT_FOUND, "plan.no-system", (struct where){.path = r->databases},
                         "no system \"%.*s\" here", STR_ARGS(system));
    TRY(choose_engine(p, dir, b, d));
    const char *engine = arena_printf(&p->arena, "%s/%.*s", dir, STR_ARGS(b->engine));
    if (!fs_is_dir(engine))
        return diag_fail(d, ST_NOT_FOUND, "plan.no-engine", (struct where){.path = dir},
                         "no engine \"%.*s\" here", STR_ARGS(b->engine));
    if (r->version.n == 0)
        TRY(open_newest(p, engine, b, d));
    else
        TRY(open_base(p, arena_printf(&p->arena, "%s/%.*s", engine, STR_ARGS(r->version)), b, d));
    vec_push(&p->bases, b);
    return ST_OK;
}

/* One database: its path may say device, engine and version. */
static enum status open_single(struct plan *p, struct diag *d)
{
    struct plan_base *b = ARENA_NEW(&p->arena, struct plan_base);

    TRY(open_base(p, p->request->databases, b, d));
    b->system = tree_get_text(b->db.origin, S("device"),
                              b->db.device != NULL ? str_of(b->db.device->name) : S("unknown"));
    b->engine = tree_get_text(b->db.origin, S("engine"), S(""));
    b->version = tree_get_text(b->db.origin, S("version"), S(""));
    b->engine_cost = *calibration_of(&p->request->calibration, b->engine);
    if (p->request->host_us >= 0)
        b->engine_cost.host_us = p->request->host_us;
    vec_push(&p->bases, b);
    return ST_OK;
}

enum status plan_bases_open(struct plan *p, struct diag *d)
{
    const struct plan_request *r = p->request;

    if (r->n_systems == 0)
        return open_single(p, d);
    for (size_t i = 0; i < r->n_systems; i++)
        TRY(open_system(p, r->systems[i], d));
    return ST_OK;
}

void plan_bases_close(struct plan *p)
{
    for (size_t i = 0; i < p->bases.n; i++)
        close_base(p->bases.at[i]);
    vec_free(&p->bases);
}
