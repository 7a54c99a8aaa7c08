/*
 * JSON that may stand in a script element.
 */
#include "page/page_json.h"

#include "page/page_panel.h"

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

void page_json_words(struct json_writer *w, struct page_file *page, const char *key,
                     struct wording text)
{
    json_write_key(w, str_of(key));
    if (text.english.n > 0)
        page_json_text(w, page, text);
    else
        json_write_null(w);
}

void page_json_message(struct json_writer *w, const char *key, const struct message *m)
{
    json_put_object(w, key);
    for (enum lang lang = 0; lang < LANGS; lang++)
        json_put_str(w, lang_name(lang), message_in(lang, m));
    json_write_end(w);
}

void page_json_numbers(struct json_writer *w, const char *key, const int64_t *at, size_t n)
{
    if (key != NULL)
        json_put_array(w, key);
    else
        json_write_array(w);
    for (size_t i = 0; i < n; i++)
        json_write_i64(w, at[i]);
    json_write_end(w);
}

void page_json_place(struct json_writer *w, const struct page_place *place)
{
    const int64_t at[] = {place->element, (int64_t)place->offset, (int64_t)place->length};

    page_json_numbers(w, "at", at, ARRAY_LEN(at));
}
