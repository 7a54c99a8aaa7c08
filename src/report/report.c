/* See report.h. */
#include "report/report.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "text/words.h"

ENUM_NAMES(priority_name, enum priority, "P0", "P1", "P2", "P3")

ENUM_NAMES(certainty_name, enum certainty, "probable", "possible", "insufficient evidence")

struct report *report_new(enum lang lang, struct str title)
{
    struct report *r = mem_grow(NULL, sizeof(*r), 1);

    *r = (struct report){0};
    arena_init(&r->arena);
    r->lang = lang;
    r->title = arena_str(&r->arena, title);
    return r;
}

void report_free(struct report *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->blocks.n; i++) {
        struct block *b = r->blocks.at[i];
        if (b->table != NULL)
            vec_free(&b->table->cells);
        for (size_t k = 0; k < b->findings.n; k++) {
            vec_free(&b->findings.at[k]->causes);
            vec_free(&b->findings.at[k]->gaps);
            vec_free(&b->findings.at[k]->advice);
        }
        vec_free(&b->findings);
        vec_free(&b->facts);
    }
    vec_free(&r->blocks);
    arena_free(&r->arena);
    mem_free(r);
}

static struct block *add_block(struct report *r, enum block_kind kind, struct str text)
{
    struct block *b = ARENA_NEW(&r->arena, struct block);

    b->kind = kind;
    b->text = arena_str(&r->arena, text);
    vec_push(&r->blocks, b);
    return b;
}

void report_summary(struct report *r, struct str text)
{
    r->summary = arena_str(&r->arena, text);
}

void report_heading(struct report *r, struct str text)
{
    add_block(r, BLOCK_HEADING, text);
}

void report_text(struct report *r, struct str text)
{
    add_block(r, BLOCK_TEXT, text);
}

void report_say(struct report *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_block(r, BLOCK_TEXT, S(""))->text = arena_vformat(&r->arena, format, args);
    va_end(args);
}

void report_line_text(struct report *r, struct str text)
{
    add_block(r, BLOCK_LINE, text);
}

void report_line(struct report *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_block(r, BLOCK_LINE, S(""))->text = arena_vformat(&r->arena, format, args);
    va_end(args);
}

/* The block at the end when it is of that kind, else a new one. */
static struct block *last_block(struct report *r, enum block_kind kind)
{
    struct block *b = r->blocks.n > 0 ? r->blocks.at[r->blocks.n - 1] : NULL;

    return b != NULL && b->kind == kind ? b : add_block(r, kind, S(""));
}

void report_fact(struct report *r, const char *label, struct str text)
{
    struct fact fact = {message_word(r->lang, str_of(label)).at, arena_str(&r->arena, text)};

    vec_push(&last_block(r, BLOCK_FACTS)->facts, fact);
}

void report_series(struct report *r, struct str label, struct report_values values)
{
    double *at = ARENA_ARRAY(&r->arena, double, values.n);

    for (size_t i = 0; i < values.n; i++)
        at[i] = values.at[i];
    add_block(r, BLOCK_SERIES, label)->series = (struct report_values){at, values.n};
}

struct table *report_table(struct report *r, const struct column *columns, size_t n)
{
    struct column *heads = ARENA_ARRAY(&r->arena, struct column, n);
    struct table *t = ARENA_NEW(&r->arena, struct table);

    for (size_t i = 0; i < n; i++) {
        heads[i] = columns[i];
        heads[i].head = message_word(r->lang, str_of(columns[i].head)).at;
    }
    *t = (struct table){.columns = heads, .n_columns = n};
    add_block(r, BLOCK_TABLE, S(""))->table = t;
    return t;
}

static void add_cell(struct table *t, bool is_number, struct cell cell)
{
    assert((t->columns[t->cells.n % t->n_columns].type >= COLUMN_NUMBER) == is_number);
    (void)is_number;
    vec_push(&t->cells, cell);
}

void table_text(struct report *r, struct table *t, struct str text)
{
    add_cell(t, false, (struct cell){.text = arena_str(&r->arena, text)});
}

void table_word(struct report *r, struct table *t, const char *english)
{
    add_cell(t, false, (struct cell){.text = message_word(r->lang, str_of(english))});
}

void table_mark(struct table *t, enum cell_mark mark)
{
    t->cells.at[t->cells.n - 1].mark = mark;
}

struct str table_cell_text(const struct table *t, size_t i, char *buf)
{
    const struct column *column = &t->columns[i % t->n_columns];
    const struct cell *cell = &t->cells.at[i];

    _Static_assert((int)BAR_WIDTH <= (int)QUANTITY_TEXT, "a bar fits the text of a number");
    if (column->type == COLUMN_BAR) {
        double length = cell->number * BAR_WIDTH + 0.5;
        size_t n = length < BAR_WIDTH ? length > 0 ? (size_t)length : 0 : BAR_WIDTH;
        memset(buf, '#', n);
        return (struct str){buf, n};
    }
    if (column->type != COLUMN_NUMBER)
        return cell->text;
    return (struct str){buf, quantity_number(buf, (struct quantity){cell->number, column->unit})};
}

void table_number(struct table *t, double number)
{
    add_cell(t, true, (struct cell){.number = number});
}

struct finding *report_finding(struct report *r, const char *id, enum priority priority,
                               struct str subject, struct str fact)
{
    struct finding *f = ARENA_NEW(&r->arena, struct finding);

    f->id = id;
    f->lang = r->lang;
    f->priority = priority;
    f->subject = arena_str(&r->arena, subject);
    f->fact = arena_str(&r->arena, fact);
    vec_push(&last_block(r, BLOCK_FINDINGS)->findings, f);
    return f;
}

void finding_cause(struct report *r, struct finding *f, enum certainty certainty, struct str text)
{
    vec_push(&f->causes, ((struct cause){certainty, arena_str(&r->arena, text)}));
}

void finding_gap(struct report *r, struct finding *f, struct str text)
{
    vec_push(&f->gaps, arena_str(&r->arena, text));
}

void finding_advice(struct report *r, struct finding *f, struct str text)
{
    vec_push(&f->advice, arena_str(&r->arena, text));
}

bool finding_detail(const struct finding *f, size_t i, const char **label, struct str *text)
{
    if (i < f->causes.n) {
        *label = message_word(f->lang, str_of(certainty_name(f->causes.at[i].certainty))).at;
        *text = f->causes.at[i].text;
        return true;
    }
    i -= f->causes.n;
    bool is_gap = i < f->gaps.n;
    if (!is_gap && i - f->gaps.n >= f->advice.n)
        return false;
    *label = message_in(f->lang, is_gap ? &words_text.missing : &words_text.try_this).at;
    *text = is_gap ? f->gaps.at[i] : f->advice.at[i - f->gaps.n];
    return true;
}
