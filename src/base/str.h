/*
 * str - string views: a pointer and a length.
 *
 * A view owns nothing, may contain any byte including NUL, and is never assumed to end in one.
 * It lives as long as the memory it points into (a mapped file, an arena, a literal).
 */
#ifndef STRATA_BASE_STR_H
#define STRATA_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Defines the function that names the values of an enum from 0 on, and the same for single bits. */
#define ENUM_NAMES(function, type, ...)                                                            \
    const char *function(type value)                                                               \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
                                                                                                   \
        return names[value];                                                                       \
    }
#define BIT_NAMES(function, type, ...)                                                             \
    const char *function(type value)                                                               \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
                                                                                                   \
        return names[__builtin_ctz(value)];                                                        \
    }

struct str {
    const char *at;
    size_t n;
};

/* A view of a string literal; S_INIT is the form for static initialisers. */
#define S_INIT(literal)                                                                            \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
#define S(literal) ((struct str)S_INIT(literal))

/* For printf: `"%.*s", STR_ARGS(s)`. Precision is an int, so longer text is cut at INT_MAX. */
#define STR_ARGS(s) (int)((s).n < 0x7fffffff ? (s).n : 0x7fffffff), ((s).n > 0 ? (s).at : "")

static inline struct str str_of(const char *text)
{
    return (struct str){text, text != NULL ? strlen(text) : 0};
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.at, prefix.at, prefix.n) == 0);
}

/* Takes `prefix` off the front of the text; false when it does not begin with it. */
static inline bool str_skip(struct str *s, struct str prefix)
{
    if (!str_starts(*s, prefix))
        return false;
    *s = (struct str){s->at + prefix.n, s->n - prefix.n};
    return true;
}

static inline bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.at + s.n - suffix.n, suffix.at, suffix.n) == 0);
}

/* The part of `s` from `from` on, at most `n` bytes; positions past the end give an empty view. */
static inline struct str str_part(struct str s, size_t from, size_t n)
{
    if (from > s.n)
        from = s.n;
    if (n > s.n - from)
        n = s.n - from;
    return (struct str){s.n > 0 ? s.at + from : s.at, n};
}

/*
 * The order of two numbers, as qsort() asks for it. Keys that decide only among equals follow
 * behind `?:`, the value in front of it unless that is 0:
 *
 *     return ORDER(x->lane, y->lane) ?: ORDER(y->dur, x->dur) ?: str_compare(x->name, y->name);
 */
#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

/* Defines an order for qsort() over two elements `x` and `y`:
 *     ORDER_BY(by_begin, struct pending, ORDER(x->begin, y->begin) ?: ORDER(x->order, y->order));
 */
#define ORDER_BY(name, type, order_of_x_and_y)                                                     \
    static int name(const void *order_x_, const void *order_y_)                                    \
    {                                                                                              \
        const type *x = order_x_, *y = order_y_;                                                   \
        return order_of_x_and_y;                                                                   \
    }                                                                                              \
    static int name(const void *order_x_, const void *order_y_)

/* Byte order, shorter first on a tie: the order of every sorted output. */
int str_compare(struct str a, struct str b);
int str_order(const void *a, const void *b); /* the same for qsort() */

/* The comparisons below fold ASCII letters only. */
bool str_equal_nocase(struct str a, struct str b);
bool str_starts_nocase(struct str s, struct str prefix);
bool str_contains_nocase(struct str s, struct str needle);

/* Position of the first `needle`, or `s.n` when there is none. */
size_t str_find(struct str s, struct str needle);
size_t str_find_char(struct str s, char c);

static inline bool str_contains(struct str s, struct str needle)
{
    return str_find(s, needle) < s.n;
}

bool str_is_one_of(struct str s, const struct str *list, size_t n);

/* Whether `is` holds for `s` and one of the list: STR_ANY(str_starts, name, prefixes). */
bool str_any(bool (*is)(struct str, struct str), struct str s, const struct str *list, size_t n);
#define STR_ANY(is, s, list) str_any((is), (s), (list), ARRAY_LEN(list))

/* A name in C: letters, digits and underscores, no digit first. */
bool str_is_name(struct str s);

/* How many digits it begins with; and ends with. */
size_t str_digits(struct str s);
size_t str_last_digits(struct str s);

/* Characters of UTF-8 text, whatever their width. */
size_t str_chars(struct str s);

/* The columns UTF-8 text takes in a terminal: two for each Chinese, Japanese or Korean character
 * and for full-width forms, one for any other. */
size_t str_width(struct str s);

/* The longest beginning of whole characters that takes at most `width` columns. */
struct str str_fit(struct str s, size_t width);

/* Without blanks, tabs, CR and LF at both ends. */
struct str str_trim(struct str s);

/* Takes the text before the next `sep` off the front of `rest`; false when `rest` was used up.
 * "a,,b" yields a, "", b. Start with a non-NULL `rest->at`. */
bool str_split(struct str *rest, char sep, struct str *out);

/* The last component of a path: "a/b.csv" gives "b.csv". */
struct str str_basename(struct str path);

/* Number of single-letter changes (insert, drop, replace, swap) from a to b, at most
 * `most` + 1; for suggesting the name a user meant. */
size_t str_distance(struct str a, struct str b, size_t most);

#endif
