/*
 * opt: reads the words of a command line by tables of options.
 */
#include "cli/opt.h"

#include <stdio.h>

#include "base/text/num.h"

/* Names further away than this many letters are not worth offering. */
enum { NEAR = 2 };

static const struct where nowhere = {0};

/* One option found: how it was spelled, and whether a "no-" was in front. */
struct hit {
    const struct opt *opt;
    void *base;
    bool negated;
};

struct parser {
    const struct opt_set *sets;
    size_t set_count;
    int argc;
    const char *const *argv;
    int at; /* next word */
    struct diag *diag;
};

bool opt_is_option(const struct opt *o)
{
    return o->kind != OPT_KIND_GROUP;
}

bool opt_takes_value(const struct opt *o)
{
    return opt_is_option(o) && o->kind != OPT_KIND_FLAG;
}

const char *opt_value_text(const struct opt *o, char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    if (!opt_takes_value(o))
        return buf;
    if (o->kind != OPT_KIND_CHOICE || o->value != NULL) {
        snprintf(buf, size, "%s", o->value != NULL ? o->value : "VALUE");
        return buf;
    }
    for (size_t i = 0; o->choices[i] != NULL && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i > 0 ? "|" : "", o->choices[i]);
    return buf;
}

const char *opt_nearest(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = NEAR + 1;

    for (size_t i = 0; i < count; i++) {
        size_t distance = str_distance(str_of(word), str_of(names[i]), NEAR);
        /* A shortened name is rejected, with the full one as a hint. */
        if (distance > NEAR && strlen(word) >= 2 && str_starts(str_of(names[i]), str_of(word)))
            distance = NEAR;
        /* A word as short as the distance itself has nothing in common with the name. */
        if (distance < best_distance && distance < strlen(names[i])) {
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}

static bool has_name(const struct opt *o, struct str name)
{
    return str_equal(str_of(o->name), name) ||
           (o->alias != NULL && str_equal(str_of(o->alias), name));
}

/* The option of that letter, or of that name when `letter` is 0. */
static bool opt_find(const struct parser *p, struct str name, char letter, struct hit *hit)
{
    for (size_t s = 0; s < p->set_count; s++) {
        for (size_t i = 0; i < p->sets[s].n; i++) {
            const struct opt *o = &p->sets[s].table[i];
            if (opt_is_option(o) && (letter != 0 ? o->letter == letter : has_name(o, name))) {
                *hit = (struct hit){o, p->sets[s].base, false};
                return true;
            }
        }
    }
    return false;
}

static bool find_long(const struct parser *p, struct str name, struct hit *hit)
{
    char opposite[64];

    if (opt_find(p, name, 0, hit))
        return true;
    if (str_starts(name, S("no-"))) {
        if (!opt_find(p, str_part(name, 3, name.n), 0, hit))
            return false;
        enum opt_kind kind = hit->opt->kind; /* that has an unset state of its own */
        hit->negated = true;
        return kind == OPT_KIND_FLAG || kind == OPT_KIND_STRING || kind == OPT_KIND_LIST;
    }
    /* A flag may itself be called "no-check"; then "--check" undoes it. */
    snprintf(opposite, sizeof(opposite), "no-%.*s", STR_ARGS(name));
    if (!opt_find(p, str_of(opposite), 0, hit) || hit->opt->kind != OPT_KIND_FLAG)
        return false;
    hit->negated = true;
    return true;
}

static bool unknown_long(const struct parser *p, struct str name)
{
    VEC_OF(const char *) names = {0};
    char word[64];

    snprintf(word, sizeof(word), "%.*s", STR_ARGS(name));
    for (size_t s = 0; s < p->set_count; s++)
        for (size_t i = 0; i < p->sets[s].n; i++)
            if (opt_is_option(&p->sets[s].table[i]))
                vec_push(&names, p->sets[s].table[i].name);
    diag_fail(p->diag, ST_UNSUPPORTED, "usage.option", nowhere, "unknown option --%s", word);
    const char *near = opt_nearest(word, names.at, names.n);
    if (near != NULL)
        diag_hint(p->diag, "try", "--%s", near);
    vec_free(&names);
    return false;
}

static bool bad_value(const struct parser *p, const struct opt *o, const char *text,
                      const char *wanted)
{
    diag_fail(p->diag, ST_FORMAT, "usage.value", nowhere, "--%s: \"%s\" is not %s", o->name, text,
              wanted);
    return false;
}

static bool parse_int(const struct parser *p, const struct opt *o, const char *text, int64_t *out)
{
    int64_t value;

    if (!num_i64(str_of(text), &value))
        return bad_value(p, o, text, "a whole number");
    if (value >= o->min && value <= o->max) {
        *out = value;
        return true;
    }
    if (o->max == INT64_MAX)
        diag_fail(p->diag, ST_FORMAT, "usage.value", nowhere,
                  "value out of range: --%s %s (at least %lld)", o->name, text, (long long)o->min);
    else
        diag_fail(p->diag, ST_FORMAT, "usage.value", nowhere,
                  "value out of range: --%s %s (%lld to %lld)", o->name, text, (long long)o->min,
                  (long long)o->max);
    return false;
}

static bool parse_size(const struct parser *p, const struct opt *o, const char *text, uint64_t *out)
{
    static const struct {
        struct str suffix;
        uint64_t factor;
    } units[] = {
        {S_INIT("Ki"), UINT64_C(1) << 10},
        {S_INIT("Mi"), UINT64_C(1) << 20},
        {S_INIT("Gi"), UINT64_C(1) << 30},
        {S_INIT("k"), 1000},
        {S_INIT("M"), 1000000},
        {S_INIT("G"), 1000000000},
        {S_INIT(""), 1},
    };
    struct str s = str_of(text);

    if (str_ends(s, S("B"))) /* "25MB", "2GiB" */
        s = str_part(s, 0, s.n - 1);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        uint64_t value;
        if (!str_ends(s, units[i].suffix))
            continue;
        if (num_u64(str_part(s, 0, s.n - units[i].suffix.n), &value) &&
            !__builtin_mul_overflow(value, units[i].factor, out))
            return true;
        break;
    }
    return bad_value(p, o, text, "a size such as 4096, 64k or 2Gi");
}

static bool parse_choice(const struct parser *p, const struct opt *o, const char *text, int *out)
{
    char list[256];
    size_t n = 0;

    for (; o->choices[n] != NULL; n++) {
        if (strcmp(o->choices[n], text) == 0) {
            *out = (int)n;
            return true;
        }
    }
    diag_fail(p->diag, ST_FORMAT, "usage.value", nowhere, "--%s: \"%s\" is not one of %s", o->name,
              text,
              opt_value_text(&(struct opt){.kind = OPT_KIND_CHOICE, .choices = o->choices}, list,
                             sizeof(list)));
    const char *near = opt_nearest(text, o->choices, n);
    if (near != NULL)
        diag_hint(p->diag, "try", "--%s %s", o->name, near);
    return false;
}

static void undo(const struct hit *hit)
{
    char *member = (char *)hit->base + hit->opt->offset;

    if (hit->opt->kind == OPT_KIND_FLAG)
        *(bool *)member = false;
    else if (hit->opt->kind == OPT_KIND_STRING)
        *(const char **)member = NULL;
    else
        ((struct words *)member)->n = 0;
}

static bool store(const struct parser *p, const struct hit *hit, const char *text)
{
    const struct opt *o = hit->opt;
    void *member = (char *)hit->base + o->offset;

    switch (o->kind) {
    case OPT_KIND_FLAG:
        *(bool *)member = true;
        return true;
    case OPT_KIND_STRING:
        *(const char **)member = text;
        return true;
    case OPT_KIND_LIST:
        vec_push((struct words *)member, text);
        return true;
    case OPT_KIND_INT:
        return parse_int(p, o, text, member);
    case OPT_KIND_SIZE:
        return parse_size(p, o, text, member);
    case OPT_KIND_DOUBLE:
        return num_f64(str_of(text), member) || bad_value(p, o, text, "a number");
    case OPT_KIND_CHOICE:
        return parse_choice(p, o, text, member);
    case OPT_KIND_GROUP:
        break;
    }
    return false;
}

/* The next word as the value of `o`; NULL, with the reason in the diag, when there is none. */
static const char *next_value(struct parser *p, const struct opt *o)
{
    char value[128];

    if (p->at < p->argc)
        return p->argv[p->at++];
    diag_fail(p->diag, ST_FORMAT, "usage.value", nowhere, "--%s needs a value: %s", o->name,
              opt_value_text(o, value, sizeof(value)));
    return NULL;
}

static bool parse_long(struct parser *p, const char *word)
{
    struct str name = str_of(word + 2);
    size_t equals = str_find_char(name, '=');
    const char *text = equals < name.n ? name.at + equals + 1 : NULL;
    struct hit hit = {0};

    name.n = equals;
    if (!find_long(p, name, &hit))
        return unknown_long(p, name);
    if (text != NULL && (hit.negated || !opt_takes_value(hit.opt))) {
        diag_fail(p->diag, ST_FORMAT, "usage.value", nowhere, "--%.*s takes no value",
                  STR_ARGS(name));
        return false;
    }
    if (hit.negated) {
        undo(&hit);
        return true;
    }
    bool is_open = text == NULL && hit.opt->is_open;
    if (text == NULL && opt_takes_value(hit.opt) && (text = next_value(p, hit.opt)) == NULL)
        return false;
    if (!store(p, &hit, text))
        return false;
    while (is_open && p->at < p->argc && p->argv[p->at][0] != '-')
        if (!store(p, &hit, p->argv[p->at++]))
            return false;
    return true;
}

static bool parse_letters(struct parser *p, const char *word)
{
    for (const char *c = word + 1; *c != '\0'; c++) {
        struct hit hit;
        if (!opt_find(p, S(""), *c, &hit)) {
            /* A byte of a longer character would print as garbage: show the word instead. */
            const char one[] = {'-', *c, '\0'};
            diag_fail(p->diag, ST_UNSUPPORTED, "usage.option", nowhere, "unknown option %s",
                      *c > ' ' && *c < 0x7f ? one : word);
            return false;
        }
        if (!opt_takes_value(hit.opt)) {
            store(p, &hit, NULL);
            continue;
        }
        const char *text = c[1] != '\0' ? c + 1 : next_value(p, hit.opt);
        return text != NULL && store(p, &hit, text);
    }
    return true;
}

bool opt_parse(const struct opt_set *sets, size_t set_count, int argc, const char *const *argv,
               struct words *rest, struct diag *d)
{
    struct parser p = {sets, set_count, argc, argv, 0, d};

    while (p.at < argc) {
        const char *word = argv[p.at++];
        if (strcmp(word, "--") == 0)
            break;
        if (word[0] != '-' || word[1] == '\0') {
            vec_push(rest, word);
            continue;
        }
        if (!(word[1] == '-' ? parse_long(&p, word) : parse_letters(&p, word)))
            return false;
    }
    while (p.at < argc)
        vec_push(rest, argv[p.at++]);
    return true;
}

void opt_release(struct opt_set set)
{
    for (size_t i = 0; i < set.n; i++)
        if (set.table[i].kind == OPT_KIND_LIST)
            vec_free((struct words *)((char *)set.base + set.table[i].offset));
}
