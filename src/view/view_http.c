/*
 * libmicrohttpd behind view_http.h.
 */
#include "view/view_http.h"

#ifdef STRATA_HAS_MICROHTTPD

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/run/job.h"
#include "base/run/now.h"

enum {
    TIMEOUT = 10, /* seconds without progress */
    HEADERS = 16 << 10,
    STACK = 1 << 20,
    BACKLOG = 1024,
    CONNECTIONS = 2000, /* most of them idle; each costs a few pages */
};

/* The functions of the library. */
#define FUNCTIONS(USE)                                                                             \
    USE(start_daemon)                                                                              \
    USE(stop_daemon)                                                                               \
    USE(get_daemon_info)                                                                           \
    USE(create_response_from_buffer)                                                               \
    USE(add_response_header)                                                                       \
    USE(queue_response)                                                                            \
    USE(destroy_response)                                                                          \
    USE(lookup_connection_value)                                                                   \
    USE(get_connection_values)

struct library {
    void *handle;
#define MEMBER(name) __typeof__(&MHD_##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

struct view_http {
    struct library mhd;
    struct MHD_Daemon *daemon;
    struct view_guard *guard;
    view_handler *handler;
    void *ctx;
    _Atomic nanos last;
    _Atomic int answers; /* being made */
};

/* A request on its way; not of a job, as it lives over several calls of the library. */
struct pending {
    enum view_path path;
    size_t n;
    char body[];
};

struct connection {
    const struct view_http *http;
    struct MHD_Connection *mhd;
};

static bool http_load(struct library *lib)
{
    bool has_all = true;

    lib->handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    if (lib->handle == NULL)
        return false;
#define LOAD(name)                                                                                 \
    *(void **)&lib->name = dlsym(lib->handle, "MHD_" #name);                                       \
    has_all &= lib->name != NULL;
    FUNCTIONS(LOAD)
#undef LOAD
    return has_all;
}

/* ---- arguments ---- */

struct search {
    const char *name, *found;
    size_t left;
};

static enum MHD_Result match(void *ctx, enum MHD_ValueKind kind, const char *name,
                             const char *value)
{
    struct search *s = ctx;

    (void)kind;
    if (strcmp(name, s->name) != 0 || s->left-- > 0)
        return MHD_YES;
    s->found = value;
    return MHD_NO;
}

const char *view_arg(const struct view_call *call, const char *name, size_t n)
{
    const struct connection *c = call->from;
    struct search s = {name, NULL, n};

    c->http->mhd.get_connection_values(c->mhd, MHD_GET_ARGUMENT_KIND, match, &s);
    return s.found;
}

/* ---- answers ---- */

static void add_headers(const struct view_http *http, struct MHD_Response *r, const char *type,
                        bool is_refusal)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"X-Frame-Options", "DENY"},
    };

    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        http->mhd.add_response_header(r, headers[i][0], headers[i][1]);
    http->mhd.add_response_header(r, "Content-Type", type);
    if (is_refusal)
        http->mhd.add_response_header(r, "Connection", "close");
}

static enum MHD_Result send_answer(const struct view_http *http, struct MHD_Connection *connection,
                                   const struct view_answer *a)
{
    enum { OK = 200, UNAVAILABLE = 503 };
    bool is_fixed = a->fixed.n > 0;
    struct str body = is_fixed ? a->fixed : text_view(&a->body);
    unsigned status = a->status != 0 ? a->status : OK;

    struct MHD_Response *r = http->mhd.create_response_from_buffer(
        body.n, (void *)(uintptr_t)(body.n > 0 ? body.at : ""),
        is_fixed ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
    if (r == NULL)
        return MHD_NO;
    add_headers(http, r, a->type != NULL ? a->type : "text/plain; charset=utf-8", status > OK);
    if (status == UNAVAILABLE)
        http->mhd.add_response_header(r, "Retry-After", "1");
    if (a->file != NULL)
        http->mhd.add_response_header(r, "Content-Disposition", a->file);
    enum MHD_Result result = http->mhd.queue_response(connection, status, r);
    http->mhd.destroy_response(r);
    return result;
}

static enum MHD_Result http_refuse(const struct view_http *http, struct MHD_Connection *connection,
                                   unsigned status)
{
    return send_answer(http, connection,
                       &(struct view_answer){.status = status, .fixed = S_INIT("refused\n")});
}

struct work {
    const struct view_http *http;
    const struct view_call *call;
    struct view_answer answer;
};

static void make_answer(void *ctx)
{
    struct work *w = ctx;

    w->http->handler(w->http->ctx, w->call, &w->answer);
}

static enum MHD_Result answer(struct view_http *http, struct MHD_Connection *connection,
                              const struct pending *p)
{
    enum { UNAVAILABLE = 503 };
    struct job job = JOB_INIT;
    struct connection from = {http, connection};
    struct view_call call = {p->path, {p->body, p->n}, &from};
    struct work w = {http, &call, {0}};
    enum MHD_Result result;

    if (atomic_fetch_add(&http->answers, 1) < VIEW_ANSWERS && job_run(&job, make_answer, &w) &&
        w.answer.body.n <= VIEW_ANSWER)
        result = send_answer(http, connection, &w.answer);
    else
        result = http_refuse(http, connection, UNAVAILABLE);
    atomic_store(&http->last, now_ns());
    atomic_fetch_sub(&http->answers, 1);
    text_free(&w.answer.body);
    job_end(&job);
    return result;
}

/* ---- requests ---- */

static const char *header(const struct view_http *http, struct MHD_Connection *c, const char *name)
{
    return http->mhd.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result http_begin(struct view_http *http, struct MHD_Connection *c,
                                  const char *method, const char *path, void **state)
{
    enum { OK = 200, TOO_LARGE = 413, UNAVAILABLE = 503 };
    struct view_headers headers = {
        .method = method,
        .path = path,
        .host = header(http, c, "Host"),
        .origin = header(http, c, "Origin"),
        .site = header(http, c, "Sec-Fetch-Site"),
        .authorization = header(http, c, "Authorization"),
    };
    const char *length = header(http, c, "Content-Length");
    enum view_path found = VIEW_SHELL;
    unsigned status = view_admit(http->guard, &headers, &found);
    int64_t n;

    if (status != OK)
        return http_refuse(http, c, status);
    if (length != NULL && !view_number(length, VIEW_BODY, &n)) /* which needs no reading */
        return http_refuse(http, c, TOO_LARGE);
    struct pending *p = calloc(1, sizeof(*p) + (found == VIEW_SQL ? VIEW_BODY : 1));
    if (p == NULL)
        return http_refuse(http, c, UNAVAILABLE);
    p->path = found;
    *state = p;
    atomic_store(&http->last, now_ns());
    return MHD_YES;
}

/* The library calls it when the head is there, for each piece of the body, and at the end. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *body,
                                  size_t *n, void **state)
{
    struct view_http *http = ctx;
    struct pending *p = *state;

    (void)version;
    if (p == NULL)
        return http_begin(http, c, method, path, state);
    if (*n == 0)
        return answer(http, c, p);
    if (p->path != VIEW_SQL || *n > VIEW_BODY - p->n)
        return MHD_NO; /* the connection is closed */
    memcpy(p->body + p->n, body, *n);
    p->n += *n;
    *n = 0;
    return MHD_YES;
}

static void on_completed(void *ctx, struct MHD_Connection *c, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)ctx, (void)c, (void)code;
    free(*state);
    *state = NULL;
}

/* ---- life ---- */

/* Descriptors for all connections, as far as the system lets. */
static void raise_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= 2 * CONNECTIONS)
        return;
    files.rlim_cur = files.rlim_max < 2 * CONNECTIONS ? files.rlim_max : 2 * CONNECTIONS;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static struct MHD_Daemon *http_start(struct view_http *http, unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return http->mhd.start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&at,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)TIMEOUT, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK, MHD_OPTION_LISTEN_BACKLOG_SIZE,
        (unsigned)BACKLOG, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
}

static enum status no_daemon(unsigned port, int error, struct diag *d)
{
    if (error != EADDRINUSE)
        return diag_fail(d, ST_IO, "view.listen", (struct where){0},
                         "cannot listen on 127.0.0.1:%u: %s", port, strerror(error));
    diag_fail(d, ST_IO, "view.port", (struct where){0}, "port %u is in use", port);
    diag_hint(d, "try", "another --port, or none for any free one");
    return ST_IO;
}

enum status view_http_open(struct view_http **out, struct view_guard *guard, view_handler *handler,
                           void *ctx, struct diag *d)
{
    struct view_http *http = mem_grow(NULL, sizeof(*http), 1);

    *http = (struct view_http){.guard = guard, .handler = handler, .ctx = ctx, .last = now_ns()};
    *out = http;
    if (!http_load(&http->mhd)) {
        view_http_close(http);
        diag_fail(d, ST_TOOL, "view.microhttpd", (struct where){0},
                  "libmicrohttpd is not installed");
        diag_hint(d, "try", "apt install libmicrohttpd12");
        return ST_TOOL;
    }
    raise_limit();
    http->daemon = http_start(http, guard->port);
    if (http->daemon == NULL) {
        int error = errno;
        view_http_close(http);
        return no_daemon(guard->port, error, d);
    }
    guard->port = http->mhd.get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    return ST_OK;
}

void view_http_close(struct view_http *http)
{
    if (http->daemon != NULL)
        http->mhd.stop_daemon(http->daemon);
    if (http->mhd.handle != NULL)
        dlclose(http->mhd.handle);
    mem_free(http);
}

nanos view_http_idle(const struct view_http *http)
{
    return atomic_load(&http->answers) > 0 ? 0 : now_ns() - atomic_load(&http->last);
}

#else

const char *view_arg(const struct view_call *call, const char *name, size_t n)
{
    (void)call, (void)name, (void)n;
    return NULL;
}

enum status view_http_open(struct view_http **out, struct view_guard *guard, view_handler *handler,
                           void *ctx, struct diag *d)
{
    (void)guard, (void)handler, (void)ctx;
    *out = NULL;
    return diag_fail(d, ST_TOOL, "view.microhttpd", (struct where){0},
                     "strata was built without libmicrohttpd");
}

void view_http_close(struct view_http *http)
{
    (void)http;
}

nanos view_http_idle(const struct view_http *http)
{
    (void)http;
    return 0;
}

#endif
