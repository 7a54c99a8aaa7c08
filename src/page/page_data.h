/*
 * page_data - a function for each member of the data of a page: page_put_kernel_share(w, share).
 *
 * They are made of page_data.def, which describes the data once. A member that is not described has
 * no function; tests/page/model.py sees that each that is described is written.
 */
#ifndef STRATA_PAGE_PAGE_DATA_H
#define STRATA_PAGE_PAGE_DATA_H

#include "page/page_json.h"

/* What a function takes behind the writer, by the kind of its member, and what it does with it. */
#define PAGE_TAKES_INT         , int64_t value
#define PAGE_TAKES_REAL        , double value
#define PAGE_TAKES_SHARE       , double value
#define PAGE_TAKES_KNOWN       , bool is_known, int64_t value
#define PAGE_TAKES_STR         , struct str value
#define PAGE_TAKES_STR_OR_NULL , struct str value
#define PAGE_TAKES_TEXT        , const char *value
#define PAGE_TAKES_BOOL        , bool value
#define PAGE_TAKES_MESSAGE     , const struct message *value
#define PAGE_TAKES_WORDING     , struct page_file *page, struct wording value
#define PAGE_TAKES_WORDS       , struct page_file *page, struct wording value
#define PAGE_TAKES_NUMBERS     , const int64_t *at, size_t n
#define PAGE_TAKES_LIST
#define PAGE_TAKES_OBJECT

#define PAGE_PUT_INT(key)         json_put_i64(w, key, value)
#define PAGE_PUT_REAL(key)        json_put_f64(w, key, value)
#define PAGE_PUT_SHARE(key)       json_put_f64(w, key, num_round(value, 6))
#define PAGE_PUT_KNOWN(key)       json_put_known(w, key, is_known, value)
#define PAGE_PUT_STR(key)         json_put_str(w, key, value)
#define PAGE_PUT_STR_OR_NULL(key) json_put_str_or_null(w, key, value)
#define PAGE_PUT_TEXT(key)        json_put_text(w, key, value)
#define PAGE_PUT_BOOL(key)        json_put_bool(w, key, value)
#define PAGE_PUT_MESSAGE(key)     page_json_message(w, key, value)
#define PAGE_PUT_WORDING(key)     page_json_wording(w, page, key, value)
#define PAGE_PUT_WORDS(key)       page_json_words(w, page, key, value)
#define PAGE_PUT_NUMBERS(key)     page_json_numbers(w, key, at, n)
#define PAGE_PUT_LIST(key)        json_put_array(w, key)
#define PAGE_PUT_OBJECT(key)      json_put_object(w, key)

/* And one for null, where the type has it: page_null_set_layers(w). */
#define OBJECT(object, type, base, about)
#define MEMBER(object, name, kind, type, meaning)                                                  \
    static inline void page_put_##object##_##name(struct json_writer *w PAGE_TAKES_##kind)         \
    {                                                                                              \
        PAGE_PUT_##kind(#name);                                                                    \
    }                                                                                              \
    static inline void page_null_##object##_##name(struct json_writer *w)                          \
    {                                                                                              \
        json_put_null(w, #name);                                                                   \
    }
#define OPTIONAL(object, name, kind, type, meaning) MEMBER(object, name, kind, type, meaning)
#include "page/page_data.def"
#undef OBJECT
#undef MEMBER
#undef OPTIONAL

#endif
