#include "cli/jsonout.h"

#include "base/num.h"

static void lead(struct jsonout *j)
{
    if (j->has_key) {
        j->has_key = false;
        return;
    }
    if (j->depth == 0)
        return;
    out_text(j->out, j->is_first ? "" : ",");
    out_printf(j->out, "\n%*s", (int)(2 * j->depth), "");
    j->is_first = false;
}

void jsonout_begin(struct jsonout *j, char bracket)
{
    lead(j);
    out_printf(j->out, "%c", bracket);
    j->depth++;
    j->is_first = true;
}

void jsonout_end(struct jsonout *j, char bracket)
{
    j->depth--;
    if (!j->is_first)
        out_printf(j->out, "\n%*s", (int)(2 * j->depth), "");
    out_printf(j->out, "%c", bracket);
    j->is_first = false;
    if (j->depth == 0)
        out_text(j->out, "\n");
}

static void quoted(struct jsonout *j, const char *text)
{
    out_text(j->out, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            out_printf(j->out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            out_printf(j->out, "\\u%04x", (unsigned)*c);
        else
            out_bytes(j->out, (struct str){c, 1});
    }
    out_text(j->out, "\"");
}

void jsonout_key(struct jsonout *j, const char *key)
{
    lead(j);
    quoted(j, key);
    out_text(j->out, ": ");
    j->has_key = true;
}

void jsonout_text(struct jsonout *j, const char *text)
{
    lead(j);
    if (text == NULL)
        out_text(j->out, "null");
    else
        quoted(j, text);
}

void jsonout_bool(struct jsonout *j, bool value)
{
    lead(j);
    out_text(j->out, value ? "true" : "false");
}

void jsonout_u64(struct jsonout *j, uint64_t value)
{
    lead(j);
    out_printf(j->out, "%llu", (unsigned long long)value);
}

void jsonout_f64(struct jsonout *j, double value)
{
    char text[NUM_TEXT];

    lead(j);
    out_bytes(j->out, (struct str){text, num_print_f64(text, value)});
}
