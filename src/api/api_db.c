/*
 * The public door to operator databases, over opdb/rows/db_handle.h.
 */
#include <stdlib.h>

#include "api/api.h"
#include "base/text/c_locale.h"
#include "opdb/rows/db_handle.h"

struct strata_db {
    struct job job; /* has everything below */
    struct db_handle *handle;
    char error[1024];
};

/* One call, with what it answers. */
struct db_call {
    struct strata_db *db;
    const char *dir;
    const struct strata_db_question *question;
    struct strata_db_answer *answer;
    int code;
};

static struct str db_text_of(const char *text)
{
    return str_of(text != NULL ? text : "");
}

static void open_db(void *ctx)
{
    struct db_call *c = ctx;
    struct diag d;

    diag_init(&d);
    c->code = (int)db_handle_open(&c->db->handle, c->dir, &d);
    api_error_text(&d, c->db->error, sizeof(c->db->error));
    diag_fini(&d);
}

int strata_db_open(const char *dir, struct strata_db **out)
{
    struct strata_db *db = out != NULL ? malloc(sizeof(*db)) : NULL;

    if (out == NULL)
        return STRATA_USAGE;
    *out = db;
    if (db == NULL)
        return STRATA_MEMORY;
    *db = (struct strata_db){.job = JOB_INIT, .error = "strata_db_open: dir is NULL"};
    if (dir == NULL)
        return STRATA_USAGE;
    struct db_call call = {.db = db, .dir = dir, .code = STRATA_MEMORY};
    locale_t before = c_locale_begin();
    if (!job_run(&db->job, open_db, &call)) {
        db->handle = NULL;
        call.code = STRATA_MEMORY;
    }
    c_locale_end(before);
    return call.code;
}

static void ask_db(void *ctx)
{
    struct db_call *c = ctx;
    const struct strata_db_question *q = c->question;
    struct db_question asked = {
        .kernel = db_text_of(q->kernel),
        .op_name = db_text_of(q->op_name),
        .comm = db_text_of(q->comm),
        .shapes = db_text_of(q->shapes),
        .dtypes = db_text_of(q->dtypes),
        .avg_seq = q->avg_seq,
        .seqs = q->seqs,
        .kv_heads = q->kv_heads,
        .sparse_mode = -1,
        .bytes = q->bytes > 0 ? q->bytes : -1,
        .num_devices = q->num_devices,
        .tier = -1,
    };
    struct db_reply reply;
    struct diag d;

    diag_init(&d);
    c->code = (int)db_handle_ask(c->db->handle, &asked, &reply, &d);
    if (c->code == STRATA_OK)
        *c->answer = (struct strata_db_answer){reply.us, reply.low_us, reply.high_us, reply.source,
                                               reply.miss};
    diag_fini(&d);
}

int strata_db_query(struct strata_db *db, const struct strata_db_question *question,
                    struct strata_db_answer *answer)
{
    struct db_call call = {.db = db, .question = question, .answer = answer, .code = STRATA_MEMORY};

    if (db == NULL || db->handle == NULL || question == NULL || answer == NULL ||
        (question->kernel == NULL && question->op_name == NULL && question->comm == NULL))
        return STRATA_USAGE;
    /* What a question takes belongs to the handle; when memory runs out the handle stays. */
    struct job *before = job_current();
    job_enter(&db->job);
    if (!job_try(ask_db, &call))
        call.code = STRATA_MEMORY;
    job_enter(before);
    return call.code;
}

const char *strata_db_error(const struct strata_db *db)
{
    return db != NULL ? db->error : "";
}

static void close_db(void *ctx)
{
    struct strata_db *db = ctx;

    if (db->handle != NULL)
        db_handle_close(db->handle);
}

void strata_db_close(struct strata_db *db)
{
    api_free(db, close_db);
}
