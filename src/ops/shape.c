/*
 * Shapes out of text.
 */
#include "ops/shape.h"

#include "base/text/char.h"
#include "base/text/num.h"

/* "8, 1024" into `s`; false when that is no list of numbers. */
static bool shape_read_dims(struct str text, struct tensor_shape *s)
{
    struct str dim;

    while (text.n > 0 && str_split(&text, ',', &dim)) {
        if (s->n == SHAPE_DIMS || !num_i64(str_trim(dim), &s->dim[s->n]) || s->dim[s->n] < 0)
            return false;
        s->n++;
    }
    return true;
}

/* The next "[...]" of a text, without its brackets; false when there is none. What stands between
 * lists is left out. */
static bool next_list(struct str *rest, struct str *list)
{
    size_t from = str_find_char(*rest, '['), depth = 0;

    for (size_t i = from; i < rest->n; i++) {
        depth += rest->at[i] == '[';
        depth -= rest->at[i] == ']';
        if (depth == 0) {
            *list = str_part(*rest, from + 1, i - from - 1);
            *rest = str_part(*rest, i + 1, rest->n);
            return true;
        }
    }
    return false;
}

static void shape_add(struct tensor_shapes *out, struct str text)
{
    struct tensor_shape s = {.n = 0};
    struct str list, first = str_trim(text);

    for (struct str rest = first; next_list(&rest, &list); s.list++)
        first = s.list == 0 ? str_trim(list) : first;
    if (!shape_read_dims(first, &s)) {
        s.n = 0;
        out->is_damaged = true;
    }
    s.n = s.list > 1 ? 0 : s.n;
    out->at[out->n++] = s;
}

static void shape_read_brackets(struct str text, struct tensor_shapes *out)
{
    struct str all, list;

    if (!next_list(&text, &all)) {
        out->is_damaged = true;
        return;
    }
    while (out->n < SHAPE_INPUTS && next_list(&all, &list))
        shape_add(out, list);
}

struct tensor_shapes tensor_shapes_read(struct str text)
{
    struct tensor_shapes out = {.n = 0};
    struct str one;

    text = str_trim(text);
    if (text.n > 1 && text.at[0] == '"' && text.at[text.n - 1] == '"')
        text = str_part(text, 1, text.n - 2);
    if (str_starts(text, S("[[")) || str_equal(text, S("[]"))) {
        shape_read_brackets(text, &out);
        return out;
    }
    while (out.n < SHAPE_INPUTS && text.n > 0 && str_split(&text, ';', &one))
        shape_add(&out, one);
    return out;
}

double tensor_elements(const struct tensor_shape *s)
{
    double elements = s->n > 0 ? 1 : 0;

    for (size_t i = 0; i < s->n; i++)
        elements *= (double)s->dim[i];
    return elements;
}

double tensor_back_dim(const struct tensor_shape *s, size_t from_end)
{
    return from_end < s->n ? (double)s->dim[s->n - 1 - from_end] : 1;
}

double tensor_shape_rows(const struct tensor_shape *s)
{
    struct tensor_shape head = *s;

    head.n -= head.n > 0;
    return s->n == 1 ? 1 : tensor_elements(&head);
}
