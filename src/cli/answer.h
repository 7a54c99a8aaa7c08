/*
 * answer - what a command prints, into a file and in a form of the user's choice.
 *
 * The command runs as always; what it prints is kept, reports in that form, the rest as it is. The
 * file is written at the end, when all that the command read is known: none of it is replaced.
 */
#ifndef STRATA_CLI_ANSWER_H
#define STRATA_CLI_ANSWER_H

#include "cli/page_answer.h"
#include "cli/path_kind.h"
#include "cli/session.h"

enum answer_form {
    ANSWER_BY_NAME, /* of the file; on stdout text */
    ANSWER_TEXT,
    ANSWER_MARKDOWN,
    ANSWER_JSON,
    ANSWER_HTML,
};

extern const char *const answer_forms[]; /* for --to; ends with NULL */

#define ANSWER_OPTION(type, member)                                                                \
    OPT_CHOICE(0, "to", answer_forms, type, member,                                                \
               "form of the answer (default: by the ending of --out)")

/* Replaces ANSWER_BY_NAME by what -o and --json say; CODE_DONE or the code of the mistake. */
int answer_form(struct session *s, enum answer_form *form);

/* A part of a command that prints; gives an exit code. */
struct answer_part {
    int (*run)(struct session *s, const void *ctx);
    const void *ctx;
    bool is_text;        /* prints text of its own besides reports: in Markdown a block of code */
    enum page_kind kind; /* of a page */
    struct page_choice page;
};

/* Runs it and writes what it printed to -o, when it succeeded. */
int answer_write(struct session *s, enum answer_form form, struct answer_part part);

/* Runs a command whose answer goes into the page of --html. */
int answer_html(struct session *s, const struct command *c, const void *args);

/* Runs another command as if it had been typed with these options; the common ones are there. */
int answer_as(struct session *s, const char *const words[2], const struct words *given);

/* How two operands are compared; NULL after a usage error. */
const struct path_way *answer_pair(struct session *s);

/* The comparison of two operands, which is not one of captures, by a struct path_way. */
int answer_compare(struct session *s, const void *way);

#endif
