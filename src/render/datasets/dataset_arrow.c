/*
 * arrow: Arrow's IPC file. A record batch a chunk, each buffer compressed where that pays.
 *
 * Texts that repeat are numbers into a dictionary of the whole table. It is complete when the last
 * row is, and so it stands behind the batches: the footer says where.
 *
 * Format reference: docs/formats/tables.md
 */
#include <endian.h>

#include "base/files/zstd_pack.h"
#include "base/tables/flat.h"
#include "render/datasets/dataset.h"

/* Numbers of the format. */
enum { VERSION = 4 };
enum { MESSAGE_SCHEMA = 1, MESSAGE_DICTIONARY = 2, MESSAGE_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5, DOUBLE_PRECISION = 2 };
enum { CONTINUES = 0xffffffff, ALIGN = 8 };
enum { CODEC_ZSTD = 1, STORED = -1 };

static const struct str magic = S_INIT("ARROW1\0\0");

/* Structs inside messages, as they lie in the file. */
struct node {
    uint64_t length, nulls;
};

struct place {
    uint64_t offset, length;
};

struct arrow_block {
    uint64_t offset;
    uint32_t head, padding;
    uint64_t body;
};

struct arrow {
    struct sink to;
    struct dataset_layout layout;
    struct intern *words; /* by column: the dictionary */
    uint64_t offset;
    VEC_OF(struct arrow_block) batches, dictionaries;
    struct flat flat;
    struct dataset_piece body;
    VEC_OF(struct node) nodes;
    VEC_OF(struct place) places; /* of the body's buffers */
    bool has_failed;
};

static void hand_on(struct arrow *w, struct str bytes)
{
    w->offset += bytes.n;
    if (!w->has_failed)
        w->has_failed = !w->to.write(w->to.ctx, bytes);
}

static bool has_dictionary(const struct column_info *c)
{
    return c->type == VALUES_TEXT && !c->is_open;
}

/* ---- the schema ---- */

static flat_ref put_int_type(struct flat *f, int32_t bits)
{
    flat_begin(f);
    flat_set_i32(f, 0, bits);
    flat_set_u8(f, 1, true);
    return flat_end(f);
}

static flat_ref arrow_put_type(struct flat *f, enum column_kind type, uint8_t *number)
{
    switch (type) {
    case VALUES_INT:
        *number = TYPE_INT;
        return put_int_type(f, 64);
    case VALUES_REAL:
        *number = TYPE_FLOAT;
        flat_begin(f);
        flat_set_i16(f, 0, DOUBLE_PRECISION);
        return flat_end(f);
    case VALUES_TEXT:
        break;
    }
    *number = TYPE_UTF8;
    flat_begin(f);
    return flat_end(f);
}

static flat_ref put_field(struct flat *f, const struct column_info *c, size_t id)
{
    uint8_t number;
    flat_ref name = flat_text(f, c->name), type = arrow_put_type(f, c->type, &number), encoding = 0;
    flat_ref children = flat_refs(f, NULL, 0);

    if (has_dictionary(c)) {
        flat_ref index = put_int_type(f, 32);
        flat_begin(f);
        flat_set_i64(f, 0, (int64_t)id);
        flat_set_ref(f, 1, index);
        encoding = flat_end(f);
    }
    flat_begin(f);
    flat_set_ref(f, 0, name);
    flat_set_ref(f, 3, type);
    if (encoding != 0)
        flat_set_ref(f, 4, encoding);
    flat_set_ref(f, 5, children);
    flat_set_u8(f, 1, true);
    flat_set_u8(f, 2, number);
    return flat_end(f);
}

static flat_ref put_schema(struct flat *f, const struct dataset_layout *layout)
{
    size_t most = layout->n > layout->notes_n ? layout->n : layout->notes_n;
    flat_ref *refs = mem_grow(NULL, sizeof(*refs), most + 1);

    for (size_t i = 0; i < layout->n; i++)
        refs[i] = put_field(f, &layout->columns[i], i);
    flat_ref fields = flat_refs(f, refs, layout->n);
    for (size_t i = 0; i < layout->notes_n; i++) {
        flat_ref key = flat_text(f, layout->notes[i].key);
        flat_ref value = flat_text(f, layout->notes[i].value);
        flat_begin(f);
        flat_set_ref(f, 0, key);
        flat_set_ref(f, 1, value);
        refs[i] = flat_end(f);
    }
    flat_ref notes = flat_refs(f, refs, layout->notes_n);
    mem_free(refs);
    flat_begin(f);
    flat_set_ref(f, 1, fields);
    flat_set_ref(f, 2, notes);
    flat_set_i16(f, 0, 0); /* little-endian */
    return flat_end(f);
}

/* ---- buffers ---- */

static void put_word(struct text *out, int64_t number)
{
    uint64_t word = htole64((uint64_t)number);

    text_put(out, (struct str){(const char *)&word, sizeof(word)});
}

/* A buffer is a part of the piece: compressed behind its length, or as it is. */
static void put_buffer(struct dataset_piece *p, const struct dataset_layout *layout,
                       const void *bytes, size_t n)
{
    struct dataset_part part = {.offset = p->bytes.n};

    if (n > 0 && !layout->is_plain) {
        put_word(&p->bytes, (int64_t)n);
        zstd_pack(&p->bytes, (struct str){bytes, n});
        if (p->bytes.n - part.offset - sizeof(int64_t) >= n) { /* that gained nothing */
            p->bytes.n = part.offset;
            put_word(&p->bytes, STORED);
            text_put(&p->bytes, (struct str){bytes, n});
        }
    } else {
        text_put(&p->bytes, (struct str){bytes, n});
    }
    part.packed = p->bytes.n - part.offset;
    vec_push(&p->parts, part);
    text_repeat(&p->bytes, '\0', (ALIGN - part.packed % ALIGN) % ALIGN);
}

/* Texts as offsets and bytes: those that `places` names, or all. */
static void put_strings(struct dataset_piece *p, const struct dataset_layout *layout,
                        const struct str *texts, const uint32_t *places, size_t n)
{
    uint32_t offset = 0;

    text_clear(&p->page);
    vec_reserve(&p->places, n + 1);
    p->places.at[0] = 0;
    for (size_t i = 0; i < n; i++) {
        struct str one = texts[places != NULL ? places[i] : i];
        text_put(&p->page, one);
        offset += (uint32_t)one.n;
        p->places.at[i + 1] = htole32(offset);
    }
    put_buffer(p, layout, p->places.at, (n + 1) * sizeof(uint32_t));
    put_buffer(p, layout, p->page.at, p->page.n);
}

static void clear_piece(struct dataset_piece *p)
{
    text_clear(&p->bytes);
    p->parts.n = 0;
}

/* All buffers but the numbers of texts in a dictionary, which depend on the chunks before. */
static void arrow_pack(const struct dataset_layout *layout, const struct column_chunk *chunk,
                       struct dataset_piece *piece)
{
    static const struct str none = {0};

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are written as they lie in memory"
#endif
    clear_piece(piece);
    for (size_t i = 0; i < chunk->n; i++) {
        const struct column_data *c = &chunk->at[i];
        put_buffer(piece, layout, c->valid, c->nulls > 0 ? (c->n + 7) / 8 : 0);
        if (c->type != VALUES_TEXT)
            put_buffer(piece, layout, c->values, c->n * sizeof(int64_t));
        else if (!has_dictionary(&layout->columns[i]))
            put_strings(piece, layout, c->texts.n > 0 ? c->texts.at : &none, c->places, c->n);
    }
}

/* ---- messages ---- */

/* Writes a message around its header, then the body; where it stands. */
static struct arrow_block put_message(struct arrow *w, uint8_t type, flat_ref header)
{
    struct flat *f = &w->flat;
    struct arrow_block block = {.offset = w->offset, .body = w->body.bytes.n};

    flat_begin(f);
    flat_set_i64(f, 3, (int64_t)block.body);
    flat_set_ref(f, 2, header);
    flat_set_i16(f, 0, VERSION);
    flat_set_u8(f, 1, type);
    struct str head = flat_finish(f, flat_end(f));
    uint32_t frame[] = {CONTINUES, htole32((uint32_t)head.n)};
    hand_on(w, (struct str){(const char *)frame, sizeof(frame)});
    hand_on(w, head);
    hand_on(w, text_view(&w->body.bytes));
    block.head = (uint32_t)(sizeof(frame) + head.n);
    flat_clear(f);
    return block;
}

static void begin_body(struct arrow *w)
{
    clear_piece(&w->body);
    w->nodes.n = w->places.n = 0;
}

static flat_ref put_batch(struct arrow *w, size_t rows)
{
    struct flat *f = &w->flat;
    flat_ref compression = 0;

    for (size_t i = 0; i < w->body.parts.n; i++) {
        const struct dataset_part *part = &w->body.parts.at[i];
        vec_push(&w->places, ((struct place){htole64(part->offset), htole64(part->packed)}));
    }
    flat_ref nodes = flat_structs(f, w->nodes.at, sizeof(struct node), w->nodes.n);
    flat_ref places = flat_structs(f, w->places.at, sizeof(struct place), w->places.n);
    if (!w->layout.is_plain) {
        flat_begin(f);
        flat_set_u8(f, 0, CODEC_ZSTD);
        compression = flat_end(f);
    }
    flat_begin(f);
    flat_set_i64(f, 0, (int64_t)rows);
    flat_set_ref(f, 1, nodes);
    flat_set_ref(f, 2, places);
    if (compression != 0)
        flat_set_ref(f, 3, compression);
    return flat_end(f);
}

/* The chunk's texts get their numbers in the dictionary, then the rows do. */
static void put_places(struct arrow *w, const struct column_data *c, struct intern *words)
{
    struct dataset_piece *p = &w->body;
    size_t n = c->texts.n;

    vec_reserve(&p->places, n + c->n + 1);
    for (size_t i = 0; i < n; i++)
        p->places.at[i] = intern_put(words, c->texts.at[i]);
    for (size_t i = 0; i < c->n; i++)
        p->places.at[n + i] = n > 0 ? htole32(p->places.at[c->places[i]]) : 0;
    put_buffer(p, &w->layout, p->places.at + n, c->n * sizeof(uint32_t));
}

/* Takes the next `n` buffers of a piece over. */
static void append_buffers(struct arrow *w, const struct dataset_piece *piece, size_t *next,
                           size_t n)
{
    for (size_t end = *next + n; *next < end; (*next)++) {
        struct dataset_part part = piece->parts.at[*next];
        struct str bytes = str_part(text_view(&piece->bytes), part.offset, part.packed);
        part.offset = w->body.bytes.n;
        vec_push(&w->body.parts, part);
        text_put(&w->body.bytes, bytes);
        text_repeat(&w->body.bytes, '\0', (ALIGN - part.packed % ALIGN) % ALIGN);
    }
}

static void arrow_append(void *writer, const struct column_chunk *chunk,
                         const struct dataset_piece *piece)
{
    struct arrow *w = writer;
    size_t next = 0;

    begin_body(w);
    for (size_t i = 0; i < chunk->n; i++) {
        const struct column_data *c = &chunk->at[i];
        bool is_dictionary = has_dictionary(&w->layout.columns[i]);
        vec_push(&w->nodes, ((struct node){htole64(c->n), htole64(c->nulls)}));
        append_buffers(w, piece, &next, is_dictionary ? 1 : c->type == VALUES_TEXT ? 3 : 2);
        if (is_dictionary)
            put_places(w, c, &w->words[i]);
    }
    struct arrow_block block = put_message(w, MESSAGE_BATCH, put_batch(w, columns_rows(chunk)));
    vec_push(&w->batches, block);
}

static void put_dictionary(struct arrow *w, size_t id)
{
    const struct intern *words = &w->words[id];
    struct flat *f = &w->flat;

    begin_body(w);
    vec_push(&w->nodes, ((struct node){htole64(words->strings.n), 0}));
    put_buffer(&w->body, &w->layout, "", 0);
    put_strings(&w->body, &w->layout, words->strings.at, NULL, words->strings.n);
    flat_ref batch = put_batch(w, words->strings.n);
    flat_begin(f);
    flat_set_i64(f, 0, (int64_t)id);
    flat_set_ref(f, 1, batch);
    struct arrow_block block = put_message(w, MESSAGE_DICTIONARY, flat_end(f));
    vec_push(&w->dictionaries, block);
}

/* ---- the file ---- */

static void *open_file(const struct dataset_layout *layout, struct sink out)
{
    struct arrow *w = mem_grow(NULL, sizeof(*w), 1);

    *w = (struct arrow){.to = out, .layout = *layout};
    w->words = mem_grow(NULL, sizeof(*w->words), layout->n + 1);
    for (size_t i = 0; i < layout->n; i++)
        intern_init(&w->words[i]);
    hand_on(w, magic);
    put_message(w, MESSAGE_SCHEMA, put_schema(&w->flat, layout));
    return w;
}

/* The footer repeats the schema and lists where the blocks lie; its size and the magic end the
 * file, which readers begin with. */
static void put_footer(struct arrow *w)
{
    struct flat *f = &w->flat;
    uint32_t end[] = {CONTINUES, 0};
    flat_ref schema = put_schema(f, &w->layout);
    flat_ref dictionaries =
        flat_structs(f, w->dictionaries.at, sizeof(struct arrow_block), w->dictionaries.n);
    flat_ref batches = flat_structs(f, w->batches.at, sizeof(struct arrow_block), w->batches.n);

    flat_begin(f);
    flat_set_ref(f, 1, schema);
    flat_set_ref(f, 2, dictionaries);
    flat_set_ref(f, 3, batches);
    flat_set_i16(f, 0, VERSION);
    struct str footer = flat_finish(f, flat_end(f));
    uint32_t size = htole32((uint32_t)footer.n);
    hand_on(w, (struct str){(const char *)end, sizeof(end)});
    hand_on(w, footer);
    hand_on(w, (struct str){(const char *)&size, sizeof(size)});
    hand_on(w, str_part(magic, 0, 6));
}

static bool close_file(void *writer)
{
    struct arrow *w = writer;

    for (size_t i = 0; i < w->layout.n; i++) {
        if (has_dictionary(&w->layout.columns[i]))
            put_dictionary(w, i);
        intern_fini(&w->words[i]);
    }
    put_footer(w);
    bool is_done = !w->has_failed;
    mem_free(w->words);
    vec_free(&w->batches);
    vec_free(&w->dictionaries);
    vec_free(&w->nodes);
    vec_free(&w->places);
    dataset_piece_free(&w->body);
    flat_free(&w->flat);
    mem_free(w);
    return is_done;
}

const struct dataset_form dataset_arrow = {
    .name = "arrow",
    .open = open_file,
    .pack = arrow_pack,
    .append = arrow_append,
    .close = close_file,
};
