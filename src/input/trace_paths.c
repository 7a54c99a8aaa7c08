#include "input/trace_paths.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "input/trace_chunk.h"

/* What stands behind a text. */
enum path_value {
    PATH_NONE, /* the text goes on in a child */
    PATH_END,
    PATH_TS,
    PATH_DUR,
    PATH_STRING, /* of a field */
    PATH_NUMBER,
    PATH_ARG_STRING,
    PATH_ARG_NUMBER,
};

enum {
    SLACK = 64, /* bytes of text that can be read at any place, so that few checks are needed */
    CREDIT = 512,
    FEW = 8,  /* texts at one place that may differ by their constants */
    MISS = 4, /* an unknown event costs some known ones */
};

static const struct str python = S_INIT("python_function");

void trace_paths_init(struct trace_paths *t)
{
    memset(t->nodes, 0, sizeof(t->nodes[0]));
    memset(t->guesses, 0, sizeof(t->guesses));
    t->n = 1;
    t->last = 0;
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

/* How many bytes come before the first quote, backslash or byte that is not printable; 32: none of
 * them is. As many at once as most names have, so that their lengths decide no branch. */
static inline unsigned plain_bytes(const char *p)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(0x1f);
    unsigned found[2];

    for (int i = 0; i < 2; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i odd = _mm_or_si128(v, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
        __m128i end = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        found[i] = (unsigned)_mm_movemask_epi8(_mm_or_si128(odd, end));
    }
    return (unsigned)__builtin_ctzll((uint64_t)1 << 32 | (uint64_t)found[1] << 16 | found[0]);
#else
    unsigned i = 0;

    while (i < 32 && is_printable(p[i]) && p[i] != '"' && p[i] != '\\')
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
        if (n == 32)
            continue;
        if (*p == '"')
            return p;
        if (*p != '\\' || !is_printable(p[1]))
            return NULL;
        p += 2;
    }
    return NULL;
}

/* How many digits and points come first; 16: all are. */
static inline unsigned digit_bytes(const char *p)
{
#if defined(__SSE2__)
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i value = _mm_sub_epi8(v, _mm_set1_epi8('0'));
    __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
    __m128i found = _mm_or_si128(digit, _mm_cmpeq_epi8(v, _mm_set1_epi8('.')));

    return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(found));
#else
    unsigned i = 0;

    while (i < 16 && (is_digit(p[i]) || p[i] == '.'))
        i++;
    return i;
#endif
}

/* The end of the number that begins at `p`; NULL when none does, or it is near the end of the text.
 * What follows it tells whether it was all of it. */
static inline const char *number_end(const char *p, const char *end)
{
    p += *p == '-';
    if (!is_digit(*p))
        return NULL;
    while (end - p >= SLACK) {
        unsigned n = digit_bytes(p);
        p += n;
        if (n < 16)
            return p;
    }
    return NULL;
}

/* 32 bytes, as far as they are masked. */
static inline bool is_same_text(const char *p, const unsigned char *text, const unsigned char *mask)
{
#if defined(__SSE2__)
    __m128i same = _mm_set1_epi8(-1);

    for (int i = 0; i < 32; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i m = _mm_loadu_si128((const __m128i *)(const void *)(mask + i));
        __m128i t = _mm_loadu_si128((const __m128i *)(const void *)(text + i));
        same = _mm_and_si128(same, _mm_cmpeq_epi8(_mm_and_si128(v, m), t));
    }
    return _mm_movemask_epi8(same) == 0xffff;
#else
    unsigned differs = 0;

    for (int i = 0; i < 32; i++)
        differs |= ((unsigned char)p[i] & mask[i]) ^ text[i];
    return differs == 0;
#endif
}

static inline bool is_at(const struct path_node *node, const char *p)
{
    return is_same_text(p, node->text, node->mask) &&
           (node->n <= 32 || is_same_text(p + 32, node->text + 32, node->mask + 32));
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
        look_up(c, node, from - node->is_string);
    if (node->arg.action == ARG_SKIP)
        return;
    uint32_t i = e->n_args++;
    e->args[i].key = node->key;
    e->args[i].arg = node->arg;
    e->args[i].value.text.at = from;
    e->args[i].value.text.n = (size_t)(to - from);
    e->args[i].value.token = node->is_string ? JSON_STRING : JSON_NUMBER;
    e->args[i].value.is_json = false;
}

/* The child whose text comes next, or 0. What came here after the same events is tried first. */
static inline uint32_t find_next(struct trace_paths *t, uint32_t node, const char *p)
{
    uint16_t *guess = &t->guesses[(t->last ^ node * 37) % TRACE_PATH_GUESSES];
    uint32_t i = *guess;

    if (__builtin_expect(is_at(&t->nodes[i], p) && t->nodes[i].parent == node && i != 0, 1))
        return i;
    i = t->nodes[node].child;
    while (i != 0 && !is_at(&t->nodes[i], p))
        i = t->nodes[i].next;
    *guess = (uint16_t)i;
    return i;
}

static inline void set_constants(struct trace_event *e, const struct path_node *node, const char *p)
{
    for (uint32_t k = 0; k < node->n_constants; k++) {
        struct str *field = &e->field[node->constants[k].field];
        field->at = p - node->constants[k].back;
        field->n = node->constants[k].n;
    }
}

static inline void set_field(struct trace_event *e, const struct path_node *node, const char *from,
                             const char *to)
{
    e->field[node->field].at = from;
    e->field[node->field].n = (size_t)(to - from);
}

static inline const char *value_end(const struct path_node *node, const char *p, const char *end)
{
    return node->is_string ? string_end(p, end) : number_end(p, end);
}

/* A time, at its quickest if it is written like most. */
static inline const char *take_time(struct trace_event *e, const struct path_node *node,
                                    const char *p, const char *end, nanos *time, bool *has_time)
{
    const char *to = num_us_at(p, time);

    *has_time = to != NULL;
    if (to == NULL && (to = value_end(node, p, end)) != NULL)
        set_field(e, node, p, to);
    return to;
}

static const char *walk(struct trace_chunk *c, const char *p, const char *end,
                        struct trace_event *e)
{
    struct trace_paths *t = c->paths;
    uint32_t i = 0;
    bool skips_args = false; /* Python's own ids and nothing else */

    for (;;) {
        if (end - p < SLACK || (i = find_next(t, i, p)) == 0)
            return NULL;
        struct path_node *node = &t->nodes[i];
        const char *to = p += node->n;
        set_constants(e, node, p);
        switch ((enum path_value)node->value) {
        case PATH_NONE:
            break;
        case PATH_END:
            t->last = t->last << 6 ^ i * 7;
            e->ph = node->ph;
            e->path = node;
            return p;
        case PATH_TS:
            to = take_time(e, node, p, end, &e->ts, &e->has_ts);
            break;
        case PATH_DUR:
            to = take_time(e, node, p, end, &e->dur, &e->has_dur);
            break;
        case PATH_STRING:
        case PATH_NUMBER:
            to = value_end(node, p, end);
            if (to != NULL)
                set_field(e, node, p, to);
            if (to != NULL && node->field == FIELD_CAT)
                skips_args = trace_same(e->field[FIELD_CAT], python);
            break;
        case PATH_ARG_STRING:
        case PATH_ARG_NUMBER:
            to = value_end(node, p, end);
            if (to != NULL && !skips_args && !node->is_python)
                add_arg(c, node, e, p, to);
            break;
        }
        if (to == NULL)
            return NULL;
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

/* A value that may become part of the text around it. */
struct constant {
    size_t from, to; /* with its quotes */
    struct str key;
};

/* An event that is being learnt. Each part is checked, though a reader has been here before. */
struct lesson {
    struct trace_paths *paths;
    uint32_t parent; /* the node reached */
    struct str text;
    size_t at, from; /* the place reached; where the text before the next value begins */
    struct constant constants[TRACE_PATH_CONSTANTS]; /* between these two */
    uint32_t n_constants;
    struct str keys[2][TRACE_ARGS]; /* of the event, of its arguments */
    uint32_t n_keys[2];
    bool is_in_args, is_python;
    char ph;
    uint32_t known; /* a bit for each field that was a constant */
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
    if (here(l) == '-')
        l->at++;
    if (!is_digit(here(l)))
        return false;
    while (is_digit(here(l)) || here(l) == '.')
        l->at++;
    return true;
}

static bool is_same(const struct path_node *a, const struct path_node *b)
{
    return a->n == b->n && memcmp(a->text, b->text, sizeof(a->text)) == 0 && a->value == b->value &&
           a->field == b->field && a->ph == b->ph && a->n_constants == b->n_constants &&
           a->is_python == b->is_python;
}

/* The child of the node reached that is `node`, or 0. */
static uint32_t find_child(const struct lesson *l, const struct path_node *node)
{
    const struct path_node *nodes = l->paths->nodes;
    uint32_t i = nodes[l->parent].child;

    while (i != 0 && !is_same(&nodes[i], node))
        i = nodes[i].next;
    return i;
}

/* The same; a new one if there is room. Longer texts stand first, so that none hides behind its own
 * beginning. */
static uint32_t put_child(struct lesson *l, const struct path_node *node)
{
    struct trace_paths *t = l->paths;
    uint16_t *link = &t->nodes[l->parent].child;
    uint32_t i = find_child(l, node);

    if (i != 0 || t->n == TRACE_PATH_NODES)
        return i;
    while (*link != 0 && t->nodes[*link].n > node->n)
        link = &t->nodes[*link].next;
    t->nodes[t->n] = *node;
    t->nodes[t->n].parent = (uint16_t)l->parent;
    t->nodes[t->n].next = *link;
    *link = (uint16_t)t->n;
    return t->n++;
}

/* Are there few enough texts behind the node reached for one more? */
static bool has_few_children(const struct lesson *l)
{
    uint32_t n = 0;

    for (uint32_t i = l->paths->nodes[l->parent].child; i != 0; i = l->paths->nodes[i].next)
        n++;
    return n < FEW;
}

/* Makes the text up to `to`, or as much as fits, that of the node. */
static size_t set_text(const struct lesson *l, struct path_node *node, size_t to)
{
    size_t n = to - l->from < TRACE_PATH_TEXT ? to - l->from : TRACE_PATH_TEXT;

    node->n = (uint8_t)n;
    memset(node->mask, 0xff, n);
    memcpy(node->text, l->text.at + l->from, n);
    return n;
}

/* Puts the text up to `to` into the tree. */
static bool put_text(struct lesson *l, struct path_node node, size_t to)
{
    do {
        struct path_node part = {.value = PATH_NONE};
        if (to - l->from <= TRACE_PATH_TEXT)
            part = node;
        l->from += set_text(l, &part, to);
        l->parent = put_child(l, &part);
    } while (l->parent != 0 && l->from < to);
    return l->parent != 0;
}

static struct path_node value_node(const struct lesson *l, struct str key, size_t value,
                                   bool is_arg)
{
    size_t back = value - (size_t)(key.at - l->text.at);
    bool is_string = l->text.at[value] == '"';
    enum trace_field field = is_arg ? FIELD_NONE : trace_field(trace_word(key));
    enum path_value kind = is_string ? PATH_STRING : PATH_NUMBER;

    if (is_arg)
        kind = is_string ? PATH_ARG_STRING : PATH_ARG_NUMBER;
    else if (field == FIELD_TS)
        kind = PATH_TS;
    else if (field == FIELD_DUR)
        kind = PATH_DUR;
    return (struct path_node){
        .value = (uint8_t)kind,
        .field = (uint8_t)field,
        .is_string = is_string,
        .is_python = is_arg && l->is_python,
        .key_n = (uint16_t)key.n,
        .key_back = (uint16_t)back,
    };
}

/* Puts the text up to the place reached into the tree as one with constants; false when there are
 * too many that differ. */
static bool put_constants(struct lesson *l, struct path_node node)
{
    uint32_t known = l->known;
    bool is_python = l->is_python;

    if (l->at - l->from > TRACE_PATH_TEXT)
        return false;
    for (uint32_t i = 0; i < l->n_constants; i++) {
        const struct constant *k = &l->constants[i];
        size_t quote = l->text.at[k->from] == '"', from = k->from + quote;
        size_t n = k->to - quote - from;
        enum trace_field field = trace_field(trace_word(k->key));
        node.constants[node.n_constants++] =
            (struct path_constant){(uint8_t)field, (uint8_t)(l->at - from), (uint8_t)n};
        if (field == FIELD_CAT)
            is_python = str_equal(str_part(l->text, from, n), python);
        known |= (uint32_t)1 << field;
    }
    node.has_lane = (known >> FIELD_PID & 1) != 0 && (known >> FIELD_TID & 1) != 0;
    node.has_cat = (known >> FIELD_CAT & 1) != 0;
    node.is_python = is_python && (node.value == PATH_ARG_STRING || node.value == PATH_ARG_NUMBER);
    set_text(l, &node, l->at);
    if (find_child(l, &node) == 0 && !has_few_children(l))
        return false;
    l->parent = put_child(l, &node);
    l->from = l->at;
    l->known = known;
    l->is_python = is_python;
    return true;
}

/* Puts the text up to the place reached into the tree, with the constants in it: as part of the
 * text where there are few, else as values. */
static bool add_node(struct lesson *l, struct path_node node)
{
    uint32_t n = l->n_constants;

    if (l->at - l->from > UINT16_MAX) /* what the lengths of keys hold */
        return false;
    if (put_constants(l, node)) {
        l->n_constants = 0;
        return l->parent != 0;
    }
    l->n_constants = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct constant *k = &l->constants[i];
        size_t quote = l->text.at[k->from] == '"';
        if (!put_text(l, value_node(l, k->key, k->from, false), k->from + quote))
            return false;
        l->from = k->to - quote;
    }
    node.has_lane = (l->known >> FIELD_PID & 1) != 0 && (l->known >> FIELD_TID & 1) != 0;
    node.has_cat = (l->known >> FIELD_CAT & 1) != 0;
    return put_text(l, node, l->at);
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

static bool pass_value(struct lesson *l)
{
    struct str text;

    return here(l) == '"' ? pass_string(l, &text) : pass_number(l);
}

/* A value that differs from event to event. */
static bool learn_value(struct lesson *l, struct str key)
{
    size_t value = l->at, quote = here(l) == '"';

    l->at += quote;
    if (!add_node(l, value_node(l, key, value, l->is_in_args)))
        return false;
    l->at = value;
    if (!pass_value(l))
        return false;
    l->from = l->at - quote;
    return true;
}

/* A value that has few spellings. */
static bool learn_constant(struct lesson *l, struct str key)
{
    struct constant *k = &l->constants[l->n_constants];

    *k = (struct constant){.from = l->at, .key = key};
    if (!pass_value(l))
        return false;
    k->to = l->at;
    l->n_constants++;
    return true;
}

/* A value that tells layouts apart. */
static bool learn_letter(struct lesson *l, struct str key)
{
    struct str text;

    if (!pass_string(l, &text) || text.n != 1 || text.at[0] == '\\')
        return false;
    if (key.at[0] == 'p')
        l->ph = text.at[0];
    return true;
}

/* Names of arrows are of no use; those of other events are many. */
static bool is_constant(const struct lesson *l, struct str key)
{
    enum trace_field field = trace_field(trace_word(key));
    bool is_arrow = l->ph == 's' || l->ph == 't' || l->ph == 'f';

    return l->n_constants < ARRAY_LEN(l->constants) &&
           (field == FIELD_PID || field == FIELD_TID || field == FIELD_CAT ||
            (field == FIELD_NAME && is_arrow));
}

static bool learn_member(struct lesson *l)
{
    struct str key;

    if (!pass_string(l, &key) || key.n == 0 || memchr(key.at, '\\', key.n) != NULL ||
        !is_new_key(l, key) || !pass(l, ':'))
        return false;
    if (!l->is_in_args && (str_equal(key, S("ph")) || str_equal(key, S("bp"))))
        return learn_letter(l, key);
    if (!l->is_in_args && str_equal(key, S("args"))) {
        if (!pass(l, '{'))
            return false;
        l->is_in_args = true;
        if (here(l) != '}')
            return learn_member(l);
        return true;
    }
    if (!l->is_in_args && is_constant(l, key))
        return learn_constant(l, key);
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

void trace_paths_learn(struct trace_paths *t, struct str event)
{
    struct lesson l = {.paths = t, .text = event};

    if (t->n < TRACE_PATH_NODES)
        learn_event(&l);
}
