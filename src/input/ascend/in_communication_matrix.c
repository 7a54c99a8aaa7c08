/*
 * communication-matrix: how much went from which rank to which (communication_matrix.json).
 * Format reference: docs/formats/communication.md
 */
#include "input/sidecar.h"

static int matrix_probe(const struct probe *p)
{
    if (!sidecar_begins(p->head, S("step")) && !sidecar_begins_cluster(p->head))
        return 0;
    if (str_contains(p->head, S("\"Transport Type\"")))
        return 95;
    return input_claims(&input_communication_matrix, p->name) ? 60 : 0;
}

static void take_link(struct json *j, struct capture *cap, struct comm_link *link)
{
    struct str key, value;

    while (json_key(j, &key)) {
        if (str_equal(key, S("Transit Size(MB)")) && sidecar_value(j, &value))
            num_f64(value, &link->megabytes);
        else if (str_equal(key, S("Transit Time(ms)")) && sidecar_value(j, &value))
            num_f64(value, &link->transit_ms);
        else if (str_equal(key, S("Transport Type")) && sidecar_value(j, &value))
            link->transport = sidecar_intern(cap, j, value);
        else if (str_equal(key, S("Op Name")) && sidecar_value(j, &value))
            link->op = sidecar_intern(cap, j, value);
    }
}

/* All links of one kind of collective. */
static void take_links(struct import *i, struct json *j, struct comm_link op)
{
    struct str key;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        struct comm_link link = op;
        size_t dash = str_find_char(key, '-'); /* "0-7" */
        bool is_good = num_i64(str_part(key, 0, dash), &link.from) &&
                       num_i64(str_part(key, dash + 1, key.n), &link.to);
        uint64_t at = json_offset(j);
        if (!sidecar_enter(j))
            continue;
        take_link(j, i->cap, &link);
        if (j->token != JSON_OBJECT_END)
            return;
        if (is_good) {
            i->rows++;
            vec_push(&i->cap->comm_links, link);
        } else {
            import_lose(i, import_byte(i, at), "communication-matrix.bad-ranks",
                        "link skipped: needs two ranks");
        }
    }
}

static enum status read_matrix(struct import *i)
{
    struct str outer, inner, key, name, group;
    struct capture *cap = i->cap;
    struct json j;

    json_open(&j, i->in->text, JSON_LENIENT);
    if (json_next(&j) != JSON_OBJECT)
        return import_refuse(i, import_file(i), "communication-matrix.not-json",
                             "not a JSON object");
    while (json_key(&j, &outer)) {
        bool is_step = str_starts(outer, S("step"));
        strid step = is_step ? sidecar_step(cap, outer) : 0;
        if (!sidecar_enter(&j))
            continue;
        while (json_key(&j, &inner)) { /* p2p and collective; of many ranks: the steps */
            if (!is_step)
                step = sidecar_step(cap, inner);
            if (!sidecar_enter(&j))
                continue;
            while (json_key(&j, &key)) {
                if (str_starts(key, S("Total Op Info")))
                    continue; /* the sum of the others */
                sidecar_split(key, &name, &group);
                struct comm_link op = {.name = sidecar_intern(cap, &j, name),
                                       .group = sidecar_intern(cap, &j, group),
                                       .step = step};
                take_links(i, &j, op);
            }
        }
    }
    sidecar_damaged(i, &j, "communication-matrix.damaged");
    return ST_OK;
}

const struct input_format input_communication_matrix = {
    .name = "communication-matrix",
    .summary = "traffic between ranks (JSON)",
    .looks_for = "communication_matrix.json, cluster_communication_matrix.json",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_COMM_MATRIX,
    .probe = matrix_probe,
    .read = read_matrix,
};
