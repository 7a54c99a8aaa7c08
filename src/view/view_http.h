/*
 * view_http - HTTP on loopback for `strata view`, by libmicrohttpd, which is loaded when it is
 * needed.
 *
 * Each connection has a thread, so that a slow one holds up nobody. Requests that view_admit()
 * refuses are answered before anything of them is read; headers, bodies, waits, answers at a time
 * and the number of connections are limited. Every answer is made in a job of its own.
 */
#ifndef STRATA_VIEW_VIEW_HTTP_H
#define STRATA_VIEW_VIEW_HTTP_H

#include "base/diag.h"
#include "base/text/text.h"
#include "view/view_request.h"

struct view_http;

enum { VIEW_ANSWERS = 64 };                            /* at a time */
enum { VIEW_BODY = 64 << 10, VIEW_ANSWER = 32 << 20 }; /* bytes of a request, of an answer */

/* A request that was admitted. */
struct view_call {
    enum view_path path;
    struct str body;
    const void *from; /* for view_arg() */
};

struct view_answer {
    unsigned status; /* of HTTP; 0: 200 */
    const char *type;
    const char *file; /* name to save it under; NULL: to be shown */
    struct str fixed; /* that outlives the server; else `body` */
    struct text body;
};

typedef void view_handler(void *ctx, const struct view_call *call, struct view_answer *answer);

/* A parameter of the address, decoded; `n` counts those of one name. NULL: there is none. */
const char *view_arg(const struct view_call *call, const char *name, size_t n);

/* Listens on 127.0.0.1; port 0 is any free one. `guard` gets the port and outlives the server. */
enum status view_http_open(struct view_http **out, struct view_guard *guard, view_handler *handler,
                           void *ctx, struct diag *d);
void view_http_close(struct view_http *http);

/* Nanoseconds (base/run/now.h) since the last answer; 0 while one is being made. */
nanos view_http_idle(const struct view_http *http);

#endif
