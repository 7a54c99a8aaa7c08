/*
 * message - the texts of reports, in every language reports are written in.
 *
 * They are kept in data/text/<area>.tsv, a line for each: key, English, Chinese. A text is a whole
 * sentence with named places; the build makes "text/<area>.h" of the keys, so that a key that is
 * not there does not compile:
 *
 *     anomaly.more_steps<TAB>and {n} more {n|step|steps}, all in the JSON<TAB>...
 *
 *     MESSAGE(lang, arena, &anomaly_text.more_steps, PLACE("n", n))
 *
 * {n} is the value of that place; {x:.1} a number with one decimal, {x:4g} with at most four
 * digits; {n|step|steps} the first word when the number is 1, else the second.
 *
 * Words that come from tables (column heads, names of enumerators) are looked up by their English
 * text in data/text/words.tsv.
 */
#ifndef STRATA_REPORT_MESSAGE_H
#define STRATA_REPORT_MESSAGE_H

#include "base/arena.h"
#include "base/text/text.h"
#include "report/quantity.h"

enum lang { LANG_EN, LANG_ZH, LANGS };

struct message {
    struct str in[LANGS];
    const char *key;
};

/* The catalogue, ended by an area without messages. */
struct message_area {
    const struct message *at;
    size_t n;
};
extern const struct message_area message_areas[];

enum place_type { PLACE_TEXT, PLACE_COUNT, PLACE_REAL, PLACE_QUANTITY, PLACE_WORDING };

struct wording;

/* What stands in a place of a message. */
struct message_place {
    const char *name;
    enum place_type type;
    union {
        struct str text;
        long long count;
        double real;
        struct quantity quantity;
        const struct wording *wording;
    };
};

static inline struct message_place place_text(const char *name, struct str text)
{
    return (struct message_place){.name = name, .type = PLACE_TEXT, .text = text};
}

static inline struct message_place place_cstr(const char *name, const char *text)
{
    return place_text(name, str_of(text));
}

static inline struct message_place place_count(const char *name, long long count)
{
    return (struct message_place){.name = name, .type = PLACE_COUNT, .count = count};
}

static inline struct message_place place_size(const char *name, unsigned long long count)
{
    return place_count(name, (long long)count);
}

static inline struct message_place place_real(const char *name, double real)
{
    return (struct message_place){.name = name, .type = PLACE_REAL, .real = real};
}

/* A number with its unit, scaled: "10.00 ms". */
static inline struct message_place place_quantity(const char *name, double value, enum unit unit)
{
    return (struct message_place){
        .name = name, .type = PLACE_QUANTITY, .quantity = {.value = value, .unit = unit}};
}

/* A text in the language of the message around it; it must live as long as the place. */
static inline struct message_place place_wording(const char *name, const struct wording *w)
{
    return (struct message_place){.name = name, .type = PLACE_WORDING, .wording = w};
}

/* A place and its value: a text, a whole number or a double. */
#define PLACE(name_, value_)                                                                       \
    _Generic((value_), struct str                                                                  \
             : place_text, char *                                                                  \
             : place_cstr, const char *                                                            \
             : place_cstr, int                                                                     \
             : place_count, long                                                                   \
             : place_count, long long                                                              \
             : place_count, unsigned                                                               \
             : place_size, unsigned long                                                           \
             : place_size, unsigned long long                                                      \
             : place_size, double                                                                  \
             : place_real)(name_, value_)

/* A list of places, at least one. */
struct message_places {
    const struct message_place *at;
    size_t n;
};
#define PLACES(...)                                                                                \
    ((struct message_places){(const struct message_place[]){__VA_ARGS__},                          \
                             sizeof((const struct message_place[]){__VA_ARGS__}) /                 \
                                 sizeof(struct message_place)})

/* A message without places. */
static inline struct str message_in(enum lang lang, const struct message *m)
{
    return m->in[lang];
}

/* A message with its places filled. */
struct str message_text(enum lang lang, struct arena *arena, const struct message *m,
                        struct message_places places);
#define MESSAGE(lang_, arena_, message_, ...)                                                      \
    message_text((lang_), (arena_), (message_), PLACES(__VA_ARGS__))

/* The same at the end of a text. */
void message_put(struct text *out, enum lang lang, const struct message *m,
                 struct message_places places);

/* A message with its places, kept for whatever language is asked for later. Texts in the places are
 * not copied. */
struct phrase {
    const struct message *message; /* NULL: nothing */
    struct message_places places;
};
struct phrase phrase_keep(struct arena *arena, const struct message *m,
                          struct message_places places);
#define PHRASE(arena_, message_, ...) phrase_keep((arena_), (message_), PLACES(__VA_ARGS__))

static inline struct phrase phrase_plain(const struct message *m)
{
    return (struct phrase){.message = m};
}

struct str phrase_text(enum lang lang, struct arena *arena, struct phrase phrase);

/* A text that documents hold in English and reports in their own language: a phrase, or one that is
 * looked up among the words. In a record (report/record.h) it is its English text. */
struct wording {
    struct str english;
    struct phrase phrase; /* without a message: looked up */
};
struct wording wording_of(struct arena *arena, struct phrase phrase);
#define WORDING(arena_, message_, ...) wording_of((arena_), PHRASE(arena_, message_, __VA_ARGS__))

static inline struct wording wording_plain(struct str english)
{
    return (struct wording){.english = english};
}

/* A copy that lives as long as the arena, for place_wording(). */
const struct wording *wording_keep(struct arena *arena, struct wording w);

struct str wording_text(enum lang lang, struct arena *arena, struct wording w);

/* A text that was made in English from one of `n` messages, or is a word, in another language; any
 * other stays as it is. For texts that files keep. */
struct str message_translate(enum lang lang, struct arena *arena, struct str english,
                             const struct message *messages, size_t n);

/* A word of data/text/words.tsv by its English text; one that is not there stays as it is. */
struct str message_word(enum lang lang, struct str english);

/* "en", "zh". */
const char *lang_name(enum lang lang);

/* What LC_ALL, LC_MESSAGES and LANG ask for: Chinese for "zh…", English for all else. */
enum lang lang_of_environment(void);

#endif
