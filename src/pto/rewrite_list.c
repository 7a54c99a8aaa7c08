/*
 * The list of changes to a text, and what they are called.
 */
#include "pto/rewrite.h"
#include "text/pto.h"

void pto_rewrites_init(struct pto_rewrites *out)
{
    memset(out, 0, sizeof(*out));
    arena_init(&out->arena);
}

void pto_rewrites_free(struct pto_rewrites *out)
{
    vec_free(&out->list);
    arena_free(&out->arena);
}

struct str pto_rewrite_title(const struct pto_rewrite *w, enum lang lang, struct arena *arena)
{
    static const struct message *const texts[PTO_REWRITE_COUNT] = {
        &pto_text.rewrite_double, &pto_text.rewrite_apart, &pto_text.rewrite_swap,
        &pto_text.rewrite_set,    &pto_text.rewrite_wait,  &pto_text.rewrite_size,
        &pto_text.rewrite_split_k};

    struct str title =
        MESSAGE(lang, arena, texts[w->kind], PLACE("name", w->name), PLACE("line", w->line),
                PLACE("n", w->tiles), PLACE("to", w->use_line), PLACE("size", w->size),
                PLACE("new_size", w->new_size));
    return w->is_doubled ? MESSAGE(lang, arena, &pto_text.rewrite_doubled, PLACE("title", title))
                         : title;
}
