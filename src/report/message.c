/*
 * message: places filled in, words looked up, the language of the environment.
 */
#include "report/message.h"

#include <assert.h>
#include <stdlib.h>

#include "text/words.h"

static const struct message_place *find_place(struct message_places places, struct str name)
{
    for (size_t i = 0; i < places.n; i++)
        if (str_equal(str_of(places.at[i].name), name))
            return places.at + i;
    return NULL;
}

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

static void put_quantity(struct text *out, struct quantity q)
{
    char buf[QUANTITY_TEXT];

    text_put(out, (struct str){buf, quantity_print(buf, q)});
}

static void put_value(struct text *out, const struct message_place *place, struct str form)
{
    switch (place->type) {
    case PLACE_TEXT:
        text_put(out, place->text);
        break;
    case PLACE_COUNT:
        text_format(out, "%lld", place->count);
        break;
    case PLACE_REAL:
        put_real(out, place->real, form);
        break;
    case PLACE_QUANTITY:
        put_quantity(out, place->quantity);
        break;
    }
}

/* What is between the braces: "n", "x:.1" or "n|step|steps". */
static void put_place(struct text *out, struct str inside, struct message_places places)
{
    size_t end = 0;

    while (end < inside.n && inside.at[end] != ':' && inside.at[end] != '|')
        end++;
    const struct message_place *place = find_place(places, str_part(inside, 0, end));
    assert(place != NULL);
    if (place == NULL)
        return;
    struct str rest = str_part(inside, end < inside.n ? end + 1 : end, inside.n);
    if (end == inside.n || inside.at[end] == ':') {
        put_value(out, place, rest);
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
        put_place(out, str_part(rest, open + 1, close - open - 1), places);
        rest = str_part(rest, close + 1, rest.n);
    }
    text_put(out, rest);
}

struct str message_text(enum lang lang, struct arena *arena, const struct message *m,
                        struct message_places places)
{
    struct text t = {0};

    message_put(&t, lang, m, places);
    struct str made = arena_str(arena, text_view(&t));
    text_free(&t);
    return made;
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

const char *lang_name(enum lang lang)
{
    static const char *const names[] = {"en", "zh"};

    return names[lang];
}

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
