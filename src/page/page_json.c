/*
 * JSON that may stand in a script element.
 */
#include "page/page_json.h"

static bool write_escaped(void *ctx, struct str text)
{
    struct page_json *j = ctx;
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        struct str escape = text.at[i] == '<'   ? S("\\u003c")
                            : text.at[i] == '>' ? S("\\u003e")
                            : text.at[i] == '&' ? S("\\u0026")
                                                : S("");
        if (escape.n == 0)
            continue;
        if ((i > from && !j->to.write(j->to.ctx, str_part(text, from, i - from))) ||
            !j->to.write(j->to.ctx, escape))
            return false;
        from = i + 1;
    }
    return from == text.n || j->to.write(j->to.ctx, str_part(text, from, text.n - from));
}

struct sink page_json_sink(struct page_json *j)
{
    return (struct sink){write_escaped, j};
}

void page_json_wording(struct json_writer *w, struct page_file *page, const char *key,
                       struct wording text)
{
    if (key != NULL)
        json_put_object(w, key);
    else
        json_write_object(w);
    for (enum lang lang = 0; lang < LANGS; lang++)
        json_put_str(w, lang_name(lang), page_wording(page, lang, text));
    json_write_end(w);
}

void page_json_message(struct json_writer *w, const char *key, const struct message *m)
{
    json_put_object(w, key);
    for (enum lang lang = 0; lang < LANGS; lang++)
        json_put_str(w, lang_name(lang), message_in(lang, m));
    json_write_end(w);
}

void page_json_place(struct json_writer *w, const struct page_place *place)
{
    json_put_array(w, "at");
    json_write_u64(w, place->element);
    json_write_u64(w, place->offset);
    json_write_u64(w, place->length);
    json_write_end(w);
}
