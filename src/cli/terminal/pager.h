/*
 * pager - long output on a terminal goes through the user's pager.
 *
 * It is $STRATA_PAGER, else $PAGER, else `less` with FRX in $LESS unless that is set. An empty
 * one, `cat`, or one that is not installed means none.
 */
#ifndef STRATA_CLI_PAGER_H
#define STRATA_CLI_PAGER_H

#include <stdbool.h>

/* Whether there may be one: both ends are terminals, and TERM is not "dumb". */
bool pager_is_possible(void);

/* Starts it and gives the descriptor of its input; -1: there is none. */
int pager_start(void);

bool pager_is_running(void);

/* Closes its input and waits until the user leaves it; nothing when none runs. Interrupts are the
 * pager's from here on. Safe to call from a signal handler. */
void pager_finish(void);

#endif
