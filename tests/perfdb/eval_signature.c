#include "eval.h"
#include "perfdb/columns.h"
#include "perfdb/signature.h"

static void one(struct eval *e, struct node *item)
{
    const struct node *row = tree_get(item, S("row"));
    struct signature_row cells = {
        .op_type = tree_text(tree_get(row, COL_OP_TYPE)),
        .op_state = tree_text(tree_get(row, COL_OP_STATE)),
        .input_shapes = tree_text(tree_get(row, COL_INPUT_SHAPES)),
        .input_dtypes = tree_text(tree_get(row, COL_INPUT_DTYPES)),
        .input_formats = tree_text(tree_get(row, COL_INPUT_FORMATS)),
        .output_shapes = tree_text(tree_get(row, COL_OUTPUT_SHAPES)),
        .output_dtypes = tree_text(tree_get(row, COL_OUTPUT_DTYPES)),
        .ep_size = tree_text(tree_get(row, COL_EP_SIZE)),
    };
    struct signature s = signature_of(&e->arena, tree_text(tree_get(item, S("op"))), &cells);
    struct node *parts = tree_array(&e->arena);

    for (size_t i = 0; i < s.n; i++)
        tree_push(parts, tree_string(&e->arena, s.part[i]));
    tree_set(item, S("sig"), parts);
    tree_set(
        item, S("text"),
        tree_string(&e->arena, signature_text(&e->arena, cells.input_shapes, cells.output_shapes)));
}

static void run(struct eval *e, struct node *root)
{
    for (struct node *item = root->first; item != NULL; item = item->next)
        one(e, item);
}

const struct eval_group eval_signature = {"signature", run};
