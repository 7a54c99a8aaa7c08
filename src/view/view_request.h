/*
 * view_request - what a request to `strata view` must bring before it is answered, and the numbers
 * in its address.
 *
 * Nothing but the reader's own browser may ask: the server listens on loopback, and any page in any
 * browser of this machine, or any other user, can reach it there. So a request names this host and
 * port (a rebound DNS name does not), comes from this page or from none, and carries the token.
 */
#ifndef STRATA_VIEW_VIEW_REQUEST_H
#define STRATA_VIEW_VIEW_REQUEST_H

#include "base/str.h"
#include "base/text/num.h"

enum view_path {
    VIEW_SHELL,
    VIEW_STATE,
    VIEW_PAGE,
    VIEW_TILES,
    VIEW_SLICE,
    VIEW_RANGE,
    VIEW_SEARCH,
    VIEW_TABLES,
    VIEW_SQL,
    VIEW_WHATIF,
    VIEW_CUT,
};

enum { VIEW_PATHS = VIEW_CUT + 1, VIEW_TOKEN = 32, VIEW_ROWS = 64 };

struct view_guard {
    char token[VIEW_TOKEN + 1];
    unsigned port;
};

/* Members may be NULL: the request does not have it. */
struct view_headers {
    const char *method, *path, *host, *origin, *site, *authorization;
};

/* A token that cannot be guessed; false when the system has no random numbers. */
bool view_guard_init(struct view_guard *guard);

/* 200 and what is asked for; else the HTTP status of the refusal. */
unsigned view_admit(const struct view_guard *guard, const struct view_headers *headers,
                    enum view_path *path);

/* "3,4,9-20": ascending or not, at most VIEW_ROWS numbers below `limit`; false for all else. */
struct view_list {
    uint32_t at[VIEW_ROWS];
    size_t n;
};
bool view_list_parse(struct str text, size_t limit, struct view_list *out);

/* Decimal digits alone, up to `most`; false when there are none (NULL too). */
bool view_number(const char *text, int64_t most, int64_t *out);

#endif
