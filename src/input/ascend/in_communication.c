/*
 * communication: every collective of every step, as the profiler's own analysis sees it
 * (communication.json): how long it took, waited and synchronised, and what it moved.
 * Format reference: docs/formats/communication.md
 */
#include "input/sidecar.h"

static int communication_probe(const struct probe *p)
{
    struct str text = str_trim(p->head);

    /* A list of collectives with nothing but a name and a duration, as other tools write it. */
    if (text.n > 0 && text.at[0] == '[' && str_contains(text, S("\"collective_name\"")) &&
        str_contains(text, S("\"duration_us\"")))
        return 60;
    if (!sidecar_begins(p->head, S("step")) && !sidecar_begins_cluster(p->head))
        return 0;
    if (str_contains(p->head, S("\"Communication Time Info\"")))
        return 95;
    return input_claims(&input_communication, p->name) ? 60 : 0;
}

/* What was moved over one sort of link. */
struct moved {
    double megabytes, ms;
};

static void communication_take_number(struct json *j, double *out)
{
    struct str value;

    if (sidecar_value(j, &value))
        num_f64(value, out);
}

/* SDMA is the sum of the links inside a server (HCCS, PCIE, SIO); RDMA comes on top. */
static void take_bandwidth(struct json *j, struct comm_op *op)
{
    struct moved sdma = {0}, rdma = {0}, links = {0};
    struct str key;

    if (!sidecar_enter(j))
        return;
    while (json_key(j, &key)) {
        bool is_sdma = str_equal(key, S("SDMA")), is_rdma = str_equal(key, S("RDMA"));
        struct moved moved = {0}, *to = is_sdma ? &sdma : is_rdma ? &rdma : &links;
        if (!sidecar_enter(j))
            continue;
        while (json_key(j, &key)) {
            if (str_equal(key, S("Transit Size(MB)")))
                communication_take_number(j, &moved.megabytes);
            else if (str_equal(key, S("Transit Time(ms)")))
                communication_take_number(j, &moved.ms);
        }
        to->megabytes += moved.megabytes;
        to->ms += moved.ms;
    }
    bool has_sdma = sdma.megabytes > 0 || sdma.ms > 0;
    op->megabytes = rdma.megabytes + (has_sdma ? sdma.megabytes : links.megabytes);
    op->transit_ms = rdma.ms + (has_sdma ? sdma.ms : links.ms);
}

static bool take_times(struct json *j, struct comm_op *op)
{
    const struct {
        struct str key;
        nanos *to;
        bool (*take)(struct str text, nanos *out);
    } times[] = {
        {S("Start Timestamp(us)"), &op->begin, num_us},
        {S("Elapse Time(ms)"), &op->elapse, num_ms},
        {S("Transit Time(ms)"), &op->transit, num_ms},
        {S("Wait Time(ms)"), &op->wait, num_ms},
        {S("Idle Time(ms)"), &op->idle, num_ms},
        {S("Synchronization Time(ms)"), &op->sync, num_ms},
    };
    struct str key, value;
    bool is_good = true;

    if (!sidecar_enter(j))
        return false;
    while (json_key(j, &key))
        for (size_t i = 0; i < ARRAY_LEN(times); i++)
            if (str_equal(key, times[i].key)) {
                is_good = sidecar_value(j, &value) && times[i].take(value, times[i].to) && is_good;
                break;
            }
    return is_good;
}

struct reader {
    struct import *i;
    struct capture *cap;
    struct json j;
};

static bool is_p2p(struct str name)
{
    return str_starts_nocase(name, S("hcom_send")) || str_starts_nocase(name, S("hcom_receive")) ||
           str_starts_nocase(name, S("hcom_batchsendrecv"));
}

/* One collective; counted only when all of it is there. */
static void take_op(struct reader *r, struct comm_op op)
{
    bool is_good = true;
    struct str key;

    if (!sidecar_enter(&r->j))
        return;
    uint64_t at = json_offset(&r->j);
    while (json_key(&r->j, &key)) {
        if (str_equal(key, S("Communication Time Info")))
            is_good = take_times(&r->j, &op) && is_good;
        else if (str_equal(key, S("Communication Bandwidth Info")))
            take_bandwidth(&r->j, &op);
    }
    if (r->j.token != JSON_OBJECT_END)
        return; /* damage; told once, at the end */
    if (!is_good) {
        import_lose(r->i, import_byte(r->i, at), "communication.bad-number",
                    "collective skipped: a time is not a number");
        return;
    }
    r->i->rows++;
    vec_push(&r->cap->comm_ops, op);
}

/* In the sums over many ranks: what each of them says of a collective. */
static void take_ranks(struct reader *r, struct comm_op op)
{
    struct str key;

    if (!sidecar_enter(&r->j))
        return;
    while (json_key(&r->j, &key)) {
        if (num_i64(key, &op.rank))
            take_op(r, op);
        else
            op.rank = UNKNOWN; /* what was not taken is stepped over by the next json_key() */
    }
}

static void take_kind(struct reader *r, strid step, bool p2p, bool is_cluster)
{
    struct str key, name, group;

    if (!sidecar_enter(&r->j))
        return;
    while (json_key(&r->j, &key)) {
        if (str_starts(key, S("Total Op Info")))
            continue; /* the sum of the others */
        sidecar_split(key, &name, &group);
        struct comm_op op = {.name = sidecar_intern(r->cap, &r->j, name),
                             .group = sidecar_intern(r->cap, &r->j, group),
                             .step = step,
                             .rank = UNKNOWN,
                             .is_p2p = p2p || is_p2p(name)};
        if (is_cluster)
            take_ranks(r, op);
        else
            take_op(r, op);
    }
}

/* Step, then sort; in the sums over many ranks sort or group, then step. */
static void take_steps(struct reader *r)
{
    struct str outer, inner;

    while (json_key(&r->j, &outer)) {
        bool is_step = str_starts(outer, S("step")), is_p2p_key = str_equal(outer, S("p2p"));
        strid step = is_step ? sidecar_step(r->cap, outer) : 0;
        if (!sidecar_enter(&r->j))
            continue;
        while (json_key(&r->j, &inner)) {
            if (is_step)
                take_kind(r, step, str_equal(inner, S("p2p")), false);
            else
                take_kind(r, sidecar_step(r->cap, inner), is_p2p_key, true);
        }
    }
}

/* One element of a flat list. */
static void take_flat_op(struct reader *r)
{
    struct comm_op op = {.rank = UNKNOWN};
    bool has_name = false, has_time = false;
    struct str key, value;

    uint64_t at = json_offset(&r->j);
    if (sidecar_enter(&r->j))
        while (json_key(&r->j, &key)) {
            if (str_equal(key, S("collective_name")) && sidecar_value(&r->j, &value)) {
                op.name = sidecar_intern(r->cap, &r->j, value);
                op.is_p2p = is_p2p(value);
                has_name = value.n > 0;
            } else if (str_equal(key, S("duration_us")) && sidecar_value(&r->j, &value)) {
                has_time = num_us(value, &op.elapse);
            }
        }
    if (r->j.token == JSON_ERROR || r->j.token == JSON_END)
        return; /* damage; told once, at the end */
    if (has_name && has_time) {
        r->i->rows++;
        vec_push(&r->cap->comm_ops, op);
        return;
    }
    import_lose(r->i, import_byte(r->i, at), "communication.bad-number",
                "collective skipped: no name, or its duration is not a number");
}

static enum status read_communication(struct import *i)
{
    struct reader r = {.i = i, .cap = i->cap};

    json_open(&r.j, i->in->text, JSON_LENIENT);
    enum json_token root = json_next(&r.j);
    if (root == JSON_OBJECT) {
        take_steps(&r);
    } else if (root == JSON_ARRAY) {
        import_report(i, SEV_NOTE, "communication.flat",
                      "a flat list of collectives: no waits or sizes");
        while (json_element(&r.j))
            take_flat_op(&r);
    } else {
        return import_refuse(i, import_file(i), "communication.not-json", "not a JSON object");
    }
    sidecar_damaged(i, &r.j, "communication.damaged");
    return ST_OK;
}

const struct input_format input_communication = {
    .name = "communication",
    .summary = "collectives by step, with wait and bandwidth (JSON)",
    .looks_for = "communication.json, cluster_communication.json",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .probe = communication_probe,
    .read = read_communication,
};
