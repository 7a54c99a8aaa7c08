/* The walk along known layouts, for any processor, for AVX-512 and for NEON. */
#include "input/trace/trace_paths.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/tables/neon.h"
#include "base/text/char.h"
#include "input/trace/trace_chunk.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    SLACK = 128, /* bytes of text that can be read at any place, so that few checks are needed */
    CREDIT = 512,
    MISS = 4, /* an unknown event costs some known ones */
    WRONG_GUESSES = 16,
};

static void forget_layouts(struct trace_paths *t)
{
    memset(t->nodes, 0, sizeof(t->nodes[0]));
    for (size_t i = 0; i < TRACE_PATH_GUESSES; i++)
        t->guesses[i] = &t->nodes[0];
    t->n = 1;
    t->last = 0;
    t->round = t->piece = 1;
}

/*
 * Four questions about the text at `p`, each answered for any processor and with vectors: does a
 * node's text stand here; does another text; how many bytes come before the first quote, backslash
 * or byte that is not printable; how many are digits and points. The last two answer 64 when all 64
 * bytes are.
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

    while (i < 64 && path_is_printable(p[i]) && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

static unsigned digits_plain(const char *p)
{
    unsigned i = 0;

    while (i < 64 && (char_is_digit(p[i]) || p[i] == '.'))
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

#if defined(__aarch64__)
/* 64 when there is none. */
ALWAYS_INLINE unsigned lowest_zero(uint64_t bits)
{
    return ~bits != 0 ? (unsigned)__builtin_ctzll(~bits) : 64;
}

/* The texts of nodes have room for 64 bytes; other texts are read no further than they go. */
ALWAYS_INLINE bool is_at_neon(const struct path_node *node, const char *p)
{
    uint8x16x4_t a = neon_load(p), b = neon_load(node->text);
    uint64_t same = neon_bits(vceqq_u8(a.val[0], b.val[0]), vceqq_u8(a.val[1], b.val[1]),
                              vceqq_u8(a.val[2], b.val[2]), vceqq_u8(a.val[3], b.val[3]));

    return lowest_zero(same) >= node->n;
}

ALWAYS_INLINE unsigned printable_neon(const char *p)
{
    uint8x16x4_t v = neon_load(p);

    return lowest_zero(neon_printable(v) & ~neon_equal(v, '"') & ~neon_equal(v, '\\'));
}

/* Four bits a byte, as numbers are mostly shorter than 16 bytes. */
ALWAYS_INLINE unsigned digits_neon(const char *p)
{
    uint8x16_t v = vld1q_u8((const uint8_t *)p);
    uint8x16_t digit = vcltq_u8(vsubq_u8(v, vdupq_n_u8('0')), vdupq_n_u8(10));
    uint8x16_t good = vorrq_u8(digit, vceqq_u8(v, vdupq_n_u8('.')));
    uint8x8_t packed = vshrn_n_u16(vreinterpretq_u16_u8(good), 4);
    unsigned n = lowest_zero(vget_lane_u64(vreinterpret_u64_u8(packed), 0)) / 4;

    return n < 16 ? n : digits_plain(p);
}
#endif

static void look_up(struct trace_chunk *c, struct path_node *node, const char *value)
{
    const struct trace_key *k =
        trace_chunk_key(c, (struct str){value - node->key_back, node->key_n});

    node->arg = k->arg;
    node->key = k->id;
    node->is_text = node->is_string && !trace_is_id(k->arg.action);
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
    e->args[i].value.has_escapes = false;
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
 * What comes next cannot be looked at before the end of a value is known, and finding it takes
 * longer than all else; but a value is mostly as long as the last one at its place. HOP goes that
 * far and checks it meanwhile: the processor goes on without waiting for the check. UNKNOWN keeps
 * the compiler from seeing that both ways lead to the same place.
 */
#define UNKNOWN(x) __asm__ volatile("" : "+r"(x))

#define HOP(to, count)                                                                             \
    do {                                                                                           \
        unsigned likely = node->length, check = likely;                                            \
        UNKNOWN(check);                                                                            \
        if (check == (count)) {                                                                    \
            UNKNOWN(likely);                                                                       \
            to += likely;                                                                          \
        } else {                                                                                   \
            node->length = (uint8_t)(count);                                                       \
            to += (count);                                                                         \
        }                                                                                          \
    } while (0)

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
        if (*to != '\\' || to + 1 == end || !path_is_printable(to[1]))                             \
            return NULL;                                                                           \
        to += 2;                                                                                   \
    }

#define NUMBER_END(to, DIGITS)                                                                     \
    do {                                                                                           \
        if (*to == '-') {                                                                          \
            UNKNOWN(to);                                                                           \
            to++;                                                                                  \
        }                                                                                          \
        if (end - to < SLACK || !char_is_digit(*to))                                               \
            return NULL;                                                                           \
        unsigned count = DIGITS(to);                                                               \
        if (count == 64)                                                                           \
            return NULL;                                                                           \
        HOP(to, count);                                                                            \
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

/* The place of the guess for the first text, by the events before; the others follow it. */
static inline uint32_t first_guess(const struct trace_paths *t)
{
    return t->last * UINT32_C(0x9e3779b1) >> 16;
}

#define WALK(IS_AT, IS_SAME, PRINTABLE, DIGITS)                                                    \
    struct trace_paths *t = c->paths;                                                              \
    struct path_node *node = &t->nodes[0];                                                         \
    bool skips_args = false; /* Python's own ids and nothing else */                               \
    uint32_t so_far = 0;                                                                           \
    uint32_t place = first_guess(t);                                                               \
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
            if (node->field == EVENT_CAT)                                                          \
                skips_args = trace_same(e->field[EVENT_CAT], PATH_PYTHON);                         \
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
            is_kept = is_kept && !trace_is_skipped(node->arg.action);                              \
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

#if defined(__aarch64__)
static const char *walk_neon(struct trace_chunk *c, const char *p, const char *end,
                             struct trace_event *e)
{
    WALK(is_at_neon, is_same_plain, printable_neon, digits_neon)
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
#elif defined(__aarch64__)
    if (mode == PATHS_BEST)
        t->walk = walk_neon;
#endif
    forget_layouts(t);
    trace_paths_forget(t);
}

void trace_paths_forget(struct trace_paths *t)
{
    t->round++;
    t->names = 0;
    memset(t->texts, 0, sizeof(t->texts));
}

void trace_paths_renew(struct trace_paths *t)
{
    if (t->n == TRACE_PATH_NODES || t->round == UINT32_MAX || t->piece == UINT32_MAX)
        forget_layouts(t);
    t->piece++;
    t->credit = t->mode != PATHS_OFF ? CREDIT : 0;
}

const char *trace_paths_read(struct trace_chunk *c, const char *at, const char *end,
                             struct trace_event *e)
{
    struct trace_paths *t = c->paths;
    const char *behind = t->walk(c, at, end, e);

    if (behind == NULL) { /* a guess that fits may lead astray, as texts begin like others */
        for (uint32_t i = 0; i < WRONG_GUESSES; i++)
            t->guesses[(first_guess(t) + i) % TRACE_PATH_GUESSES] = &t->nodes[0];
        trace_event_start(e, e->offset);
        behind = t->walk(c, at, end, e);
    }
    t->credit += behind != NULL ? t->credit < CREDIT : -MISS;
    return behind;
}
