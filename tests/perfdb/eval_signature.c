#include "eval.h"
#include "perfdb/columns.h"
#include "perfdb/signature.h"

static void one(struct eval *e, struct node *item)
{
    const struct node *row = node_get(item, S("row"));
    struct signature_row cells = {
        .op_type = node_text(node_get(row, COL_OP_TYPE)),
        .op_state = node_text(node_get(row, COL_OP_STATE)),
        .input_shapes = node_text(node_get(row, COL_INPUT_SHAPES)),
        .input_dtypes = node_text(node_get(row, COL_INPUT_DTYPES)),
        .input_formats = node_text(node_get(row, COL_INPUT_FORMATS)),
        .output_shapes = node_text(node_get(row, COL_OUTPUT_SHAPES)),
        .output_dtypes = node_text(node_get(row, COL_OUTPUT_DTYPES)),
        .ep_size = node_text(node_get(row, COL_EP_SIZE)),
    };
    struct signature s = signature_of(&e->arena, node_text(node_get(item, S("op"))), &cells);
    struct node *parts = node_array(&e->arena);

    for (size_t i = 0; i < s.n; i++)
        node_push(parts, node_string(&e->arena, s.part[i]));
    node_set(item, S("sig"), parts);
    node_set(
        item, S("text"),
        node_string(&e->arena, signature_text(&e->arena, cells.input_shapes, cells.output_shapes)));
}

static void run(struct eval *e, struct node *root)
{
    for (struct node *item = root->first; item != NULL; item = item->next)
        one(e, item);
}

const struct eval_group eval_signature = {"signature", run};
