/*
 * status - how a call ended.
 *
 * The list is short on purpose: callers branch on it rarely, and the story of a failure is in the
 * diag (base/diag.h). The command line turns a status into an exit code.
 */
#ifndef STRATA_BASE_STATUS_H
#define STRATA_BASE_STATUS_H

enum status {
    ST_OK,
    ST_IO,          /* a file could not be opened, read or written */
    ST_FORMAT,      /* the bytes are not what they should be */
    ST_UNSUPPORTED, /* understood, but not something strata handles */
    ST_NOT_FOUND,
    ST_LIMIT,     /* a cap of base/limits.h was exceeded */
    ST_TOOL,      /* an external program is missing or failed */
    ST_CANCELLED, /* the user interrupted */
};

/* Passes a failure up when there is nothing to release. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum status try_status_ = (call);                                                          \
        if (try_status_ != ST_OK)                                                                  \
            return try_status_;                                                                    \
    } while (0)

#endif
