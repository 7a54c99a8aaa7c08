/*
 * Which resource bounds a kernel, and how that is said.
 */
#include "report/limits.h"

#include <stdlib.h>

#include "base/tables/vec.h"
#include "base/text/num.h"
#include "report/record.h"
#include "text/limit.h"

/* A saving below this part of the total is none. */
enum { LEAST_PERMILLE = 10, MOST_OTHERS = 3 };

static const struct {
    const char *name, *advice;
} words[] = {
#define LIMIT(code, name, advice) {name, advice},
#include "report/limits.def"
#undef LIMIT
};

const char *limit_name(enum limit what)
{
    return words[what].name;
}

const char *limit_advice(enum limit what)
{
    return words[what].advice;
}

static struct limiter *limits_find(struct limit_list *l, enum limit what)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].what == what)
            return &l->at[i];
    l->at[l->n] = (struct limiter){.what = what};
    return &l->at[l->n++];
}

void limits_add(struct limit_list *l, enum limit what, int64_t path)
{
    if (path > 0)
        limits_find(l, what)->path += path;
}

/* The most it can save, as far as that is known before it is tried; a little more than its part of
 * the path, as transfers of one pipe may hold up those of another one in memory. */
static int64_t most_saved(const struct limit_list *l, const struct limiter *x)
{
    return x->what == LIMIT_BUFFERS || x->what == LIMIT_SYNC ? l->total : x->path + x->path / 8;
}

enum limit limits_next(const struct limit_list *l, bool all)
{
    const struct limiter *next = NULL;
    int64_t best = l->total * LEAST_PERMILLE / 1000;

    for (size_t i = 0; i < l->n; i++) {
        const struct limiter *x = &l->at[i];
        if (x->is_tried)
            best = x->saved > best ? x->saved : best;
        else if (next == NULL || most_saved(l, x) > most_saved(l, next))
            next = x;
    }
    if (next == NULL || (!all && most_saved(l, next) <= best))
        return LIMIT_NOTHING;
    return next->what;
}

void limits_try(struct limit_list *l, enum limit what, int64_t total)
{
    struct limiter *x = limits_find(l, what);

    x->is_tried = true;
    x->saved = total < l->total ? l->total - total : 0;
}

ORDER_BY(by_saving, struct limiter,
         ORDER(y->saved, x->saved) ?: ORDER(y->path, x->path) ?: ORDER(x->what, y->what));

void limits_judge(struct limit_list *l)
{
    if (l->n > 0)
        qsort(l->at, l->n, sizeof(*l->at), by_saving);
    for (size_t i = 0; i < l->n; i++) {
        l->at[i].path_share = num_share(l->at[i].path, l->total);
        l->at[i].saved_share = num_share(l->at[i].saved, l->total);
    }
    l->bound = l->n == 0 ? LIMIT_NOTHING
               : l->at[0].saved > 0 && l->at[0].saved * 1000 >= l->total * LEAST_PERMILLE
                   ? l->at[0].what
                   : LIMIT_BALANCE;
}

const struct limiter *limits_first(const struct limit_list *l)
{
    bool is_none =
        l->bound == LIMIT_NOTHING || l->bound == LIMIT_UNSEEN || l->bound == LIMIT_BALANCE;

    return is_none ? NULL : &l->at[0];
}

struct str limits_text(const struct limit_list *l, enum lang lang, struct arena *arena)
{
    const struct limiter *x = limits_first(l);
    struct str bound = message_word(lang, str_of(limit_name(l->bound)));

    if (x == NULL)
        return MESSAGE(lang, arena,
                       l->bound == LIMIT_UNSEEN ? &limit_text.unseen : &limit_text.bare,
                       PLACE("bound", bound),
                       PLACE("advice", message_word(lang, str_of(limit_advice(l->bound)))));
    return MESSAGE(lang, arena, &limit_text.bound, PLACE("bound", bound),
                   PLACE("path", 100 * x->path_share), PLACE("saved", 100 * x->saved_share));
}

struct str limits_others(const struct limit_list *l, enum lang lang, struct arena *arena)
{
    struct str text = S("");

    for (size_t i = 1; i < l->n && i <= MOST_OTHERS && limits_first(l) != NULL; i++) {
        const struct limiter *x = &l->at[i];
        if (x->saved * 1000 < l->total * LEAST_PERMILLE)
            break;
        struct str one = MESSAGE(lang, arena, &limit_text.other,
                                 PLACE("bound", message_word(lang, str_of(limit_name(x->what)))),
                                 PLACE("saved", 100 * x->saved_share));
        text = arena_format(arena, "%.*s%s%.*s", STR_ARGS(text), i > 1 ? ", " : "", STR_ARGS(one));
    }
    return text;
}

static const struct field fields[] = {
    FIELD_OF_ENUM(struct limiter, what, "limit", limit_name, LIMITS),
    FIELD(struct limiter, path, "path_cycles", .about = "of the critical path"),
    FIELD(struct limiter, path_share, "path_share", .about = "of all cycles"),
    FIELD(struct limiter, saved, "saved_cycles", WHEN(struct limiter, is_tried),
          .is_optional = true, .about = "if it cost nothing; absent where it cannot be the bound"),
    FIELD(struct limiter, saved_share, "saved_share", WHEN(struct limiter, is_tried),
          .is_optional = true),
};
const struct record limiter_record = RECORD(struct limiter, fields);
