/*
 * command - one subcommand as constant data.
 *
 * From a struct command come the parser, `--help`, the man page, shell completion and the test
 * that runs every example. A command is one file cmd_<name>.c, its entry, and one line in
 * commands.def; one with subcommands (`strata incore run`) lists their entries in `subs`
 * (cli/verbs.h).
 */
#ifndef STRATA_CLI_COMMAND_H
#define STRATA_CLI_COMMAND_H

#include "cli/opt.h"

struct schema;
struct session;

/* The jobs by which `strata help` groups commands, in its order. */
enum command_group {
    GROUP_LOOK,
    GROUP_EXPLAIN,
    GROUP_COMPARE,
    GROUP_RECORD,
    GROUP_KERNELS,
    GROUP_DATABASE,
    GROUP_TOOLS,
};

/* Common options a command takes besides those that all take (-h -q -v --json --color). */
enum {
    COMMON_OUT = 1,                               /* -o --out PATH */
    COMMON_JOBS = 2,                              /* -j --jobs N */
    COMMON_FORMAT = 4,                            /* --from NAME */
    COMMON_DRY_RUN = 8,                           /* --dry-run */
    COMMON_LANG = 16,                             /* --lang NAME */
    COMMON_CSV = 32,                              /* --csv-safe */
    COMMON_HTML = 64,                             /* --html FILE */
    COMMON_CAPTURE = COMMON_FORMAT | COMMON_JOBS, /* of commands that read captures */
};

enum operand_kind {
    OPERAND_WORD, /* free text */
    OPERAND_FILE,
    OPERAND_DIR,
    OPERAND_CHOICE,  /* one of `choices` */
    OPERAND_COMMAND, /* a command of strata */
};

/* What follows the options; all zero means that nothing may. */
struct operands {
    enum operand_kind kind;
    size_t min, max;
    const char *const *choices; /* ends with NULL; with OPERAND_FILE: names for the first operand */
};

/* Read from the repository's root; `line` starts with "strata". */
struct example {
    const char *line, *shows;
};

enum { COMMAND_SCHEMAS = 16 };

struct command {
    const char *name;
    enum command_group group;
    const char *summary; /* one line, lower case, no full stop */
    const char *usage;   /* what follows the name: "[OPTIONS] DIR" */
    const char *details; /* the man page's text; a blank line parts paragraphs */
    const char *see;     /* where to read more, after the man page; may be NULL */
    const struct opt *options;
    size_t n_options;
    size_t args_size;     /* of the command's own struct args; 0: none */
    const void *defaults; /* a struct args; NULL: all zero */
    struct operands operands;
    unsigned common; /* mask of COMMON_* */
    const struct example *examples;
    size_t n_examples;
    const struct command *const *subs; /* ends with NULL; then options and run are unused */
    const struct schema *schemas[COMMAND_SCHEMAS];   /* of its `--json` documents */
    int (*run)(struct session *s, const void *args); /* gives an exit code, see cli/session.h */
};

/* What the file of a command calls options, struct args, defaults and examples; without
 * defaults all arguments begin as zero; without options. */
#define COMMAND_PARTS COMMAND_PARTS_ZERO, .defaults = &defaults
#define COMMAND_PARTS_ZERO                                                                         \
    .options = options, .n_options = ARRAY_LEN(options), .args_size = sizeof(struct args),         \
    COMMAND_PARTS_BARE
#define COMMAND_PARTS_BARE .examples = examples, .n_examples = ARRAY_LEN(examples)

#define COMMAND(sym) extern const struct command command_##sym;
#include "cli/commands.def"
#undef COMMAND

/* Every command, by name. */
extern const struct command *const command_list[];
extern const size_t command_count;

const char *command_group_name(enum command_group group);

/* A command and, for a subcommand, the one it belongs to. */
struct command_path {
    const struct command *parent; /* NULL on the first level */
    const struct command *command;
};

/* Follows the leading words down the tree: as many as name a command, `*used` of them. The path is
 * empty when the first word names none. */
struct command_path command_find(int argc, const char *const *argv, int *used);

/* "devices" or "incore run", as typed after `strata`. */
const char *command_full_name(struct command_path path, char *buf, size_t size);

/* The names of `subs`, or of all commands for NULL, nearest to `word`; NULL when none is near. */
const char *command_nearest(const struct command *const *subs, const char *word);

/* The options all commands share, without those that `mask` leaves out; they fill a
 * struct common (cli/session.h). `out` has room for COMMON_OPTIONS entries; gives how many. */
enum { COMMON_OPTIONS = 16 };
size_t command_common_options(unsigned mask, struct opt *out);

/* A command's own options without headings, then the common ones; gives how many. `out` has room
 * for COMMAND_OPTIONS. */
enum { COMMAND_OPTIONS = 96 };
size_t command_options(const struct command *c, struct opt *out);

#endif
