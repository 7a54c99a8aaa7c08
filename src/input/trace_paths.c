#include "input/trace_paths.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "input/trace_chunk.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What stands behind a text. */
enum path_value {
    PATH_NONE, /* the text goes on in a child */
    PATH_END,
    PATH_TS,
    PATH_DUR,
    PATH_NAME,
    PATH_STRING, /* of a field */
    PATH_NUMBER,
    PATH_ARG_STRING,
    PATH_ARG_NUMBER,
};

enum {
    SLACK = 128, /* bytes of text that can be read at any place, so that few checks are needed */
    CREDIT = 512,
    FEW = 32, /* texts at one place that may differ by their constants */
    MISS = 4, /* an unknown event costs some known ones */
};

static const struct str python = S_INIT("python_function");

static void forget(struct trace_paths *t)
{
    memset(t->nodes, 0, sizeof(t->nodes[0]));
    for (size_t i = 0; i < TRACE_PATH_GUESSES; i++)
        t->guesses[i] = &t->nodes[0];
    t->n = 1;
    t->last = 0;
    t->round = 0;
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

/*
 * Four questions about the text at `p`, each answered for any processor and for one with AVX-512:
 * does a node's text stand here; does another text; how many bytes come before the first quote,
 * backslash or byte that is not printable; how many are digits and points. The last two answer 64
 * when all 64 bytes are.
 */
static bool is_at_plain(const struct path_node *node, const char *p)
{
    return memcmp(p, node->text, node->n) == 0;
}

static bool is_same_plain(const char *p, struct str text)
{
    return memcmp(p, text.at, text.n) == 0;
}

static unsigned printable_plain(const char *p)
{
    unsigned i = 0;

    while (i < 64 && is_printable(p[i]) && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

static unsigned digits_plain(const char *p)
{
    unsigned i = 0;

    while (i < 64 && (is_digit(p[i]) || p[i] == '.'))
        i++;
    return i;
}

#if defined(__x86_64__)
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,bmi,bmi2")))

AVX512 ALWAYS_INLINE bool is_at_avx512(const struct path_node *node, const char *p)
{
    __mmask64 live = _bzhi_u64(~(uint64_t)0, node->n);

    return _mm512_mask_cmpneq_epi8_mask(live, _mm512_loadu_si512(p),
                                        _mm512_loadu_si512(node->text)) == 0;
}

AVX512 ALWAYS_INLINE bool is_same_avx512(const char *p, struct str text)
{
    for (; text.n > 64; p += 64, text.at += 64, text.n -= 64)
        if (_mm512_cmpneq_epi8_mask(_mm512_loadu_si512(p), _mm512_loadu_si512(text.at)) != 0)
            return false;
    __mmask64 live = _bzhi_u64(~(uint64_t)0, (uint32_t)text.n);
    return _mm512_mask_cmpneq_epi8_mask(live, _mm512_loadu_si512(p),
                                        _mm512_maskz_loadu_epi8(live, text.at)) == 0;
}

AVX512 ALWAYS_INLINE unsigned printable_avx512(const char *p)
{
    __m512i v = _mm512_loadu_si512(p);
    /* Below the blank and from 0x80 on: not between 0x20 and 0x7f. */
    __mmask64 odd =
        _mm512_cmpge_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8(0x20)), _mm512_set1_epi8(0x60));
    __mmask64 quote = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"'));
    __mmask64 slash = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\'));

    return (unsigned)_tzcnt_u64(odd | quote | slash);
}

AVX512 ALWAYS_INLINE unsigned digits_avx512(const char *p)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __mmask32 other =
        _mm256_cmpgt_epu8_mask(_mm256_sub_epi8(v, _mm256_set1_epi8('0')), _mm256_set1_epi8(9));
    __mmask32 n = _mm256_mask_cmpneq_epi8_mask(other, v, _mm256_set1_epi8('.'));

    return n != 0 ? (unsigned)_tzcnt_u32(n) : digits_plain(p);
}
#endif

static void look_up(struct trace_chunk *c, struct path_node *node, const char *value)
{
    const struct trace_key *k =
        trace_chunk_key(c, (struct str){value - node->key_back, node->key_n});

    node->arg = k->arg;
    node->key = k->id;
    node->is_text = node->is_string && k->arg.action != ARG_LINK && k->arg.action != ARG_TASK;
    node->form = (uint8_t)trace_form(k->arg, false);
    node->round = c->paths->round;
}

ALWAYS_INLINE void add_arg(const struct path_node *node, struct trace_event *e, const char *from,
                           const char *to, struct trace_guess guess)
{
    uint32_t i = e->n_args++;
    e->args[i].key = node->key;
    e->args[i].arg = node->arg;
    e->args[i].value.text.at = from;
    e->args[i].value.text.n = (size_t)(to - from);
    e->args[i].value.token = node->is_string ? JSON_STRING : JSON_NUMBER;
    e->args[i].value.is_json = false;
    e->args[i].guess = guess;
}

ALWAYS_INLINE void set_constants(struct trace_event *e, const struct path_node *node, const char *p)
{
    for (uint32_t k = 0; k < node->n_constants; k++) {
        struct str *field = &e->field[node->constants[k].field];
        field->at = p - node->constants[k].back;
        field->n = node->constants[k].n;
    }
}

ALWAYS_INLINE void set_field(struct trace_event *e, const struct path_node *node, const char *from,
                             const char *to)
{
    e->field[node->field].at = from;
    e->field[node->field].n = (size_t)(to - from);
}

/*
 * The walk, written once; a macro, as each is compiled for its own processor.
 *
 * STRING_END: from `p` to the closing quote of a string; fails when it is not all printable, or
 * comes near the end of the text. NUMBER_END: to the end of a number; what follows it tells whether
 * it was all of it. VALUE_END chooses.
 */
#define STRING_END(to, PRINTABLE)                                                                  \
    for (;;) {                                                                                     \
        if (end - to < SLACK)                                                                      \
            return NULL;                                                                           \
        unsigned count = PRINTABLE(to);                                                            \
        to += count;                                                                               \
        if (count == 64)                                                                           \
            continue;                                                                              \
        if (*to == '"')                                                                            \
            break;                                                                                 \
        if (*to != '\\' || to + 1 == end || !is_printable(to[1]))                                  \
            return NULL;                                                                           \
        to += 2;                                                                                   \
    }

#define NUMBER_END(to, DIGITS)                                                                     \
    do {                                                                                           \
        to += *to == '-';                                                                          \
        if (end - to < SLACK || !is_digit(*to))                                                    \
            return NULL;                                                                           \
        unsigned count = DIGITS(to);                                                               \
        to += count;                                                                               \
        if (count == 64)                                                                           \
            return NULL;                                                                           \
    } while (0)

#define VALUE_END(to, PRINTABLE, DIGITS)                                                           \
    if (node->is_string)                                                                           \
        STRING_END(to, PRINTABLE)                                                                  \
    else                                                                                           \
        NUMBER_END(to, DIGITS)

/* A time, at its quickest if it is written like most. */
#define TAKE_TIME(time, has_time, PRINTABLE, DIGITS)                                               \
    do {                                                                                           \
        to = num_us_at(p, &(time));                                                                \
        (has_time) = to != NULL;                                                                   \
        if (to == NULL) {                                                                          \
            to = p;                                                                                \
            VALUE_END(to, PRINTABLE, DIGITS);                                                      \
            set_field(e, node, p, to);                                                             \
        }                                                                                          \
    } while (0)

/* A string that may be the one that was met after the same texts before: `so_far` is a number for
 * these. The guess is right when it stands here with a quote behind it. */
#define TAKE_TEXT(guess, so_far, text_form, IS_SAME, PRINTABLE)                                    \
    do {                                                                                           \
        uint32_t mix = ((so_far) ^ (uint32_t)(node - t->nodes)) * UINT32_C(0x9e3779b1);            \
        (guess).for_next = &t->texts[(mix >> 12) % TRACE_TEXT_GUESSES];                            \
        (guess).id = *(guess).for_next;                                                            \
        const struct trace_string *likely = &c->strings.at.at[(guess).id];                         \
        if ((guess).id != 0 && (size_t)(end - p) >= likely->raw.n + SLACK &&                       \
            p[likely->raw.n] == '"' && likely->form == (text_form) && IS_SAME(p, likely->raw)) {   \
            to = p + likely->raw.n;                                                                \
        } else {                                                                                   \
            (guess).id = 0;                                                                        \
            STRING_END(to, PRINTABLE)                                                              \
        }                                                                                          \
    } while (0)

#define WALK(IS_AT, IS_SAME, PRINTABLE, DIGITS)                                                    \
    struct trace_paths *t = c->paths;                                                              \
    struct path_node *node = &t->nodes[0];                                                         \
    bool skips_args = false; /* Python's own ids and nothing else */                               \
    uint32_t so_far = 0;                                                                           \
    uint32_t place = t->last * UINT32_C(0x9e3779b1) >> 16;                                         \
                                                                                                   \
    for (;;) {                                                                                     \
        if (end - p < SLACK)                                                                       \
            return NULL;                                                                           \
        /* What came here after the same events is tried first. */                                 \
        struct path_node **guess = &t->guesses[place++ % TRACE_PATH_GUESSES];                      \
        struct path_node *next = *guess;                                                           \
        if (next->parent != node || !IS_AT(next, p)) {                                             \
            next = node->child;                                                                    \
            while (next != NULL && !IS_AT(next, p))                                                \
                next = next->next;                                                                 \
            if (next == NULL)                                                                      \
                return NULL;                                                                       \
            *guess = next;                                                                         \
        }                                                                                          \
        node = next;                                                                               \
        p += node->n;                                                                              \
        set_constants(e, node, p);                                                                 \
        const char *to = p;                                                                        \
        switch ((enum path_value)node->value) {                                                    \
        case PATH_NONE:                                                                            \
            break;                                                                                 \
        case PATH_END:                                                                             \
            t->last = t->last << 16 | (uint32_t)(node - t->nodes);                                 \
            e->ph = node->ph;                                                                      \
            e->path = node;                                                                        \
            return p;                                                                              \
        case PATH_TS:                                                                              \
            TAKE_TIME(e->ts, e->has_ts, PRINTABLE, DIGITS);                                        \
            break;                                                                                 \
        case PATH_DUR:                                                                             \
            TAKE_TIME(e->dur, e->has_dur, PRINTABLE, DIGITS);                                      \
            break;                                                                                 \
        case PATH_NAME:                                                                            \
            TAKE_TEXT(e->name, t->names, FORM_TEXT, IS_SAME, PRINTABLE);                           \
            so_far = e->name.id;                                                                   \
            set_field(e, node, p, to);                                                             \
            break;                                                                                 \
        case PATH_STRING:                                                                          \
            STRING_END(to, PRINTABLE)                                                              \
            set_field(e, node, p, to);                                                             \
            if (node->field == FIELD_CAT)                                                          \
                skips_args = trace_same(e->field[FIELD_CAT], python);                              \
            break;                                                                                 \
        case PATH_NUMBER:                                                                          \
            NUMBER_END(to, DIGITS);                                                                \
            set_field(e, node, p, to);                                                             \
            break;                                                                                 \
        case PATH_ARG_STRING:                                                                      \
        case PATH_ARG_NUMBER: {                                                                    \
            struct trace_guess text = {0, NULL};                                                   \
            bool is_kept = !skips_args && !node->is_python;                                        \
            if (is_kept && node->round != t->round)                                                \
                look_up(c, node, p - node->is_string);                                             \
            is_kept = is_kept && node->arg.action != ARG_SKIP;                                     \
            if (is_kept && node->is_text) {                                                        \
                TAKE_TEXT(text, so_far, node->form, IS_SAME, PRINTABLE);                           \
                so_far = so_far * 31 + text.id;                                                    \
            } else                                                                                 \
                VALUE_END(to, PRINTABLE, DIGITS);                                                  \
            if (is_kept)                                                                           \
                add_arg(node, e, p, to, text);                                                     \
            break;                                                                                 \
        }                                                                                          \
        }                                                                                          \
        p = to;                                                                                    \
    }

static const char *walk_plain(struct trace_chunk *c, const char *p, const char *end,
                              struct trace_event *e){
    WALK(is_at_plain, is_same_plain, printable_plain, digits_plain)}

#if defined(__x86_64__)
AVX512 static const
    char *walk_avx512(struct trace_chunk *c, const char *p, const char *end, struct trace_event *e)
{
    WALK(is_at_avx512, is_same_avx512, printable_avx512, digits_avx512)
}
#endif

void trace_paths_init(struct trace_paths *t, enum trace_paths_mode mode)
{
    t->mode = mode;
    t->walk = walk_plain;
#if defined(__x86_64__)
    if (mode == PATHS_BEST && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        t->walk = walk_avx512;
#endif
    forget(t);
}

void trace_paths_renew(struct trace_paths *t)
{
    if (t->n == TRACE_PATH_NODES || t->round == UINT32_MAX)
        forget(t);
    t->round++;
    t->credit = t->mode != PATHS_OFF ? CREDIT : 0;
    t->names = 0;
    memset(t->texts, 0, sizeof(t->texts));
}

const char *trace_paths_read(struct trace_chunk *c, const char *at, const char *end,
                             struct trace_event *e)
{
    struct trace_paths *t = c->paths;
    const char *behind = t->walk(c, at, end, e);

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
    struct path_node *node; /* the one reached */
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

/* The child of the node reached that is `node`, or NULL. */
static struct path_node *find_child(const struct lesson *l, const struct path_node *node)
{
    struct path_node *child = l->node->child;

    while (child != NULL && !is_same(child, node))
        child = child->next;
    return child;
}

/* The same; a new one if there is room. Longer texts stand first, so that none hides behind its own
 * beginning. */
static struct path_node *put_child(struct lesson *l, const struct path_node *node)
{
    struct trace_paths *t = l->paths;
    struct path_node **link = &l->node->child, *child = find_child(l, node);

    if (child != NULL || t->n == TRACE_PATH_NODES)
        return child;
    while (*link != NULL && (*link)->n > node->n)
        link = &(*link)->next;
    child = &t->nodes[t->n++];
    *child = *node;
    child->parent = l->node;
    child->next = *link;
    *link = child;
    return child;
}

/* Are there few enough texts behind the node reached for one more? */
static bool has_few_children(const struct lesson *l)
{
    uint32_t n = 0;

    for (const struct path_node *child = l->node->child; child != NULL; child = child->next)
        n++;
    return n < FEW;
}

/* Makes the text up to `to`, or as much as fits, that of the node. */
static size_t set_text(const struct lesson *l, struct path_node *node, size_t to)
{
    size_t n = to - l->from < TRACE_PATH_TEXT ? to - l->from : TRACE_PATH_TEXT;

    node->n = (uint8_t)n;
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
        l->node = put_child(l, &part);
    } while (l->node != NULL && l->from < to);
    return l->node != NULL;
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
    else if (field == FIELD_NAME && is_string)
        kind = PATH_NAME;
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
    if (find_child(l, &node) == NULL && !has_few_children(l))
        return false;
    l->node = put_child(l, &node);
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
        return l->node != NULL;
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
    struct lesson l = {.paths = t, .node = &t->nodes[0], .text = event};

    if (t->n < TRACE_PATH_NODES)
        learn_event(&l);
}
