/*
 * page_json - JSON inside a page: texts in both languages, and nothing that ends its element.
 */
#ifndef STRATA_PAGE_PAGE_JSON_H
#define STRATA_PAGE_PAGE_JSON_H

#include "base/formats/json_write.h"
#include "page/page.h"

/* A sink that writes <, > and & of strings as escapes and hands on. */
struct page_json {
    struct sink to;
};
struct sink page_json_sink(struct page_json *j);

/* Without a key they stand in an array. */
void page_json_wording(struct json_writer *w, struct page_file *page, const char *key,
                       struct wording text);
/* One string where both languages are equal, null without any text. */
void page_json_words(struct json_writer *w, struct page_file *page, const char *key,
                     struct wording text);
void page_json_message(struct json_writer *w, const char *key, const struct message *m);
void page_json_numbers(struct json_writer *w, const char *key, const int64_t *at, size_t n);
void page_json_place(struct json_writer *w, const struct page_place *place);

/* Sections of a set. */
void page_json_layers(struct json_writer *w, const struct page_set *set);
void page_json_memory(struct json_writer *w, const struct page_set *set);
void page_json_counters(struct json_writer *w, const struct page_set *set);
void page_json_comm(struct json_writer *w, const struct page_set *set);
void page_json_kernels(struct json_writer *w, const struct page_set *set);
void page_json_diff(struct json_writer *w, struct page_file *page);

#endif
