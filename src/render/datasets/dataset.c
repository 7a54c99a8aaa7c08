/*
 * Chunks of a table on their way to a file: filled and packed side by side, appended in order.
 */
#include "render/datasets/dataset.h"

#include "base/run/cancel.h"
#include "base/run/pool.h"

enum { SLOTS_MOST = 16 };

void dataset_piece_free(struct dataset_piece *piece)
{
    text_free(&piece->bytes);
    text_free(&piece->page);
    text_free(&piece->frame);
    vec_free(&piece->parts);
    vec_free(&piece->numbers);
    vec_free(&piece->places);
}

struct belt_slot {
    struct column_chunk chunk;
    struct dataset_piece piece;
    size_t number;
};

struct belt {
    const struct dataset_source *source;
    const struct dataset_options *options;
    const struct dataset_walk *walk;
    struct belt_slot slots[SLOTS_MOST];
    size_t next;
    bool goes_on;
};

static bool next_chunk(void *ctx, size_t slot)
{
    struct belt *b = ctx;

    b->slots[slot].number = b->next++;
    return b->slots[slot].number < b->source->chunks;
}

static void work_chunk(void *ctx, size_t slot)
{
    struct belt *b = ctx;
    struct belt_slot *s = &b->slots[slot];

    if (s->chunk.at == NULL)
        columns_init(&s->chunk, b->source->layout.columns, b->source->layout.n);
    columns_clear(&s->chunk);
    b->source->fill(b->source->ctx, s->number, &s->chunk);
    if (b->walk->pack != NULL && columns_rows(&s->chunk) > 0)
        b->walk->pack(&b->source->layout, &s->chunk, &s->piece);
}

static bool merge_chunk(void *ctx, size_t slot)
{
    struct belt *b = ctx;
    struct belt_slot *s = &b->slots[slot];

    if (columns_rows(&s->chunk) > 0)
        b->goes_on = b->walk->take(b->walk->ctx, &s->chunk, &s->piece);
    progress_tick(b->options->progress, b->options->label, s->number + 1, b->source->chunks);
    b->goes_on = b->goes_on && !cancelled();
    return b->goes_on;
}

bool dataset_walk(const struct dataset_source *source, const struct dataset_options *options,
                  const struct dataset_walk *walk)
{
    static const struct pool_pipe pipe = {next_chunk, work_chunk, merge_chunk};
    size_t slots = options->pool != NULL ? 2 * pool_width(options->pool) : 1;
    struct belt *b = mem_grow(NULL, sizeof(*b), 1);

    memset(b, 0, sizeof(*b));
    b->source = source;
    b->options = options;
    b->walk = walk;
    b->goes_on = true;
    pool_pipe(options->pool, slots < SLOTS_MOST ? slots : SLOTS_MOST, &pipe, b);
    for (size_t i = 0; i < SLOTS_MOST; i++) {
        columns_fini(&b->slots[i].chunk);
        dataset_piece_free(&b->slots[i].piece);
    }
    bool goes_on = b->goes_on;
    mem_free(b);
    return goes_on;
}

struct file {
    const struct dataset_form *form;
    void *writer;
    uint64_t rows;
};

static bool dataset_append(void *ctx, const struct column_chunk *chunk,
                           const struct dataset_piece *piece)
{
    struct file *f = ctx;

    f->form->append(f->writer, chunk, piece);
    f->rows += columns_rows(chunk);
    return true;
}

bool dataset_write(const struct dataset_form *form, const struct dataset_source *source,
                   const struct dataset_options *options, struct sink out, uint64_t *rows)
{
    struct file f = {form, form->open(&source->layout, out), 0};
    struct dataset_walk walk = {form->pack, dataset_append, &f};
    bool is_whole = dataset_walk(source, options, &walk);

    if (rows != NULL)
        *rows = f.rows;
    return form->close(f.writer) && is_whole;
}
