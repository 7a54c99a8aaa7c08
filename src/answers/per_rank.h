/*
 * per_rank - one answer over several captures: each by itself in the document, all in a table, and
 * the one that matters most in full.
 *
 *     static const struct per_rank_kind kind = {&ops_schema, &ops_ranks_schema, find};
 *
 * For answers that have no meaning across ranks; what ranks tell together is analysis/ranks.
 */
#ifndef STRATA_ANSWERS_PER_RANK_H
#define STRATA_ANSWERS_PER_RANK_H

#include "analysis/ranks/fleet_study.h"
#include "report/answer.h"

struct rank_answer {
    int64_t rank, device; /* -1: unknown */
    struct str name;
    const void *result;
    struct record_env env; /* of the result */
    const struct per_rank_kind *kind;
    struct wording summary; /* a clause */
    double weight;          /* the answer with most of it is shown in full */
};

struct per_rank {
    const struct per_rank_kind *kind;
    struct rank_answer *list;
    size_t n, lead;
};

struct per_rank_kind {
    const struct schema *one, *several;
    /* Fills result, env, summary and weight, which live in the study; name and ranks are there. */
    void (*find)(struct study *st, const void *ctx, struct rank_answer *out);
    void (*describe)(const void *result, struct report *r);
};

/* Asks each study. The answers live in the fleet's study. */
struct per_rank *per_rank_find(struct fleet_study *fs, const struct per_rank_kind *kind,
                               const void *ctx);

/* `p` lives as long as the answer. */
struct answer per_rank_answer(const struct per_rank *p, struct str title, const char *origin);

/* The record of a document of several, whose results have the record of one. */
#define PER_RANK_SCHEMA(symbol_, name_, title_, record_)                                           \
    static const struct field symbol_##_one[] = {                                                  \
        PER_RANK_FIELDS, FIELD_WRITTEN("result", per_rank_write, .record = (record_))};            \
    static const struct record symbol_##_row = RECORD(struct rank_answer, symbol_##_one);          \
    static const struct field symbol_##_all[] = {                                                  \
        FIELD_LIST(struct per_rank, list, n, "captures", &symbol_##_row)};                         \
    static const struct schema symbol_ = {                                                         \
        .name = (name_),                                                                           \
        .title = (title_),                                                                         \
        .record = &(const struct record)RECORD(struct per_rank, symbol_##_all)}
#define PER_RANK_FIELDS                                                                            \
    FIELD(struct rank_answer, rank, "rank", .missing = MISSING_NEGATIVE),                          \
        FIELD(struct rank_answer, device, "device", .missing = MISSING_NEGATIVE),                  \
        FIELD(struct rank_answer, name, "name"), FIELD(struct rank_answer, summary, "summary")

void per_rank_write(struct json_writer *w, const void *answer, const struct record_env *env);

#endif
