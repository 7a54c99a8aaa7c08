/*
 * The layers of the dominant step for people: four clocks of each, and the gaps between them.
 */
#include "analysis/idle/anomaly.h"

#include "analysis/analysis.h"
#include "analysis/arch/structures.h"
#include "analysis/idle/bubbles.h"
#include "analysis/steps/steps.h"
#include "text/anomaly.h"

enum { MAX_ROWS = 8, MAX_GAPS = 5 };

static const struct column structure_columns[] = {
    {"layer", COLUMN_TEXT, UNIT_PLAIN},         {"type", COLUMN_TEXT, UNIT_PLAIN},
    {"wall ms", COLUMN_NUMBER, UNIT_MS},        {"busy ms", COLUMN_NUMBER, UNIT_MS},
    {"kernel sum ms", COLUMN_NUMBER, UNIT_MS},  {"with waits ms", COLUMN_NUMBER, UNIT_MS},
    {"share %", COLUMN_NUMBER, UNIT_RATIO},     {"gap before ms", COLUMN_NUMBER, UNIT_MS},
    {"largest gap ms", COLUMN_NUMBER, UNIT_MS}, {"reading", COLUMN_TEXT, UNIT_PLAIN},
};

static struct str structures_name_of(struct report *r, const struct structure *s)
{
    return arena_format(&r->arena, "block_%zu", s->number);
}

static const struct column gap_columns[] = {
    {"step", COLUMN_TEXT, UNIT_PLAIN},
    {"gap ms", COLUMN_NUMBER, UNIT_MS},
    {"structure before", COLUMN_TEXT, UNIT_PLAIN},
    {"structure after", COLUMN_TEXT, UNIT_PLAIN},
    {"gap is", COLUMN_TEXT, UNIT_PLAIN},
};

/* The structure of a kernel, or none. */
static const struct structure *around(const struct study *st, const struct structures *all,
                                      const struct bubble *b, size_t kernel)
{
    return kernel != NO_KERNEL ? structures_at(all, b->step, st->cap->slices.begin[kernel]) : NULL;
}

/* The longest gaps inside steps, with the structures before and after each. */
static void describe_gaps(struct study *st, struct report *r, const struct structures *all)
{
    const struct bubbles *bubbles = study_bubbles(st);
    struct table *table = NULL;
    size_t rows = 0;

    for (size_t i = 0; i < bubbles->listed && rows < MAX_GAPS; i++) {
        const struct bubble *b = &bubbles->list[i];
        const struct structure *before = around(st, all, b, b->before);
        const struct structure *after = around(st, all, b, b->after);
        if (b->scope != SCOPE_INTERNAL || before == NULL || after == NULL)
            continue;
        if (table == NULL) {
            report_text(r, report_message(r, &anomaly_text.gaps_of_layers));
            table = report_table(r, gap_columns, ARRAY_LEN(gap_columns));
        }
        table_text(r, table, study_steps(st)->at[b->step].id);
        table_number(table, (double)(b->at.end - b->at.begin));
        table_text(r, table, structures_name_of(r, before));
        table_text(r, table, structures_name_of(r, after));
        table_word(r, table, before == after ? "inside" : "between");
        rows++;
    }
}

/* The two layers around the longest gap between layers. */
static void tell_longest_gap(struct report *r, const struct structures *all)
{
    const struct structure *worst = NULL;

    for (size_t i = 1; i < all->n; i++) {
        const struct structure *s = &all->at[i];
        if (s->step == all->dominant_step && s[-1].step == s->step && s->gap_before > 0 &&
            (worst == NULL || s->gap_before > worst->gap_before))
            worst = s;
    }
    if (worst != NULL)
        report_text(r, REPORT_MESSAGE(r, &anomaly_text.longest_between,
                                      place_quantity("time", (double)worst->gap_before, UNIT_NS),
                                      PLACE("before", structures_name_of(r, worst - 1)),
                                      PLACE("after", structures_name_of(r, worst))));
}

void anomaly_describe_structures(struct study *st, const struct arch *arch, struct report *r)
{
    const struct structures *all = structures_find(st, arch);
    const struct steps *steps = study_steps(st);

    if (all->n_ranked < 2 || all->dominant_step >= steps->n)
        return;
    report_heading(r, REPORT_MESSAGE(r, &anomaly_text.layers,
                                     PLACE("step", steps->at[all->dominant_step].id)));
    struct table *table = report_table(r, structure_columns, ARRAY_LEN(structure_columns));
    for (size_t i = 0; i < all->n_ranked && i < MAX_ROWS; i++) {
        const struct structure *s = &all->at[all->by_wall[i]];
        table_text(r, table, structures_name_of(r, s));
        table_word(r, table, structure_type_name(s->type));
        table_number(table, (double)s->all.wall);
        table_number(table, (double)s->all.busy);
        table_number(table, (double)s->all.sum);
        table_number(table, (double)s->all.cost);
        table_number(table, s->share);
        table_number(table, (double)s->gap_before);
        table_number(table, (double)s->bubble_largest);
        unsigned mask = clocks_read(&s->all); /* the first that holds is told */
        const char *reading =
            mask != 0 ? clocks_meaning_text((enum clocks_meaning)(mask & -mask)) : "";
        table_word(r, table, reading);
    }
    if (all->n_ranked > MAX_ROWS)
        report_text(
            r, REPORT_MESSAGE(r, &anomaly_text.more_layers, PLACE("n", all->n_ranked - MAX_ROWS)));
    tell_longest_gap(r, all);
    describe_gaps(st, r, all);
}
