/*
 * State of the viewer, and the answer to each path.
 */
#include "view/view_server.h"

#include <inttypes.h>
#include <pthread.h>

#include "analysis/sql/sql.h"
#include "base/formats/json_write.h"
#include "base/run/job.h"
#include "capture/cut.h"
#include "render/timelines/timeline.h"
#include "view/view_answers.h"
#include "view/view_http.h"

enum view_phase { PHASE_READING, PHASE_ROWS, PHASE_READY, PHASE_FAILED };

enum { BAD_REQUEST = 400, NOT_FOUND = 404, CONFLICT = 409, TOO_LARGE = 413 };
enum { SEARCH_MOST = 10000, CUT_SLICES = 1000000 };

struct view_server {
    struct view_guard guard;
    struct view_http *http;
    struct text shell, early, page;
    pthread_mutex_t lock; /* of what follows */
    enum view_phase phase;
    struct text label, error;
    struct progress_step step;
    struct page_file *of;
    struct view_rows rows[PAGE_SETS]; /* fixed once `phase` says that they are there */
    pthread_mutex_t slow_lock; /* of SQL and what-ifs: one at a time, in a job of their own */
    struct job slow_job;
    struct sql *sql;
    struct view_whatif *whatif;
};

static const char json_type[] = "application/json; charset=utf-8";

/* ---- progress ---- */

void view_server_tick(struct view_server *server, struct progress_step step)
{
    pthread_mutex_lock(&server->lock);
    text_clear(&server->label);
    text_put(&server->label, str_of(step.label));
    server->step = step;
    pthread_mutex_unlock(&server->lock);
}

static void set_phase(struct view_server *server, enum view_phase phase)
{
    pthread_mutex_lock(&server->lock);
    server->phase = phase;
    pthread_mutex_unlock(&server->lock);
}

static void put_state(struct view_server *server, struct text *out)
{
    static const char *const names[] = {"reading", "rows", "ready", "failed"};
    struct json_writer w;

    json_write_init(&w, text_sink(out), JSON_COMPACT);
    json_write_object(&w);
    pthread_mutex_lock(&server->lock);
    json_put_text(&w, "phase", names[server->phase]);
    json_put_str(&w, "label", text_view(&server->label));
    json_put_u64(&w, "done", server->step.done);
    json_put_u64(&w, "total", server->step.total);
    json_put_str(&w, "error", text_view(&server->error));
    pthread_mutex_unlock(&server->lock);
    json_write_end(&w);
    json_write_finish(&w);
}

/* ---- answers ---- */

static void server_fail(struct view_answer *answer, unsigned status, const char *text)
{
    struct json_writer w;

    answer->status = status;
    answer->type = json_type;
    answer->file = NULL;
    text_clear(&answer->body);
    json_write_init(&w, text_sink(&answer->body), JSON_COMPACT);
    json_write_object(&w);
    json_put_text(&w, "error", text);
    json_write_end(&w);
    json_write_finish(&w);
}

static bool parse_range(const struct view_call *call, nanos *from, nanos *to)
{
    enum { TIME_BITS = 53 };
    const nanos most = INT64_C(1) << TIME_BITS;

    return view_number(view_arg(call, "from", 0), most, from) &&
           view_number(view_arg(call, "to", 0), most, to) && *from < *to;
}

static bool parse_lanes(const struct view_call *call, const struct view_rows *rows,
                        struct view_list *out)
{
    const char *text = view_arg(call, "r", 0);

    return text != NULL && view_list_parse(str_of(text), rows->set->lanes.n, out);
}

static void answer_tiles(const struct view_call *call, const struct view_rows *rows,
                         struct view_answer *answer)
{
    struct view_list lanes;
    int64_t level, index;
    bool is_ok = view_number(view_arg(call, "l", 0), VIEW_LEVELS - 1, &level) &&
                 view_number(view_arg(call, "i", 0), INT64_MAX, &index) &&
                 parse_lanes(call, rows, &lanes);

    answer->type = "application/octet-stream";
    for (size_t i = 0; is_ok && i < lanes.n; i++)
        is_ok = view_tile(rows, lanes.at[i], level, index, &answer->body);
    if (!is_ok)
        server_fail(answer, BAD_REQUEST, "tiles need l, i and r");
}

static void answer_range(const struct view_call *call, const struct view_rows *rows,
                         struct view_answer *answer)
{
    const char *gaps = view_arg(call, "gaps", 0);
    struct view_list lanes;
    nanos from, to;

    if (!parse_range(call, &from, &to) || !parse_lanes(call, rows, &lanes)) {
        server_fail(answer, BAD_REQUEST, "range needs from, to and r");
        return;
    }
    view_range(rows, &lanes, from, to, gaps != NULL && strcmp(gaps, "1") == 0, &answer->body);
}

static void answer_search(const struct view_call *call, const struct view_rows *rows,
                          struct view_answer *answer)
{
    const char *query = view_arg(call, "q", 0), *max = view_arg(call, "max", 0);
    int64_t most = SEARCH_MOST;

    if (query == NULL || query[0] == '\0' || (max != NULL && !view_number(max, SEARCH_MOST, &most)))
        server_fail(answer, BAD_REQUEST, "search needs q");
    else
        view_search(rows, str_of(query), (size_t)most, &answer->body);
}

/* By its number in the lane, or by begin and entry of the dictionary, which is what a page knows.
 */
static void answer_slice(const struct view_call *call, const struct view_rows *rows,
                         struct view_answer *answer)
{
    const char *number = view_arg(call, "n", 0), *at = view_arg(call, "at", 0);
    int64_t lane, n, begin, what;

    if (!view_number(view_arg(call, "r", 0), (int64_t)rows->set->lanes.n - 1, &lane))
        server_fail(answer, BAD_REQUEST, "slice needs r and n");
    else if (view_number(number, UINT32_MAX, &n))
        answer->status = view_slice(rows, (size_t)lane, (size_t)n, &answer->body) ? 0 : NOT_FOUND;
    else if (view_number(at, INT64_MAX, &begin) &&
             view_number(view_arg(call, "w", 0), UINT32_MAX, &what))
        answer->status =
            view_slice(rows, (size_t)lane,
                       view_slice_near(rows, (size_t)lane, begin, (uint32_t)what), &answer->body)
                ? 0
                : NOT_FOUND;
    else
        server_fail(answer, BAD_REQUEST, "slice needs r and n, or r, at and w");
    if (answer->status == NOT_FOUND)
        server_fail(answer, NOT_FOUND, "no such slice");
}

/* The page of a part, as `strata PATH -o page.html` would write it. */
static void write_page(const struct cut *cut, const struct page_options *how, struct sink sink)
{
    struct capture *part = capture_part(cut);
    struct page_file page;
    struct study study;

    study_begin(&study, part, study_defaults());
    page_init(&page, PAGE_CAPTURE, how);
    page_add_set(&page, &study);
    page.title = page_name(page.sets[0], str_of(part->name));
    page_prepare(&page);
    page_put_capture(&page);
    page_write(&page, sink);
    page_fini(&page);
    study_end(&study);
    capture_free(part);
}

/* The slices of a range as a file: a page, or for another program. */
static void answer_cut(struct view_server *server, const struct view_call *call,
                       const struct view_rows *rows, struct view_answer *answer)
{
    static const struct {
        const char *as, *type, *file;
        const struct timeline_format *format; /* NULL: a page */
    } forms[] = {
        {"chrome", "application/json", "attachment; filename=\"cut.json\"", &timeline_chrome},
        {"perfetto", "application/octet-stream", "attachment; filename=\"cut.pftrace\"",
         &timeline_perfetto},
        {"page", "text/html; charset=utf-8", "attachment; filename=\"cut.html\"", NULL},
    };
    const char *as = view_arg(call, "as", 0);
    nanos from, to;

    for (size_t i = 0; as != NULL && i < ARRAY_LEN(forms); i++) {
        if (strcmp(forms[i].as, as) != 0 || !parse_range(call, &from, &to))
            continue;
        struct interval window = {nanos_add(rows->set->origin, from),
                                  nanos_add(rows->set->origin, to)};
        struct cut cut;
        cut_init(&cut, rows->set->cap, &(struct cut_options){.windows = {&window, 1}});
        bool is_few = cut.slices <= CUT_SLICES;
        if (is_few && forms[i].format != NULL)
            forms[i].format->write(&cut, &(struct timeline_options){0}, text_sink(&answer->body));
        else if (is_few)
            write_page(&cut, &(struct page_options){.lang = server->of->options.lang},
                       text_sink(&answer->body));
        cut_fini(&cut);
        answer->type = forms[i].type;
        answer->file = forms[i].file;
        if (!is_few || answer->body.n > VIEW_ANSWER)
            server_fail(answer, TOO_LARGE, "the range has too many slices for a file: zoom in");
        return;
    }
    server_fail(answer, BAD_REQUEST, "cut needs from, to and as (chrome, page, perfetto)");
}

/* ---- what may take seconds ---- */

struct slow {
    struct view_server *server;
    const struct view_call *call;
    struct text out;
    bool is_ok;
};

static void open_sql(struct view_server *server)
{
    const struct capture *caps[PAGE_SETS];
    struct diag diag;

    diag_init(&diag);
    for (size_t i = 0; i < server->of->n_sets; i++)
        caps[i] = server->of->sets[i]->cap;
    if (sql_open(&server->sql, caps, server->of->n_sets, &diag) != ST_OK)
        server->sql = NULL;
    diag_fini(&diag);
}

static void run_slow(void *ctx)
{
    struct slow *s = ctx;
    struct view_server *server = s->server;

    if (s->call->path == VIEW_SQL) {
        if (server->sql == NULL)
            open_sql(server);
        s->is_ok = server->sql != NULL && view_sql_run(server->sql, s->call->body, &s->out);
        return;
    }
    if (server->whatif == NULL)
        server->whatif = view_whatif_new(server->of->sets[server->of->lead]);
    s->is_ok = view_whatif_answer(server->whatif, s->call, &s->out);
}

/* What it keeps belongs to a job of its own, which a failure empties as a whole. */
static void answer_slow(struct view_server *server, const struct view_call *call,
                        struct view_answer *answer)
{
    enum { UNAVAILABLE = 503 };
    struct slow s = {server, call, {0}, false};

    if (pthread_mutex_trylock(&server->slow_lock) != 0) {
        server_fail(answer, UNAVAILABLE, "another statement is running");
        return;
    }
    bool is_done = job_run(&server->slow_job, run_slow, &s);
    struct job *own = job_current();
    if (is_done) {
        text_put(&answer->body, text_view(&s.out));
        job_enter(&server->slow_job);
        text_free(&s.out);
        job_enter(own);
    } else {
        server->sql = NULL;
        server->whatif = NULL;
    }
    pthread_mutex_unlock(&server->slow_lock);
    if (!is_done)
        server_fail(answer, UNAVAILABLE, "not enough memory");
    else if (!s.is_ok)
        answer->status = BAD_REQUEST;
}

/* ---- routes ---- */

static void answer_page(struct view_server *server, enum view_phase phase,
                        const struct view_call *call, struct view_answer *answer)
{
    const char *early = view_arg(call, "early", 0);
    bool is_early = early != NULL && strcmp(early, "1") == 0;

    answer->type = "text/html; charset=utf-8";
    if (phase == PHASE_READY && !is_early)
        answer->fixed = text_view(&server->page);
    else if (is_early)
        answer->fixed = text_view(&server->early);
    else
        server_fail(answer, CONFLICT, "not ready");
}

static void answer_set(struct view_server *server, const struct view_call *call,
                       struct view_answer *answer)
{
    static void (*const answers[VIEW_PATHS])(const struct view_call *, const struct view_rows *,
                                             struct view_answer *) = {
        [VIEW_TILES] = answer_tiles,
        [VIEW_RANGE] = answer_range,
        [VIEW_SEARCH] = answer_search,
        [VIEW_SLICE] = answer_slice,
    };
    const char *text = view_arg(call, "s", 0);
    int64_t set = 0;

    if (text != NULL && !view_number(text, (int64_t)server->of->n_sets - 1, &set))
        server_fail(answer, NOT_FOUND, "no such capture");
    else if (answers[call->path] != NULL)
        answers[call->path](call, &server->rows[set], answer);
    else
        answer_cut(server, call, &server->rows[set], answer);
}

static void handle(void *ctx, const struct view_call *call, struct view_answer *answer)
{
    struct view_server *server = ctx;

    pthread_mutex_lock(&server->lock);
    enum view_phase phase = server->phase;
    pthread_mutex_unlock(&server->lock);
    answer->type = json_type;
    if (call->path == VIEW_SHELL) {
        answer->type = "text/html; charset=utf-8";
        answer->fixed = text_view(&server->shell);
    } else if (call->path == VIEW_STATE) {
        put_state(server, &answer->body);
    } else if (call->path == VIEW_TABLES) {
        view_sql_tables(&answer->body);
    } else if (phase != PHASE_ROWS && phase != PHASE_READY) {
        server_fail(answer, CONFLICT, "not ready");
    } else if (call->path == VIEW_PAGE) {
        answer_page(server, phase, call, answer);
    } else if (call->path == VIEW_SQL || call->path == VIEW_WHATIF) {
        if (phase == PHASE_READY)
            answer_slow(server, call, answer);
        else
            server_fail(answer, CONFLICT, "not ready");
    } else {
        answer_set(server, call, answer);
    }
}

/* ---- life ---- */

enum status view_server_open(struct view_server **out, unsigned port, enum lang lang,
                             struct diag *d)
{
    struct view_server *server = mem_grow(NULL, sizeof(*server), 1);
    struct page_file page;

    *server = (struct view_server){.guard.port = port,
                                   .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .slow_lock = PTHREAD_MUTEX_INITIALIZER,
                                   .slow_job = JOB_INIT};
    page_init(&page, PAGE_CAPTURE, &(struct page_options){.lang = lang});
    page_write_shell(&page, text_sink(&server->shell));
    page_fini(&page);
    *out = server;
    enum status status = ST_OK;
    if (!view_guard_init(&server->guard))
        status = diag_fail(d, ST_IO, "view.random", (struct where){0},
                           "the system has no random numbers");
    if (status == ST_OK)
        status = view_http_open(&server->http, &server->guard, handle, server, d);
    if (status != ST_OK) {
        server->http = NULL;
        view_server_close(server);
    }
    return status;
}

static void free_slow(void *ctx)
{
    struct view_server *server = ctx;

    sql_close(server->sql);
    view_whatif_free(server->whatif);
}

void view_server_close(struct view_server *server)
{
    if (server->http != NULL)
        view_http_close(server->http);
    job_run(&server->slow_job, free_slow, server);
    job_end(&server->slow_job);
    for (size_t i = 0; server->of != NULL && i < server->of->n_sets; i++)
        view_rows_fini(&server->rows[i]);
    text_free(&server->shell);
    text_free(&server->early);
    text_free(&server->page);
    text_free(&server->label);
    text_free(&server->error);
    mem_free(server);
}

unsigned view_server_port(const struct view_server *server)
{
    return server->guard.port;
}

const char *view_server_token(const struct view_server *server)
{
    return server->guard.token;
}

nanos view_server_idle(const struct view_server *server)
{
    return view_http_idle(server->http);
}

void view_server_show(struct view_server *server, struct page_file *page)
{
    for (size_t i = 0; i < page->n_sets; i++)
        view_rows_init(&server->rows[i], page->sets[i], page->options.pool);
    server->of = page;
    page_write(page, text_sink(&server->early));
    set_phase(server, PHASE_ROWS);
}

void view_server_finish(struct view_server *server, struct page_file *page)
{
    page_write(page, text_sink(&server->page));
    set_phase(server, PHASE_READY);
}

void view_server_fail(struct view_server *server, const struct diag *d)
{
    pthread_mutex_lock(&server->lock);
    text_clear(&server->error);
    for (size_t i = 0; i < d->entries.n; i++)
        if (d->entries.at[i].severity == SEV_ERROR)
            text_format(&server->error, "%s%s", server->error.n > 0 ? "; " : "",
                        d->entries.at[i].first[0].text);
    server->phase = PHASE_FAILED;
    pthread_mutex_unlock(&server->lock);
}
