/*
 * stop - ends a run that a signal or a time limit asks to stop.
 *
 * SIGINT, SIGTERM and SIGHUP set the flag of base/run/cancel.h, which long loops poll. A run that
 * does not end by itself is ended here, in the handler of a timer: outputs that are not complete
 * are temporary files, which are removed, and memory, locks and SQLite's files go with the process.
 * A second signal ends it at once.
 */
#ifndef STRATA_CLI_STOP_H
#define STRATA_CLI_STOP_H

/* Once, before anything else. */
void stop_begin(void);

/* Ends the program with `code` and the line `text` on stderr once `seconds` have passed, for work
 * that may not notice its own time limit. `text` must live until stop_clear(). */
void stop_after(double seconds, const char *text, int code);
void stop_clear(void);

/* The run says by itself why it ends; it may still be ended, but without a word. */
void stop_said(void);

#endif
