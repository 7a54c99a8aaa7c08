#include "input/trace_paths.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "input/trace_chunk.h"

enum path_value {
    PATH_NONE, /* the text goes on in a child */
    PATH_STRING,
    PATH_NUMBER,
    PATH_END,
};

enum {
    SLACK = 64, /* bytes of text that can be read at any place, so that few checks are needed */
    CREDIT = 512,
    MISS = 4, /* an unknown event costs some known ones */
};

void trace_paths_init(struct trace_paths *t)
{
    memset(t->nodes, 0, sizeof(t->nodes[0]));
    t->n = 1;
    t->round = 0;
    t->credit = CREDIT;
}

void trace_paths_renew(struct trace_paths *t)
{
    if (t->n == TRACE_PATH_NODES || t->round == UINT32_MAX)
        trace_paths_init(t);
    t->round++;
    t->credit = CREDIT;
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

static bool is_printable(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* How many bytes come before the first quote, backslash or byte that is not printable; 16: none of
 * them is. */
static inline unsigned plain_bytes(const char *p)
{
#if defined(__SSE2__)
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
    __m128i found = _mm_or_si128(_mm_or_si128(v, control),
                                 _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
                                              _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));

    return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(found) | 1u << 16);
#else
    unsigned i = 0;

    while (i < 16 && is_printable(p[i]) && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
#endif
}

/* The closing quote of the string that begins at `p`; NULL when it is not all printable, or comes
 * near the end of the text. */
static inline const char *string_end(const char *p, const char *end)
{
    while (end - p >= SLACK) {
        unsigned n = plain_bytes(p);
        p += n;
        if (n == 16)
            continue;
        if (*p == '"')
            return p;
        if (*p != '\\' || !is_printable(p[1]))
            return NULL;
        p += 2;
    }
    return NULL;
}

/* The end of the number that begins at `p`; NULL when none does. What follows it tells whether it
 * was all of it. */
static inline const char *number_end(const char *p, const char *end)
{
    if (*p == '-')
        p++;
    if (!is_digit(*p))
        return NULL;
    do
        p++;
    while (p < end && (is_digit(*p) || *p == '.'));
    return p;
}

static inline bool is_at(const struct path_node *node, const char *p)
{
    uint64_t word, differs = 0;

    for (int i = 0; i < TRACE_PATH_TEXT / 8; i++) {
        memcpy(&word, p + 8 * i, 8);
        differs |= (word & node->mask[i]) ^ node->text[i];
    }
    return differs == 0;
}

static void look_up(struct trace_chunk *c, struct path_node *node, const char *value)
{
    const struct trace_key *k =
        trace_chunk_key(c, (struct str){value - node->key_back, node->key_n});

    node->arg = k->arg;
    node->key = k->id;
    node->round = c->paths->round;
}

static inline void add_arg(struct trace_chunk *c, struct path_node *node, struct trace_event *e,
                           const char *from, const char *to)
{
    if (node->round != c->paths->round)
        look_up(c, node, from - (node->value == PATH_STRING));
    if (node->arg.action == ARG_SKIP)
        return;
    uint32_t i = e->n_args++;
    e->args[i].key = node->key;
    e->args[i].arg = node->arg;
    e->args[i].value.text.at = from;
    e->args[i].value.text.n = (size_t)(to - from);
    e->args[i].value.token = node->value == PATH_STRING ? JSON_STRING : JSON_NUMBER;
    e->args[i].value.is_json = false;
}

static const char *walk(struct trace_chunk *c, const char *p, const char *end,
                        struct trace_event *e)
{
    struct trace_paths *t = c->paths;
    struct path_node *node = &t->nodes[0];
    bool skips_args = false; /* Python's own ids and nothing else */

    for (;;) {
        const char *to = p;
        uint32_t i = node->child;
        if (end - p < SLACK)
            return NULL;
        while (i != 0 && !is_at(&t->nodes[i], p))
            i = t->nodes[i].next;
        if (i == 0)
            return NULL;
        node = &t->nodes[i];
        p += node->n;
        if (node->value == PATH_NONE)
            continue;
        if (node->value == PATH_END) {
            e->ph = node->ph;
            return p;
        }
        to = node->value == PATH_STRING ? string_end(p, end) : number_end(p, end);
        if (to == NULL)
            return NULL;
        if (!node->is_arg) {
            e->field[node->field].at = p;
            e->field[node->field].n = (size_t)(to - p);
            if (node->field == FIELD_CAT)
                skips_args = trace_same(e->field[FIELD_CAT], S("python_function"));
        } else if (!skips_args) {
            add_arg(c, node, e, p, to);
        }
        p = to;
    }
}

const char *trace_paths_read(struct trace_chunk *c, const char *at, const char *end,
                             struct trace_event *e)
{
    struct trace_paths *t = c->paths;
    const char *behind = walk(c, at, end, e);

    t->credit += behind != NULL ? t->credit < CREDIT : -MISS;
    return behind;
}

/* An event that is being learnt. Each part is checked, though a reader has been here before. */
struct lesson {
    struct str text;
    size_t at, from; /* the place reached; where the text before the next value begins */
    struct path_node nodes[3 * TRACE_ARGS];
    uint32_t n;
    struct str keys[2][TRACE_ARGS]; /* of the event, of its arguments */
    uint32_t n_keys[2];
    bool is_in_args;
    char ph;
};

static char here(const struct lesson *l)
{
    return l->at < l->text.n ? l->text.at[l->at] : '\0';
}

static void skip_blanks(struct lesson *l)
{
    while (is_blank(here(l)))
        l->at++;
}

/* Goes behind `c`, with blanks around it. */
static bool pass(struct lesson *l, char c)
{
    skip_blanks(l);
    if (here(l) != c)
        return false;
    l->at++;
    skip_blanks(l);
    return true;
}

/* Steps over a string; false when it is none or not printable. */
static bool pass_string(struct lesson *l, struct str *out)
{
    if (here(l) != '"')
        return false;
    size_t from = ++l->at;
    for (; here(l) != '"'; l->at++) {
        if (here(l) == '\\')
            l->at++;
        if (!is_printable(here(l)))
            return false;
    }
    *out = str_part(l->text, from, l->at - from);
    l->at++;
    return true;
}

static bool pass_number(struct lesson *l)
{
    const char *from = l->text.at + l->at, *end = l->text.at + l->text.n;
    const char *to = end - from >= 2 ? number_end(from, end) : NULL;

    if (to == NULL)
        return false;
    l->at += (size_t)(to - from);
    return true;
}

/* Adds a node for the text before the place reached. */
static bool add_node(struct lesson *l, struct path_node node)
{
    while (l->n < ARRAY_LEN(l->nodes)) {
        struct path_node *to = &l->nodes[l->n++];
        size_t n = l->at - l->from;
        *to = n > TRACE_PATH_TEXT ? (struct path_node){.value = PATH_NONE} : node;
        to->n = (uint8_t)(n > TRACE_PATH_TEXT ? TRACE_PATH_TEXT : n);
        memset(to->mask, 0, sizeof(to->mask));
        memset(to->mask, 0xff, to->n);
        memcpy(to->text, l->text.at + l->from, to->n);
        l->from += to->n;
        if (l->from == l->at)
            return true;
    }
    return false;
}

static bool is_new_key(struct lesson *l, struct str key)
{
    struct str *keys = l->keys[l->is_in_args];
    uint32_t *n = &l->n_keys[l->is_in_args];

    for (uint32_t i = 0; i < *n; i++)
        if (str_equal(keys[i], key))
            return false;
    if (*n == TRACE_ARGS)
        return false;
    keys[(*n)++] = key;
    return true;
}

/* A value that differs from event to event. */
static bool learn_value(struct lesson *l, struct str key)
{
    bool is_string = here(l) == '"';
    struct path_node node = {.value = is_string ? PATH_STRING : PATH_NUMBER,
                             .field = (uint8_t)trace_field(trace_word(key)),
                             .is_arg = l->is_in_args,
                             .key_n = (uint16_t)key.n,
                             .key_back = (uint16_t)(l->at - (size_t)(key.at - l->text.at))};
    struct str text;

    if (l->at - l->from > UINT16_MAX)
        return false;
    if (l->is_in_args)
        node.field = FIELD_NONE;
    size_t value = l->at;
    l->at += is_string;
    if (!add_node(l, node))
        return false;
    l->at = value;
    if (is_string ? !pass_string(l, &text) : !pass_number(l))
        return false;
    l->from = l->at - is_string;
    return true;
}

/* A value that tells layouts apart, and so is part of the text. */
static bool learn_constant(struct lesson *l, struct str key)
{
    struct str text;

    if (!pass_string(l, &text) || text.n != 1 || text.at[0] == '\\')
        return false;
    if (key.at[0] == 'p')
        l->ph = text.at[0];
    return true;
}

static bool learn_member(struct lesson *l)
{
    struct str key;

    if (!pass_string(l, &key) || key.n == 0 || memchr(key.at, '\\', key.n) != NULL ||
        !is_new_key(l, key) || !pass(l, ':'))
        return false;
    if (!l->is_in_args && (str_equal(key, S("ph")) || str_equal(key, S("bp"))))
        return learn_constant(l, key);
    if (!l->is_in_args && str_equal(key, S("args"))) {
        if (!pass(l, '{'))
            return false;
        l->is_in_args = true;
        if (here(l) != '}')
            return learn_member(l);
        return true;
    }
    return learn_value(l, key);
}

static bool learn_event(struct lesson *l)
{
    if (!pass(l, '{'))
        return false;
    for (;;) {
        if (!learn_member(l))
            return false;
        skip_blanks(l);
        if (l->is_in_args && here(l) == '}') {
            l->is_in_args = false;
            l->at++;
            skip_blanks(l);
        }
        if (here(l) != ',')
            break;
        pass(l, ',');
    }
    l->at++;
    return l->at == l->text.n && l->text.at[l->at - 1] == '}' && !l->is_in_args && l->ph != 0 &&
           add_node(l, (struct path_node){.value = PATH_END, .ph = l->ph});
}

static bool is_same(const struct path_node *a, const struct path_node *b)
{
    return a->n == b->n && memcmp(a->text, b->text, sizeof(a->text)) == 0 && a->value == b->value &&
           a->field == b->field && a->is_arg == b->is_arg;
}

/* The child of `parent` that is `node`; a new one if there is room, else 0. Longer texts stand
 * first, so that none hides behind its own beginning. */
static uint32_t put_child(struct trace_paths *t, uint32_t parent, const struct path_node *node)
{
    uint16_t *link = &t->nodes[parent].child;

    for (uint32_t i = *link; i != 0; i = t->nodes[i].next)
        if (is_same(&t->nodes[i], node))
            return i;
    if (t->n == TRACE_PATH_NODES)
        return 0;
    while (*link != 0 && t->nodes[*link].n > node->n)
        link = &t->nodes[*link].next;
    t->nodes[t->n] = *node;
    t->nodes[t->n].next = *link;
    *link = (uint16_t)t->n;
    return t->n++;
}

void trace_paths_learn(struct trace_paths *t, struct str event)
{
    struct lesson l = {.text = event};
    uint32_t at = 0;

    if (t->n == TRACE_PATH_NODES || !learn_event(&l))
        return;
    for (uint32_t i = 0; i < l.n; i++) {
        at = put_child(t, at, &l.nodes[i]);
        if (at == 0)
            return;
    }
}
