/*
 * opt - options as a table, and the parser that reads them.
 *
 * A command describes its options in one constant table; parsing, help, man pages and shell
 * completion all read it. Values land in the command's own struct by offset, and the macros check
 * at compile time that the member has the type the option writes.
 *
 * Spelling: `--name value`, `--name=value`, `-n value`, `-nvalue`, bundled letters (`-qv`),
 * `--no-name` undoes `--name`, `--` ends the options, `-` alone is an operand. Abbreviated long
 * names are rejected: a new option must never change what an old command line means. The last of
 * several wins, lists collect; an open list (`--sizes 8 16 32`) also takes the words behind its
 * first, up to the next option.
 */
#ifndef STRATA_CLI_OPT_H
#define STRATA_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/tables/vec.h"

enum opt_kind {
    OPT_KIND_GROUP,  /* a heading in the help */
    OPT_KIND_FLAG,   /* bool */
    OPT_KIND_STRING, /* const char *; NULL when not given */
    OPT_KIND_LIST,   /* struct words, in the order given; the texts belong to the command line */
    OPT_KIND_INT,    /* int64_t or uint64_t within [min, max] */
    OPT_KIND_SIZE,   /* uint64_t; suffixes k M G are powers of 1000, Ki Mi Gi of 1024 */
    OPT_KIND_DOUBLE, /* double */
    OPT_KIND_CHOICE, /* int or an enum: index into `choices` */
};

struct opt {
    enum opt_kind kind;
    char letter;       /* 0: long name only */
    const char *name;  /* without dashes; the heading of a group */
    const char *alias; /* another name that works and is not shown; NULL: none */
    const char *value; /* what the help calls the value: FILE, PATH and DIR complete as such */
    size_t offset;     /* of the member in the struct that is filled */
    const char *help;  /* one line, lower case, no full stop */
    const char *const *choices; /* ends with NULL */
    int64_t min, max;           /* of an INT */
    bool is_open;               /* a LIST that takes all words up to the next option */
};

/* The member's offset; a compile error unless its type is `ctype`; a whole number; as
 * wide as an int, which enums are. Members of structs inside are fine: job.input.rank. */
#define OPT_AT(type, member, ctype)                                                                \
    (offsetof(type, member) + 0 * sizeof((ctype *)0 == &((type *)0)->member))
#define OPT_AT_INT(type, member)                                                                   \
    (offsetof(type, member) + 0 * _Generic(((type *)0)->member, int64_t : 1, uint64_t : 1))
#define OPT_AT_ENUM(type, member)                                                                  \
    (offsetof(type, member) + 0 / (sizeof(((type *)0)->member) == sizeof(int)))

#define OPT_GROUP(title)                                                                           \
    {                                                                                              \
        .kind = OPT_KIND_GROUP, .name = (title)                                                    \
    }
#define OPT_FLAG(l, n, type, member, text)                                                         \
    {                                                                                              \
        .kind = OPT_KIND_FLAG, .letter = (l), .name = (n), .offset = OPT_AT(type, member, bool),   \
        .help = (text)                                                                             \
    }
#define OPT_STRING(l, n, v, type, member, text, ...)                                               \
    {                                                                                              \
        .kind = OPT_KIND_STRING, .letter = (l), .name = (n), .value = (v),                         \
        .offset = OPT_AT(type, member, const char *), .help = (text), ##__VA_ARGS__                \
    }
#define OPT_LIST(l, n, v, type, member, text)                                                      \
    {                                                                                              \
        .kind = OPT_KIND_LIST, .letter = (l), .name = (n), .value = (v),                           \
        .offset = OPT_AT(type, member, struct words), .help = (text)                               \
    }
#define OPT_WORDS(l, n, v, type, member, text)                                                     \
    {                                                                                              \
        .kind = OPT_KIND_LIST, .letter = (l), .name = (n), .value = (v), .is_open = true,          \
        .offset = OPT_AT(type, member, struct words), .help = (text)                               \
    }
#define OPT_INT(l, n, v, type, member, lowest, highest, text, ...)                                 \
    {                                                                                              \
        .kind = OPT_KIND_INT, .letter = (l), .name = (n), .value = (v),                            \
        .offset = OPT_AT_INT(type, member), .help = (text), .min = (lowest), .max = (highest),     \
        __VA_ARGS__                                                                                \
    }
#define OPT_SIZE(l, n, v, type, member, text)                                                      \
    {                                                                                              \
        .kind = OPT_KIND_SIZE, .letter = (l), .name = (n), .value = (v),                           \
        .offset = OPT_AT(type, member, uint64_t), .help = (text)                                   \
    }
#define OPT_DOUBLE(l, n, v, type, member, ...)                                                     \
    {                                                                                              \
        .kind = OPT_KIND_DOUBLE, .letter = (l), .name = (n), .value = (v),                         \
        .offset = OPT_AT(type, member, double), .help = __VA_ARGS__                                \
    }
#define OPT_CHOICE(l, n, list, type, member, text)                                                 \
    {                                                                                              \
        .kind = OPT_KIND_CHOICE, .letter = (l), .name = (n), .choices = (list),                    \
        .offset = OPT_AT_ENUM(type, member), .help = (text)                                        \
    }
/* A table and the struct it fills. */
struct opt_set {
    const struct opt *table;
    size_t n;
    void *base;
};

/* True for the kinds a user types, so not for headings. */
bool opt_is_option(const struct opt *o);
bool opt_takes_value(const struct opt *o);

/* "PATH", or "a|b|c" for a choice, in `buf`; "" for a flag. */
const char *opt_value_text(const struct opt *o, char *buf, size_t size);

/*
 * Reads `argc` words into the sets; operands go to `rest` in order. False after the first mistake,
 * which is then in `d` with a hint. The bases hold the defaults on entry. Texts are not copied.
 */
bool opt_parse(const struct opt_set *sets, size_t set_count, int argc, const char *const *argv,
               struct words *rest, struct diag *d);

/* Releases the lists of a parsed struct. */
void opt_release(struct opt_set set);

/* Offers the entry of `names` nearest to `word`; NULL when none is near. */
const char *opt_nearest(const char *word, const char *const *names, size_t count);

#endif
