/*
 * frame - one run of the program, from the words on the command line to the exit code.
 */
#ifndef STRATA_CLI_FRAME_H
#define STRATA_CLI_FRAME_H

#include "base/diag.h"
#include "cli/terminal/out.h"

/* argv without the program's name. Writes to stdout and stderr. */
int frame_run(int argc, const char *const *argv);

struct session;

/* Begins a session that prints into `to`, in memory; frame_release() ends it. */
void frame_embed(struct session *s, struct text *to);

/* The same inside a session that the caller has begun, without a word about diagnostics: gives the
 * exit code. */
int frame_answer(struct session *s, int argc, const char *const *argv);
void frame_release(struct session *s);

/* Prints what a run met, the way compilers do; notes only when verbose. A failed run gets exactly
 * one error line, the first error met, and the hints under it. */
void frame_show_diag(struct out *err, const struct diag *d, bool verbose);

#endif
