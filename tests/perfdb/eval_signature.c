#include "eval.h"
#include "perfdb/columns.h"
#include "perfdb/signature.h"

static void one(struct eval *e, struct node *item)
{
    const struct node *row = tree_get(item, S("row"));
    struct signature_row cells;

    for (size_t i = 0; i < SIGNATURE_CELLS; i++)
        cells.cell[i] = tree_text(tree_get(row, column_identity[i]));
    struct signature s = signature_of(&e->arena, tree_text(tree_get(item, S("op"))), &cells);
    struct node *parts = tree_array(&e->arena);

    for (size_t i = 0; i < s.n; i++)
        tree_push(parts, tree_string(&e->arena, s.part[i]));
    tree_set(item, S("sig"), parts);
    tree_set(item, S("text"),
             tree_string(&e->arena, signature_text(&e->arena, cells.cell[ID_INPUT_SHAPES],
                                                   cells.cell[ID_OUTPUT_SHAPES])));
}

static void run(struct eval *e, struct node *root)
{
    for (struct node *item = root->first; item != NULL; item = item->next)
        one(e, item);
}

const struct eval_group eval_signature = {"signature", run};
