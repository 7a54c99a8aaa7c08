/*
 * proton: sums of Triton's profiler, a tree of scopes and kernels (hatchet JSON).
 *
 * Nothing has a time, so nothing is on the timeline: each metric of a node is one sample of a
 * counter, which has the names above the node as its process.
 * Format reference: docs/formats/proton.md
 */
#include "base/formats/json_read.h"
#include "base/run/cancel.h"
#include "input/import.h"

enum { LEVELS_MOST = 64, NODES_MOST = 1 << 24 };

#define NO_NODE UINT32_MAX

struct node {
    uint32_t parent;
    strid name; /* 0: a list of devices */
};

struct metric {
    uint32_t node;
    strid name;
    double value;
};

/* A node that is being read, or its children; the list of roots has no node. */
struct level {
    uint32_t node;
    bool is_list;
};

struct proton {
    struct import *i;
    struct json j;
    VEC_OF(struct node) nodes;
    VEC_OF(struct metric) metrics;
    VEC_OF(struct level) levels;
};

static int proton_probe(const struct probe *p)
{
    bool is_tree =
        str_starts(str_trim(p->head), S("[")) &&
        (str_contains(p->head, S("\"frame\"")) || str_contains(p->head, S("\"children\""))) &&
        !str_contains(p->head, S("\"ph\""));

    if (!is_tree)
        return 0;
    return input_claims(&input_proton, p->name) || str_contains(p->head, S("\"metrics\"")) ? 88
                                                                                           : 45;
}

static strid intern(struct proton *p, struct str text)
{
    struct arena scratch;

    if (!p->j.has_escapes)
        return capture_intern(p->i->cap, text);
    arena_init(&scratch);
    strid id = capture_intern(p->i->cap, json_text(text, &scratch));
    arena_free(&scratch);
    return id;
}

/* Enters the object that comes; false, and what comes is passed over, when it is none. */
static bool enter(struct proton *p)
{
    struct str value;

    if (json_value(&p->j, &value) || p->j.token != JSON_OBJECT)
        return false;
    return json_next(&p->j) == JSON_OBJECT;
}

static void read_frame(struct proton *p, uint32_t node)
{
    struct str key, value;

    if (!enter(p))
        return;
    while (json_key(&p->j, &key)) {
        bool is_name = str_equal(key, S("name"));
        if (json_value(&p->j, &value) && is_name && p->j.token == JSON_STRING)
            p->nodes.at[node].name = intern(p, value);
    }
}

static void read_metrics(struct proton *p, uint32_t node)
{
    struct str key, value;
    double number;

    if (!enter(p))
        return;
    while (json_key(&p->j, &key)) {
        strid name = intern(p, key);
        if (json_value(&p->j, &value) && p->j.token == JSON_NUMBER && num_f64(value, &number))
            vec_push(&p->metrics, ((struct metric){node, name, number}));
    }
}

/* {"0": {"num_sms": …, "clock_rate": …}}: the first device counts. */
static void read_devices(struct proton *p, struct str type)
{
    struct facts *facts = &p->i->cap->facts;
    struct str key, value;
    int64_t number;

    facts->vendor = str_equal(type, S("HIP")) ? VENDOR_AMD : VENDOR_NVIDIA;
    if (!enter(p))
        return;
    while (json_key(&p->j, &key)) {
        if (!enter(p))
            continue;
        while (json_key(&p->j, &key)) {
            struct str member = key;
            if (!json_value(&p->j, &value) || !num_i64(value, &number) || number <= 0)
                continue;
            if (str_equal(member, S("num_sms")) && facts->device_cores == UNKNOWN)
                facts->device_cores = number;
            else if (str_equal(member, S("clock_rate")) && facts->device_clock == UNKNOWN &&
                     number < INT64_MAX / 1000)
                facts->device_clock = number * 1000; /* kHz */
        }
    }
}

/* The next member of a node; false when it has no more. */
static bool read_member(struct proton *p, struct level *top)
{
    struct str key, value;

    if (!json_key(&p->j, &key))
        return false;
    if (str_equal(key, S("frame")))
        read_frame(p, top->node);
    else if (str_equal(key, S("metrics")))
        read_metrics(p, top->node);
    else if (str_equal(key, S("CUDA")) || str_equal(key, S("HIP")))
        read_devices(p, key);
    else if (str_equal(key, S("children")) && !json_value(&p->j, &value) &&
             p->j.token == JSON_ARRAY && json_next(&p->j) == JSON_ARRAY)
        top->is_list = true;
    return true;
}

/* The next node of a list; false when it has no more. */
static bool read_element(struct proton *p, uint32_t parent)
{
    if (!json_element(&p->j))
        return false;
    if (!enter(p) || p->nodes.n >= NODES_MOST)
        return true;
    vec_push(&p->levels, ((struct level){(uint32_t)p->nodes.n, false}));
    vec_push(&p->nodes, ((struct node){parent, 0}));
    return true;
}

/* No recursion: the levels that are open are a list. */
static void read_tree(struct proton *p)
{
    vec_push(&p->levels, ((struct level){NO_NODE, true}));
    while (p->levels.n > 0 && !cancelled()) {
        struct level *top = &p->levels.at[p->levels.n - 1];
        if (top->is_list) {
            if (read_element(p, top->node))
                continue;
            top->is_list = false; /* its node goes on */
            if (top->node == NO_NODE)
                p->levels.n--;
        } else if (!read_member(p, top)) {
            p->levels.n--;
        }
    }
}

/* "ROOT/scope": the names above a node and its own. */
static strid path_of(struct proton *p, uint32_t node)
{
    struct str names[LEVELS_MOST];
    struct arena scratch;
    size_t n = 0;

    for (; node != NO_NODE && n < LEVELS_MOST; node = p->nodes.at[node].parent)
        names[LEVELS_MOST - ++n] = capture_text(p->i->cap, p->nodes.at[node].name);
    arena_init(&scratch);
    strid path =
        capture_intern(p->i->cap, arena_join(&scratch, names + LEVELS_MOST - n, n, S("/")));
    arena_free(&scratch);
    return path;
}

static enum status proton_read_text(struct import *i, struct str text)
{
    struct proton p = {.i = i};
    uint32_t last = NO_NODE;
    strid path = 0;

    i->bytes = text.n;
    json_open(&p.j, text, JSON_LENIENT);
    bool is_list = json_next(&p.j) == JSON_ARRAY;
    if (is_list)
        read_tree(&p);
    for (size_t k = 0; k < p.nodes.n; k++)
        i->rows += p.nodes.at[k].name != 0;
    if (i->rows > 0 && (p.j.token == JSON_ERROR || p.j.recovered[JSON_TRUNCATED].count > 0))
        import_lose(i, import_byte(i, json_offset(&p.j)), "proton.damaged",
                    "damaged, cut short or nested too deeply: nodes from here on are skipped");
    for (size_t k = 0; k < p.metrics.n; k++) {
        const struct metric *m = &p.metrics.at[k];
        if (p.nodes.at[m->node].name == 0)
            continue;
        if (m->node != last)
            path = path_of(&p, m->node);
        last = m->node;
        capture_sample(i->cap, capture_series(i->cap, path, m->name, 0), 0, m->value);
    }
    i->cap->facts.kind = capture_intern(i->cap, S("proton"));
    vec_free(&p.nodes);
    vec_free(&p.metrics);
    vec_free(&p.levels);
    return i->rows > 0 ? ST_OK
                       : import_refuse(i, import_byte(i, 0), "proton.no-node",
                                       "not a tree of Proton: no node has a frame with a name");
}

static enum status read_proton(struct import *i)
{
    return import_whole(i, INT32_MAX, proton_read_text);
}

const struct input_format input_proton = {
    .name = "proton",
    .summary = "sums of Triton's profiler Proton, no timeline (hatchet JSON)",
    .looks_for = "*.hatchet",
    .names = "*.hatchet, *.hatchet.gz",
    .role = ROLE_WHOLE,
    .source = SOURCE_OTHER,
    .probe = proton_probe,
    .read = read_proton,
};
