/*
 * spool - standard input as a file that can be opened more than once.
 *
 * A capture is looked at before it is read, and some formats are read from several places at once;
 * a pipe gives its bytes only once. So they are copied to a file without a name, which takes the
 * place of standard input: from then on SPOOL_PATH opens it like any other.
 */
#ifndef STRATA_INPUT_SPOOL_H
#define STRATA_INPUT_SPOOL_H

#include "base/diag.h"

#define SPOOL_PATH "/dev/stdin"

/* A plain file at its start, as of `< FILE`, is left as it is. */
enum status spool_stdin(struct diag *d);

#endif
