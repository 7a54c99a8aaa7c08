/*
 * mcp_calls: reading, queueing, running and cancelling. What crosses threads is allocated by
 * malloc(), because it belongs to no job.
 */
#include "mcp/mcp_calls.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/write_all.h"
#include "base/run/cancel.h"
#include "base/run/job.h"

struct mcp_server *mcp_server_new(struct mcp_catalog *catalog, const char *instructions)
{
    struct mcp_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        job_out_of_memory();
        return NULL; /* for analysers that do not know it */
    }
    server->catalog = catalog;
    server->instructions = instructions;
    server->out = -1;
    pthread_mutex_init(&server->write_lock, NULL);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->wake, NULL);
    return server;
}

void mcp_server_free(struct mcp_server *server)
{
    for (struct mcp_queued *q; (q = server->first) != NULL;) {
        server->first = q->next;
        free(q);
    }
    pthread_cond_destroy(&server->wake);
    pthread_mutex_destroy(&server->lock);
    pthread_mutex_destroy(&server->write_lock);
    free(server);
}

/* ---- which call runs ---- */

static bool id_text(const struct tree *id, char out[MCP_ID])
{
    struct str word = tree_word(id);

    out[0] = '\0';
    if (id == NULL || word.n == 0 || word.n > MCP_ID - 2 || memchr(word.at, '\0', word.n) != NULL)
        return false;
    out[0] = id->kind == TREE_TEXT ? 's' : 'n';
    memcpy(out + 1, word.at, word.n);
    out[word.n + 1] = '\0';
    return true;
}

/* Whether it was cancelled; once. */
static bool pop_cancelled(struct mcp_server *server, const char *id)
{
    for (size_t i = 0; i < MCP_CANCELLED; i++)
        if (id[0] != '\0' && strcmp(server->cancelled[i], id) == 0) {
            server->cancelled[i][0] = '\0';
            return true;
        }
    return false;
}

void mcp_call_expect(struct mcp_server *server, const struct tree *id)
{
    char text[MCP_ID];

    id_text(id, text);
    pthread_mutex_lock(&server->lock);
    pop_cancelled(server, text);
    pthread_mutex_unlock(&server->lock);
}

bool mcp_call_begin(struct mcp_server *server, const struct tree *id)
{
    char text[MCP_ID];

    id_text(id, text);
    pthread_mutex_lock(&server->lock);
    bool is_cancelled = pop_cancelled(server, text);
    server->is_cancelled = false;
    if (is_cancelled)
        text[0] = '\0';
    memcpy(server->running, text, MCP_ID);
    pthread_mutex_unlock(&server->lock);
    return !is_cancelled;
}

bool mcp_call_end(struct mcp_server *server)
{
    pthread_mutex_lock(&server->lock);
    bool was_cancelled = server->is_cancelled;
    server->running[0] = '\0';
    server->is_cancelled = false;
    if (was_cancelled)
        cancel_clear();
    pthread_mutex_unlock(&server->lock);
    return !was_cancelled;
}

void mcp_call_cancel(struct mcp_server *server, const struct tree *id)
{
    char text[MCP_ID];

    if (!id_text(id, text))
        return;
    pthread_mutex_lock(&server->lock);
    if (strcmp(server->running, text) == 0) {
        server->is_cancelled = true;
        cancel_request(SIGINT);
    } else {
        memcpy(server->cancelled[server->next_cancelled++ % MCP_CANCELLED], text, MCP_ID);
    }
    pthread_mutex_unlock(&server->lock);
}

/* ---- output ---- */

/* Sends the line, and frees it. */
static void send(struct mcp_server *server, struct text *line)
{
    if (line->n > 0) {
        text_char(line, '\n');
        pthread_mutex_lock(&server->write_lock);
        if (!server->is_broken)
            server->is_broken = write_all(server->out, line->at, line->n) != 0;
        pthread_mutex_unlock(&server->write_lock);
    }
    text_free(line);
}

static bool is_broken(struct mcp_server *server)
{
    pthread_mutex_lock(&server->write_lock);
    bool is = server->is_broken;
    pthread_mutex_unlock(&server->write_lock);
    return is;
}

/* ---- the thread of calls ---- */

/* By a signal, not by a notification. */
static bool is_interrupted(struct mcp_server *server)
{
    pthread_mutex_lock(&server->lock);
    bool is = cancelled() && !server->is_cancelled;
    pthread_mutex_unlock(&server->lock);
    return is;
}

static struct mcp_queued *pop_call(struct mcp_server *server)
{
    pthread_mutex_lock(&server->lock);
    while (server->first == NULL && !server->has_ended)
        pthread_cond_wait(&server->wake, &server->lock);
    struct mcp_queued *q = server->first;
    if (q != NULL) {
        server->first = q->next;
        server->n_queued--;
    }
    if (server->first == NULL)
        server->last = NULL;
    pthread_mutex_unlock(&server->lock);
    return q;
}

struct work {
    struct mcp_server *server;
    struct str message;
};

static void work_on(void *ctx)
{
    const struct work *w = ctx;
    struct text line = {0};

    mcp_server_answer(w->server, w->message, &line);
    send(w->server, &line);
}

static void no_memory(void *ctx)
{
    struct mcp_server *server = ctx;
    struct text line = {0};
    char id[MCP_ID];

    memcpy(id, server->running, MCP_ID); /* this thread alone writes it */
    mcp_call_end(server);
    mcp_put_failure(&line, id, RPC_INTERNAL, "out of memory");
    send(server, &line);
}

static void *work_through(void *ctx)
{
    struct mcp_server *server = ctx;

    for (struct mcp_queued *q; (q = pop_call(server)) != NULL;) {
        struct job job = JOB_INIT;
        struct work w = {server, {q->message, q->n}};
        bool is_wanted = !is_broken(server) && !is_interrupted(server);
        if (is_wanted && !job_run(&job, work_on, &w))
            job_run(&job, no_memory, server);
        job_end(&job);
        free(q);
    }
    return NULL;
}

/* ---- the thread that reads ---- */

/* False: the queue is full. */
static bool put_in_queue(struct mcp_server *server, struct str message)
{
    struct mcp_queued *q = malloc(sizeof(*q) + message.n);

    if (q == NULL) {
        job_out_of_memory();
        return false; /* for analysers that do not know it */
    }
    q->next = NULL;
    q->n = message.n;
    memcpy(q->message, message.at, message.n);
    pthread_mutex_lock(&server->lock);
    bool has_room = server->n_queued < MCP_QUEUED;
    if (has_room) {
        if (server->last != NULL)
            server->last->next = q;
        else
            server->first = q;
        server->last = q;
        server->n_queued++;
        pthread_cond_signal(&server->wake);
    }
    pthread_mutex_unlock(&server->lock);
    if (!has_room)
        free(q);
    return has_room;
}

static void handle_message(struct mcp_server *server, struct str message)
{
    struct text line = {0};

    message = str_trim(message);
    if (message.n == 0)
        return;
    if (!mcp_is_slow(server, message))
        mcp_server_answer(server, message, &line);
    else if (!put_in_queue(server, message))
        mcp_server_refuse(server, message, &line);
    send(server, &line);
}

/* The input as it comes. */
struct intake {
    struct text waiting;
    bool is_skipping; /* up to the next line end */
};

static void handle_bytes(struct mcp_server *server, struct intake *in, struct str bytes)
{
    struct str rest = bytes;
    struct text line = {0};

    while (rest.n > 0) {
        size_t n = str_find_char(rest, '\n');
        bool is_whole = n < rest.n;
        if (!in->is_skipping && in->waiting.n + n > MCP_MESSAGE) {
            in->is_skipping = true;
            mcp_put_failure(&line, "", RPC_REQUEST, "message too long: at most 1 MiB");
            send(server, &line);
        }
        if (!in->is_skipping)
            text_put(&in->waiting, str_part(rest, 0, n));
        if (is_whole) {
            if (!in->is_skipping)
                handle_message(server, text_view(&in->waiting));
            text_clear(&in->waiting);
            in->is_skipping = false;
        }
        rest = str_part(rest, n + is_whole, rest.n);
    }
}

static void calls_read_all(struct mcp_server *server, int fd)
{
    struct intake in = {0};
    char room[1 << 14];
    ssize_t n = 0;

    while (!is_interrupted(server) && !is_broken(server)) {
        n = read(fd, room, sizeof(room));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        handle_bytes(server, &in, (struct str){room, (size_t)n});
    }
    if (n == 0 && !in.is_skipping)
        handle_message(server, text_view(&in.waiting)); /* a last line without its end */
    text_free(&in.waiting);
}

void mcp_server_run(struct mcp_server *server, int in, int out)
{
    sigset_t all, before;

    server->out = out;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* comes from what the thread itself reads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&server->thread, NULL, work_through, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        job_out_of_memory();
    calls_read_all(server, in);
    pthread_mutex_lock(&server->lock);
    server->has_ended = true;
    pthread_cond_signal(&server->wake);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->thread, NULL);
}
