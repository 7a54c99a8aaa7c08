/* Texts into UTF-8, tensors into one spelling. */
#include "input/trace/trace_text.h"

#include <stdint.h>

#include "base/formats/json_text.h"
#include "capture/classify.h"

/* Of [[8192, 7168], ["x"]]: the outer brackets go, tensors are separated by semicolons, quotes and
 * blanks go; lists within tensors keep their brackets. */
static struct str from_json(struct str text, struct arena *arena)
{
    char *out = arena_alloc(arena, text.n + 1);
    size_t n = 0, depth = 0;
    bool is_text = false;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.at[i];
        if (is_text) {
            if (c == '"')
                is_text = false;
            else
                out[n++] = c;
            if (c == '\\' && i + 1 < text.n)
                out[n++] = text.at[++i];
        } else if (c == '"') {
            is_text = true;
        } else if (c == '[') {
            if (++depth > 2)
                out[n++] = c;
        } else if (c == ']') {
            if (depth <= 1)
                break;
            if (depth-- > 2)
                out[n++] = c;
        } else if (c == ',') {
            out[n++] = depth == 1 ? ';' : c;
        } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            out[n++] = c;
        }
    }
    return (struct str){out, n};
}

/* Without the line ends between tensors. */
static struct str from_lines(struct str text, struct arena *arena)
{
    if (memchr(text.n > 0 ? text.at : "", '\n', text.n) == NULL)
        return text;
    char *out = arena_alloc(arena, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        if (text.at[i] != '\r' && text.at[i] != '\n')
            out[n++] = text.at[i];
    return (struct str){out, n};
}

struct str trace_text(struct str raw, enum trace_form form, struct arena *arena)
{
    bool is_json = form == FORM_JSON || form == FORM_TENSORS_JSON;
    bool is_clean = is_json && json_check_string(raw).bad_utf8 == SIZE_MAX;
    struct str text = is_clean ? raw : json_text(raw, arena);

    switch (form) {
    case FORM_TENSORS:
        return from_lines(text, arena);
    case FORM_TENSORS_JSON:
        return from_json(text, arena);
    case FORM_CORE:
        return classify_core(text);
    default:
        return text;
    }
}
