#include "eval.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/signature.h"

static void one(struct eval *e, struct node *item)
{
    const struct node *row = node_get(item, S("row"));
    struct signature_row cells;

    for (size_t i = 0; i < SIGNATURE_CELLS; i++)
        cells.cell[i] = node_text(node_get(row, column_identity[i]));
    struct signature s = signature_of(&e->arena, node_text(node_get(item, S("op"))), &cells);
    struct node *parts = node_array(&e->arena);

    for (size_t i = 0; i < s.n; i++)
        node_push(parts, node_string(&e->arena, s.part[i]));
    node_set(item, S("sig"), parts);
    node_set(item, S("text"),
             node_string(&e->arena, signature_text(&e->arena, cells.cell[ID_INPUT_SHAPES],
                                                   cells.cell[ID_OUTPUT_SHAPES])));
}

static void run(struct eval *e, struct node *root)
{
    for (struct node *item = root->first; item != NULL; item = item->next)
        one(e, item);
}

const struct eval_group eval_signature = {"signature", run};
