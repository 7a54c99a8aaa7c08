/*
 * message: places filled in, words looked up, the language of the environment.
 */
#include "report/message.h"

#include <assert.h>
#include <stdlib.h>

#include "base/text/inert.h"
#include "text/words.h"

/* ".1" is one decimal, "4g" four digits, nothing what a number needs. */
static void put_real(struct text *out, double real, struct str form)
{
    if (form.n == 2 && form.at[0] == '.')
        text_format(out, "%.*f", form.at[1] - '0', real);
    else if (form.n == 2 && form.at[1] == 'g')
        text_format(out, "%.*g", form.at[0] - '0', real);
    else
        text_format(out, "%g", real);
}

static void message_put_value(struct text *out, enum lang lang, const struct message_place *place,
                              struct str form)
{
    const struct wording *w = place->wording;
    char buf[QUANTITY_TEXT];

    switch (place->type) {
    case PLACE_TEXT:
        inert_put(out, place->text, INERT_LINE);
        break;
    case PLACE_COUNT:
        text_format(out, "%lld", place->count);
        break;
    case PLACE_REAL:
        put_real(out, place->real, form);
        break;
    case PLACE_QUANTITY:
        text_put(out, (struct str){buf, quantity_print(buf, place->quantity)});
        break;
    case PLACE_WORDING:
        if (w->phrase.message == NULL)
            text_put(out, message_word(lang, w->english));
        else
            message_put(out, lang, w->phrase.message, w->phrase.places);
        break;
    }
}

/* What is between the braces: "n", "x:.1" or "n|step|steps". */
static void put_place(struct text *out, enum lang lang, struct str inside,
                      struct message_places places)
{
    size_t end = 0;

    while (end < inside.n && inside.at[end] != ':' && inside.at[end] != '|')
        end++;
    struct str name = str_part(inside, 0, end);
    size_t at = 0;
    while (at < places.n && !str_equal(str_of(places.at[at].name), name))
        at++;
    assert(at < places.n);
    if (at == places.n)
        return;
    const struct message_place *place = &places.at[at];
    struct str rest = str_part(inside, end < inside.n ? end + 1 : end, inside.n);
    if (end == inside.n || inside.at[end] == ':') {
        message_put_value(out, lang, place, rest);
        return;
    }
    size_t bar = str_find_char(rest, '|');
    bool is_one = place->type == PLACE_COUNT && place->count == 1;
    text_put(out, is_one ? str_part(rest, 0, bar) : str_part(rest, bar + 1, rest.n));
}

void message_put(struct text *out, enum lang lang, const struct message *m,
                 struct message_places places)
{
    struct str rest = m->in[lang];

    for (;;) {
        size_t open = str_find_char(rest, '{'), close = str_find_char(rest, '}');
        if (open >= rest.n || close >= rest.n)
            break;
        text_put(out, str_part(rest, 0, open));
        put_place(out, lang, str_part(rest, open + 1, close - open - 1), places);
        rest = str_part(rest, close + 1, rest.n);
    }
    text_put(out, rest);
}

struct str message_text(enum lang lang, struct arena *arena, const struct message *m,
                        struct message_places places)
{
    struct text t = {0};

    message_put(&t, lang, m, places);
    return text_keep(&t, arena);
}

struct phrase phrase_keep(struct arena *arena, const struct message *m,
                          struct message_places places)
{
    struct message_place *kept = ARENA_ARRAY(arena, struct message_place, places.n);

    memcpy(kept, places.at, places.n * sizeof(*kept));
    return (struct phrase){m, {kept, places.n}};
}

struct str phrase_text(enum lang lang, struct arena *arena, struct phrase phrase)
{
    if (phrase.message == NULL)
        return S("");
    if (phrase.places.n == 0)
        return message_in(lang, phrase.message);
    return message_text(lang, arena, phrase.message, phrase.places);
}

struct wording wording_of(struct arena *arena, struct phrase phrase)
{
    return (struct wording){phrase_text(LANG_EN, arena, phrase), phrase};
}

const struct wording *wording_keep(struct arena *arena, struct wording w)
{
    struct wording *kept = ARENA_NEW(arena, struct wording);

    *kept = w;
    return kept;
}

struct str wording_text(enum lang lang, struct arena *arena, struct wording w)
{
    if (w.phrase.message == NULL)
        return message_word(lang, w.english);
    return phrase_text(lang, arena, w.phrase);
}

/* Takes the longer word that fits off the front of `text`: either of "n|step|steps". */
static bool skip_plural(struct str inside, struct str *text)
{
    struct str words = str_part(inside, str_find_char(inside, '|') + 1, inside.n), word;
    size_t length = 0;

    for (struct str rest = words; str_split(&rest, '|', &word);)
        if (str_starts(*text, word) && word.n > length)
            length = word.n;
    *text = str_part(*text, length, text->n);
    return length > 0;
}

enum { RETOLD_PLACES = 8 };

/* Whether `text` was made from the English of a message; what stood in its places goes to `out`. */
static bool match(struct str pattern, struct str text, struct message_place *out, size_t *n,
                  char (*names)[24])
{
    for (*n = 0;;) {
        size_t open = str_find_char(pattern, '{'), close = str_find_char(pattern, '}');
        if (!str_starts(text, str_part(pattern, 0, open)))
            return false;
        text = str_part(text, open, text.n);
        if (open == pattern.n)
            return text.n == 0;
        struct str inside = str_part(pattern, open + 1, close - open - 1);
        pattern = str_part(pattern, close + 1, pattern.n);
        if (str_find_char(inside, '|') < inside.n) {
            if (!skip_plural(inside, &text))
                return false;
            continue;
        }
        struct str literal = str_part(pattern, 0, str_find_char(pattern, '{'));
        size_t length = literal.n > 0 ? str_find(text, literal) : text.n;
        struct str name = str_part(inside, 0, str_find_char(inside, ':'));
        if (*n == RETOLD_PLACES || name.n >= sizeof(*names))
            return false;
        memcpy(names[*n], name.at, name.n);
        names[*n][name.n] = '\0';
        out[*n] = place_text(names[*n], str_part(text, 0, length));
        ++*n;
        text = str_part(text, length, text.n);
    }
}

struct str message_translate(enum lang lang, struct arena *arena, struct str english,
                             const struct message *messages, size_t n)
{
    struct message_place places[RETOLD_PLACES];
    char names[RETOLD_PLACES][24];
    size_t found;

    if (lang == LANG_EN)
        return english;
    for (size_t i = 0; i < n; i++) {
        struct str pattern = messages[i].in[LANG_EN];
        if (pattern.at[0] == '{' && pattern.n < 12)
            continue; /* would fit anything */
        if (!match(pattern, english, places, &found, names))
            continue;
        for (size_t k = 0; k < found; k++)
            places[k].text = message_translate(lang, arena, places[k].text, messages, n);
        return message_text(lang, arena, &messages[i], (struct message_places){places, found});
    }
    return message_word(lang, english);
}

struct str message_word(enum lang lang, struct str english)
{
    const struct message *words = (const struct message *)&words_text;

    if (lang == LANG_EN || english.n == 0)
        return english;
    for (size_t i = 0; i < sizeof(words_text) / sizeof(*words); i++)
        if (str_equal(words[i].in[LANG_EN], english))
            return words[i].in[lang];
    return english;
}

ENUM_NAMES(lang_name, enum lang, "en", "zh")

enum lang lang_of_environment(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};

    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && value[0] != '\0')
            return str_starts(str_of(value), S("zh")) ? LANG_ZH : LANG_EN;
    }
    return LANG_EN;
}
