/*
 * Packets of GPUs: stages (kernels and other work), counters, what a GPU is.
 */
#include "input/perfetto/perfetto.h"

/* Interned lists of a sequence, by their fields. */
enum {
    INTERN_CONTEXT = 23,
    INTERN_STAGE = 24,
    INTERN_COUNTERS = 47,
    INTERN_KERNEL = 1000,
    INTERN_ARGUMENT = 1001,
};

/* ---- counters ---- */

/* A counter's description: 1 number, 2 name, 11 when a value holds. Of equal numbers the first
 * counts. */
static void add_counter(struct perfetto *p, struct perfetto_gpu_table *t, int64_t gpu,
                        struct str message)
{
    enum { FORWARD = 2 };
    struct perfetto_gpu_counter c = {.gpu = gpu};
    struct proto in = proto_of(message);
    struct proto_field f;
    struct str name;
    uint64_t id;

    perfetto_entry(message, &id, &name);
    c.name = capture_intern(p->cap, name);
    while (proto_next(&in, &f))
        if (f.number == 11 && f.wire == PROTO_VARINT)
            c.is_forward = f.value == FORWARD;
    if (id_map_get(&t->ids, (int64_t)id) != ID_MAP_NONE)
        return;
    id_map_put(&t->ids, (int64_t)id, (uint32_t)t->list.n);
    vec_push(&t->list, c);
}

/* The descriptions in a descriptor: 1. */
static void add_counters(struct perfetto *p, struct perfetto_gpu_table *t, int64_t gpu,
                         struct str message)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    while (proto_next(&in, &f))
        if (f.number == 1 && f.wire == PROTO_BYTES)
            add_counter(p, t, gpu, f.bytes);
}

static struct perfetto_gpu_table *trace_table(struct perfetto *p)
{
    if (p->gpu_tables.n == 0)
        vec_push(&p->gpu_tables, ((struct perfetto_gpu_table){.ids = {.sparse = {0}}}));
    return &p->gpu_tables.at[0];
}

/* A value: one that looks back belongs to the time of the sample before. */
static void add_value(struct perfetto *p, const struct perfetto_gpu_counter *c, nanos at,
                      double value)
{
    strid process = capture_intern_format(p->cap, "GPU %lld", (long long)c->gpu);
    series_id series = capture_series(p->cap, process, c->name, 0);
    uint32_t fresh = (uint32_t)p->lasts.n;
    uint32_t place = hash_add(&p->gpu_series, series, fresh);

    if (place == fresh)
        vec_push(&p->lasts, ((struct perfetto_last){series, 0}));
    struct perfetto_last *last = &p->lasts.at[place];
    if (c->is_forward) {
        capture_sample(p->cap, series, at, value);
        return;
    }
    if (last->sample > 0)
        p->cap->series.at[series].samples.at[last->sample - 1].value = value;
    capture_sample(p->cap, series, at, 0);
    last->sample = p->cap->series.at[series].samples.n;
}

/* A value of an event: 1 counter, 2 whole, 3 real. */
static void take_value(struct perfetto *p, const struct perfetto_gpu_table *t, struct str message,
                       nanos at)
{
    struct proto in = proto_of(message);
    struct proto_field f;
    double value = 0;
    uint64_t id = 0;

    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            id = f.value;
        else if (f.number == 2 && f.wire == PROTO_VARINT)
            value = (double)(int64_t)f.value;
        else if (f.number == 3 && f.wire == PROTO_FIXED64)
            value = proto_real(f.value);
    }
    uint32_t place = id_map_get(&t->ids, (int64_t)id);
    if (place != ID_MAP_NONE && !import_is_other_device(p->i, t->list.at[place].gpu))
        add_value(p, &t->list.at[place], at, value);
}

/* Fields: 1 descriptor, 2 values, 3 GPU, 4 descriptor that was interned. */
void perfetto_take_gpu_counters(struct perfetto *p, struct perfetto_sequence *s, struct str message,
                                nanos at, bool has_time)
{
    struct proto in = proto_of(message);
    struct str descriptor = S("");
    struct proto_field f;
    int64_t gpu = 0;
    uint32_t table = 0;

    trace_table(p);
    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_BYTES)
            descriptor = f.bytes;
        else if (f.number == 3 && f.wire == PROTO_VARINT)
            gpu = (int32_t)f.value;
        else if (f.number == 4 && f.wire == PROTO_VARINT)
            table = id_map_get(&s->lists[LIST_COUNTERS], (int64_t)f.value);
    }
    if (descriptor.n > 0)
        add_counters(p, trace_table(p), gpu, descriptor);
    if (!has_time || table >= p->gpu_tables.n)
        return;
    p->i->rows++;
    in = proto_of(message);
    while (proto_next(&in, &f))
        if (f.number == 2 && f.wire == PROTO_BYTES)
            take_value(p, &p->gpu_tables.at[table], f.bytes, at);
}

/* ---- what sequences intern ---- */

static void intern_stage(struct perfetto *p, struct perfetto_sequence *s, struct str message)
{
    struct str name;
    uint64_t id;

    perfetto_entry(message, &id, &name);
    id_map_put(&s->lists[LIST_STAGES], (int64_t)id, (uint32_t)p->stages.n);
    vec_push(&p->stages, ((struct perfetto_stage){capture_intern(p->cap, name)}));
}

enum { API_CUDA = 4, API_HIP = 5 };

/* Fields: 1 number, 2 process, 3 interface. */
static void intern_context(struct perfetto *p, struct perfetto_sequence *s, struct str message)
{
    struct perfetto_context context = {-1, 0};
    struct proto in = proto_of(message);
    struct proto_field f;
    uint64_t id = 0;

    while (proto_next(&in, &f)) {
        if (f.wire != PROTO_VARINT)
            continue;
        if (f.number == 1)
            id = f.value;
        else if (f.number == 2)
            context.pid = (int64_t)f.value;
        else if (f.number == 3)
            context.api = (int64_t)f.value;
    }
    if (p->cap->facts.vendor == VENDOR_UNKNOWN &&
        (context.api == API_CUDA || context.api == API_HIP))
        p->cap->facts.vendor = context.api == API_CUDA ? VENDOR_NVIDIA : VENDOR_AMD;
    id_map_put(&s->lists[LIST_CONTEXTS], (int64_t)id, (uint32_t)p->contexts.n);
    vec_push(&p->contexts, context);
}

/* Fields: 1 number, 2 name as compiled, 3 name as written, 4 architecture. */
static void intern_kernel(struct perfetto *p, struct perfetto_sequence *s, struct str message)
{
    struct perfetto_kernel kernel = {0};
    struct proto in = proto_of(message);
    struct proto_field f;
    uint64_t id = 0;

    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            id = f.value;
        else if (f.number == 2 && f.wire == PROTO_BYTES)
            kernel.mangled = capture_intern(p->cap, f.bytes);
        else if (f.number == 3 && f.wire == PROTO_BYTES)
            kernel.name = capture_intern(p->cap, f.bytes);
        else if (f.number == 4 && f.wire == PROTO_BYTES)
            kernel.arch = capture_intern(p->cap, f.bytes);
    }
    id_map_put(&s->lists[LIST_KERNELS], (int64_t)id, (uint32_t)p->kernels.n);
    vec_push(&p->kernels, kernel);
}

/* Fields: 1 number, 2 descriptor, 3 GPU. */
static void intern_counters(struct perfetto *p, struct perfetto_sequence *s, struct str message)
{
    struct proto in = proto_of(message);
    struct str descriptor = S("");
    struct proto_field f;
    int64_t gpu = 0;
    uint64_t id = 0;

    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            id = f.value;
        else if (f.number == 2 && f.wire == PROTO_BYTES)
            descriptor = f.bytes;
        else if (f.number == 3 && f.wire == PROTO_VARINT)
            gpu = (int32_t)f.value;
    }
    trace_table(p);
    struct perfetto_gpu_table table = {.ids = {.sparse = {0}}};
    add_counters(p, &table, gpu, descriptor);
    id_map_put(&s->lists[LIST_COUNTERS], (int64_t)id, (uint32_t)p->gpu_tables.n);
    vec_push(&p->gpu_tables, table);
}

/* Lists of a sequence that only packets of GPUs use. */
void perfetto_intern_gpu(struct perfetto *p, struct perfetto_sequence *s, uint32_t field,
                         struct str message)
{
    struct str text;
    uint64_t id;

    switch (field) {
    case INTERN_CONTEXT:
        intern_context(p, s, message);
        return;
    case INTERN_STAGE:
        intern_stage(p, s, message);
        return;
    case INTERN_COUNTERS:
        intern_counters(p, s, message);
        return;
    case INTERN_KERNEL:
        intern_kernel(p, s, message);
        return;
    case INTERN_ARGUMENT:
        if (perfetto_entry(message, &id, &text))
            id_map_put(&s->lists[LIST_ARGUMENTS], (int64_t)id, capture_intern(p->cap, text));
        return;
    default:
        return;
    }
}

/* ---- stages ---- */

struct stage {
    uint64_t id, dur, queue, number, old_queue, old_number, context, kernel, name_id;
    int64_t gpu;
    struct str name, launch, specs;
    bool has_dur, has_queue, has_number, has_old, has_kernel, has_name_id, has_context;
};

/* Members that are numbers. */
static void stage_number(struct stage *g, const struct proto_field *f)
{
    switch (f->number) {
    case 1:
        g->id = f->value;
        return;
    case 2:
        g->dur = f->value;
        g->has_dur = true;
        return;
    case 3:
        g->old_queue = f->value;
        g->has_old = true;
        return;
    case 4:
        g->old_number = f->value;
        return;
    case 5:
        g->context = f->value;
        g->has_context = true;
        return;
    case 11:
        g->gpu = (int32_t)f->value;
        return;
    case 13:
        g->queue = f->value;
        g->has_queue = true;
        return;
    case 14:
        g->number = f->value;
        g->has_number = true;
        return;
    case 19:
        g->kernel = f->value;
        g->has_kernel = true;
        return;
    case 20:
        g->name_id = f->value;
        g->has_name_id = true;
        return;
    default:
        return;
    }
}

/* Numbers of stages that this one waited for. */
static void add_waits(struct perfetto *p, const struct proto_field *f, uint32_t record)
{
    struct str left = f->bytes;
    uint64_t value = f->value;

    if (f->wire == PROTO_VARINT)
        vec_push(&p->arrows, ((struct perfetto_arrow){value, record, true, false}));
    while (f->wire == PROTO_BYTES && proto_packed(&left, &value))
        vec_push(&p->arrows, ((struct perfetto_arrow){value, record, true, false}));
}

static strid three(struct perfetto *p, struct str message)
{
    uint64_t n[3] = {0, 0, 0};
    struct proto in = proto_of(message);
    struct proto_field f;

    while (proto_next(&in, &f))
        if (f.number <= 3 && f.wire == PROTO_VARINT)
            n[f.number - 1] = f.value;
    return capture_intern_format(p->cap, "%llu,%llu,%llu", (unsigned long long)n[0],
                                 (unsigned long long)n[1], (unsigned long long)n[2]);
}

/* An argument of a launch: 1 name, 2 its number, 3 text, 4 whole, 5 unsigned, 6 real. */
static bool launch_argument(struct perfetto *p, const struct perfetto_sequence *s,
                            struct str message, struct attr *out)
{
    struct proto in = proto_of(message);
    struct proto_field f;
    strid key = 0;

    *out = (struct attr){0};
    while (proto_next(&in, &f)) {
        if (f.number == 1 && f.wire == PROTO_BYTES)
            key = capture_intern(p->cap, f.bytes);
        else if (f.number == 2 && f.wire == PROTO_VARINT)
            key = perfetto_text(s, LIST_ARGUMENTS, f.value);
        else if (f.wire == PROTO_VARINT)
            *out = attr_int(0, (int64_t)f.value);
        else if (f.wire == PROTO_FIXED64)
            *out = attr_real(0, proto_real(f.value));
        else if (f.wire == PROTO_BYTES)
            *out = attr_text(0, capture_intern(p->cap, f.bytes));
    }
    out->key = key;
    return key != 0 && out->type != ATTR_NONE;
}

/* Fields: 1 grid, 2 block, 3 arguments. */
static size_t put_launch(struct perfetto *p, const struct perfetto_sequence *s, struct str message,
                         struct attr *set, size_t n, size_t most)
{
    struct proto in = proto_of(message);
    struct proto_field f;

    while (proto_next(&in, &f)) {
        if (f.wire != PROTO_BYTES || n == most)
            continue;
        if (f.number == 1)
            set[n++] = attr_text(p->key_grid, three(p, f.bytes));
        else if (f.number == 2)
            set[n++] = attr_text(p->key_block, three(p, f.bytes));
        else if (f.number == 3 && launch_argument(p, s, f.bytes, &set[n]))
            n++;
    }
    return n;
}

/* The tables of queues (2) and stages (3) that old traces have once. */
static void take_old_tables(struct perfetto *p, struct str message)
{
    struct proto in = proto_of(message);
    struct proto_field f, g;

    while (proto_next(&in, &f)) {
        strid name = 0;
        if (f.wire != PROTO_BYTES || (f.number != 2 && f.number != 3))
            continue;
        struct proto entry = proto_of(f.bytes);
        while (proto_next(&entry, &g))
            if (g.number == 1 && g.wire == PROTO_BYTES)
                name = capture_intern(p->cap, g.bytes);
        if (f.number == 2)
            vec_push(&p->old_queues, name);
        else
            vec_push(&p->old_stages, name);
    }
}

/* The queue that a stage ran on; 0: it names one that nobody has described. */
static strid queue_of(struct perfetto *p, const struct perfetto_sequence *s, const struct stage *g)
{
    if (g->has_queue) {
        uint32_t place = id_map_get(&s->lists[LIST_STAGES], (int64_t)g->queue);
        return place < p->stages.n ? p->stages.at[place].name : 0;
    }
    if (g->old_queue < p->old_queues.n && p->old_queues.at[g->old_queue] != 0)
        return p->old_queues.at[g->old_queue];
    return capture_intern_format(p->cap, "Unknown GPU Queue %llu",
                                 (unsigned long long)g->old_queue);
}

static strid stage_name(struct perfetto *p, const struct perfetto_sequence *s,
                        const struct stage *g)
{
    uint32_t place =
        g->has_number ? id_map_get(&s->lists[LIST_STAGES], (int64_t)g->number) : ID_MAP_NONE;

    if (g->name.n > 0)
        return capture_intern(p->cap, g->name);
    if (g->has_name_id && perfetto_text(s, LIST_NAMES, g->name_id) != 0)
        return perfetto_text(s, LIST_NAMES, g->name_id);
    if (place < p->stages.n)
        return p->stages.at[place].name;
    if (!g->has_number && g->old_number < p->old_stages.n && p->old_stages.at[g->old_number] != 0)
        return p->old_stages.at[g->old_number];
    return capture_intern_format(p->cap, "render stage(%llu)",
                                 (unsigned long long)(g->has_number ? g->number : g->old_number));
}

/* What is known of it besides its name and times. */
static attr_run stage_attrs(struct perfetto *p, const struct perfetto_sequence *s,
                            const struct stage *g, const struct perfetto_kernel *kernel, strid name)
{
    static const char *const apis[] = {
        [2] = "Vulkan", [3] = "OpenCL", [API_CUDA] = "CUDA", [API_HIP] = "HIP"};
    enum { MOST = 24 };
    struct attr set[MOST];
    size_t n = 0;
    uint32_t context =
        g->has_context ? id_map_get(&s->lists[LIST_CONTEXTS], (int64_t)g->context) : ID_MAP_NONE;

    if (kernel != NULL && kernel->mangled != 0)
        set[n++] = attr_text(capture_intern(p->cap, S("mangled_name")), kernel->mangled);
    if (kernel != NULL && kernel->arch != 0)
        set[n++] = attr_text(capture_intern(p->cap, S("arch")), kernel->arch);
    if (kernel != NULL)
        set[n++] = attr_text(capture_intern(p->cap, S("stage")), name);
    if (context < p->contexts.n) {
        int64_t api = p->contexts.at[context].api;
        set[n++] = attr_int(capture_intern(p->cap, S("pid")), p->contexts.at[context].pid);
        if (api >= 2 && api < (int64_t)ARRAY_LEN(apis))
            set[n++] = attr_text(capture_intern(p->cap, S("api")),
                                 capture_intern(p->cap, str_of(apis[api])));
    }
    n = put_launch(p, s, g->launch, set, n, MOST);
    return attrs_set(&p->cap->attrs, set, n);
}

/* Work on the stream that its queue is. */
static void add_stage(struct perfetto *p, const struct perfetto_sequence *s, const struct stage *g,
                      nanos at, struct str message)
{
    strid queue = queue_of(p, s, g), name = stage_name(p, s, g);
    struct proto in = proto_of(message);
    struct proto_field f;

    if (queue == 0) {
        p->skipped++;
        return;
    }
    uint32_t place =
        g->has_kernel ? id_map_get(&s->lists[LIST_KERNELS], (int64_t)g->kernel) : ID_MAP_NONE;
    const struct perfetto_kernel *kernel = place < p->kernels.n ? &p->kernels.at[place] : NULL;
    strid of_kernel = kernel == NULL ? 0 : kernel->name != 0 ? kernel->name : kernel->mangled;
    struct perfetto_record record = {
        .at = at,
        .dur = g->dur < INT64_MAX ? (nanos)g->dur : -1,
        .track = perfetto_track(p, TRACK_QUEUE, (uint64_t)g->gpu, queue),
        .name = of_kernel != 0 ? of_kernel : name,
        .set = stage_attrs(p, s, g, kernel, name),
        .what = RECORD_WHOLE,
        .kind = SLICE_COMPUTE,
    };
    uint32_t number = perfetto_record(p, &record);
    hash_put(&p->stage_records, g->id, number);
    p->i->rows++;
    while (proto_next(&in, &f))
        if (f.number == 18)
            add_waits(p, &f, number);
}

/* Fields: see stage_number(); 7 old tables, 17 name, 21 launch. */
void perfetto_take_stage(struct perfetto *p, struct perfetto_sequence *s, struct str message,
                         nanos at)
{
    struct stage g = {.name = S(""), .launch = S(""), .specs = S("")};
    struct proto in = proto_of(message);
    struct proto_field f;

    while (proto_next(&in, &f)) {
        if (f.wire == PROTO_VARINT)
            stage_number(&g, &f);
        else if (f.wire == PROTO_BYTES && f.number == 17)
            g.name = f.bytes;
        else if (f.wire == PROTO_BYTES && f.number == 21)
            g.launch = f.bytes;
        else if (f.wire == PROTO_BYTES && f.number == 7)
            take_old_tables(p, f.bytes);
    }
    if (in.is_bad)
        import_lose(p->i, import_byte(p->i, p->member), "perfetto.damaged",
                    "damaged stage skipped");
    else if (g.has_dur || g.has_queue || g.has_number || g.has_old)
        add_stage(p, s, &g, at, message);
}

/* GPUs: 1, each with 1 name, 2 vendor, 4 architecture. The first one counts. */
void perfetto_gpu_info(struct perfetto *p, struct str message)
{
    struct facts *facts = &p->cap->facts;
    struct proto in = proto_of(message);
    struct proto_field f, g;

    while (proto_next(&in, &f)) {
        if (f.number != 1 || f.wire != PROTO_BYTES || facts->device_name != 0)
            continue;
        struct proto gpu = proto_of(f.bytes);
        while (proto_next(&gpu, &g)) {
            if (g.number == 1 && g.wire == PROTO_BYTES && g.bytes.n < 256)
                facts->device_name = capture_intern(p->cap, g.bytes);
            else if (g.number == 2 && g.wire == PROTO_BYTES)
                facts->vendor = str_contains_nocase(g.bytes, S("nvidia")) ? VENDOR_NVIDIA
                                : str_contains_nocase(g.bytes, S("amd"))  ? VENDOR_AMD
                                                                          : facts->vendor;
        }
    }
}
