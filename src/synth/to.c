/*
 * to: files of a rank below the output folder, and the events of timelines.
 */
#include "synth/to.h"

#include "base/text/text.h"

#define MSPROF_FOLDER "20260101000000000_SYNTHABCDEFGHIJK/mindstudio_profiler_output"

static struct dialect dialect_of(const struct synth_options *o)
{
    struct dialect d = {
        .is_old = o->flavor == SYNTH_OLD,
        .is_new = o->flavor == SYNTH_NEW,
        .line_end = "\r\n",
        .stamp_end = "\t",
        .comm_core = "HCCL",
        .comm_lane = "HCCL",
        .quote = "\"",
        .stream_key = "Physic Stream Id",
        .level = o->level,
    };

    if (d.is_new) {
        d.line_end = "\n";
        d.comm_core = "COMMUNICATION";
        d.comm_lane = "Communication";
        d.quote = "";
    } else if (d.is_old) {
        d.stamp_end = "";
        d.stream_key = "Stream Id";
    } else if (o->level == 2) {
        d.line_end = "\n";
    }
    return d;
}

int64_t to_stream(enum synth_stream stream)
{
    static const int numbers[STREAM_COUNT] = {2, 5, 3, 7, 9};

    return numbers[stream];
}

/* Joins parts, the first of which begins a new text. */
static void to_join(struct text *t, struct str part, const char *separator)
{
    if (t->at != NULL)
        text_put(t, str_of(separator));
    text_put(t, part);
}

static struct str to_done(struct arena *arena, struct text *t)
{
    struct str text = arena_str(arena, text_view(t));

    text_free(t);
    return text;
}

struct str to_shapes(struct arena *arena, const struct synth_op *op, const char *separator)
{
    struct str rest = str_of(op->in), shape;
    struct text t = {0};

    while (str_split(&rest, ';', &shape))
        to_join(&t, shape, separator);
    return to_done(arena, &t);
}

struct str to_types(struct arena *arena, const struct synth_op *op, const char *separator)
{
    static const struct {
        struct str device, framework;
    } words[] = {
        {S_INIT("DT_BF16"), S_INIT("c10::BFloat16")},
        {S_INIT("FLOAT"), S_INIT("float")},
        {S_INIT("DOUBLE"), S_INIT("double")},
        {S_INIT("INT64"), S_INIT("long int")},
        {S_INIT("INT32"), S_INIT("int")},
        {S_INIT("BOOL"), S_INIT("bool")},
    };
    struct str rest = str_of(op->types != NULL ? op->types : op->kind->in_types), word;
    struct text t = {0};

    while (str_split(&rest, ';', &word)) {
        struct str out = word;
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (str_equal(words[i].device, word))
                out = words[i].framework;
        to_join(&t, out, separator);
    }
    return to_done(arena, &t);
}

struct str to_stack(struct arena *arena, const struct synth_op *op, const char *separator)
{
    struct str frames[STACK_DEPTH];
    struct text t = {0};

    record_stack(op, frames, arena);
    for (size_t i = 0; i < STACK_DEPTH; i++)
        to_join(&t, frames[i], separator);
    return to_done(arena, &t);
}

const char *to_level(enum host_kind kind, const struct dialect *d)
{
    switch (kind) {
    case HOST_ACL:
        return "AscendCL@";
    case HOST_NODE:
        return "Node@";
    case HOST_HCCL:
        return d->is_new ? "Communication@" : "Hccl@";
    default:
        return "Runtime@";
    }
}

void outlet_init(struct outlet *to, const struct sim *s, struct truth *truth, struct arena *arena,
                 struct diag *d)
{
    struct text ranks = {0};

    *to = (struct outlet){.sim = s, .rank = truth->rank, .truth = truth, .arena = arena, .diag = d};
    to->dialect = dialect_of(s->options);
    for (int64_t i = 0; i < s->world; i++)
        text_format(&ranks, "%s%lld", i > 0 ? ", " : "", (long long)i);
    to->ranks = arena_str(arena, text_view(&ranks));
    text_free(&ranks);
    arena_init(&to->scratch);
}

const char *to_folder(struct outlet *to, const char *below)
{
    return arena_printf(to->arena, "rank%d_ascend_pt%s", to->rank->id, below);
}

const char *to_output_folder(struct outlet *to)
{
    return to_folder(to, "/ASCEND_PROFILER_OUTPUT");
}

const char *to_msprof_folder(struct outlet *to)
{
    if ((to->sim->options->formats & (SYNTH_TEXT | SYNTH_DB)) != 0)
        return to_folder(to, "/PROF_000001_" MSPROF_FOLDER);
    return arena_printf(to->arena, "PROF_%06d_" MSPROF_FOLDER, to->rank->id + 1);
}

enum status to_path(struct outlet *to, const char *folder, const char *name, const char **path)
{
    const char *dir = fs_join(to->arena, to->sim->options->out, folder);

    TRY(fs_mkdirs_in(to->sim->options->out, dir, to->diag));
    *path = fs_join(to->arena, dir, name);
    return ST_OK;
}

enum status to_open(struct outlet *to, struct put *p, const char *folder, const char *name,
                    uint64_t limit)
{
    const char *path;

    TRY(to_path(to, folder, name, &path));
    return put_open(p, path, limit, to->diag);
}

void to_note(struct outlet *to, const char *path, uint64_t bytes, uint64_t records,
             uint64_t complete)
{
    path += strlen(to->sim->options->out);
    path += path[0] == '/';
    vec_push(&to->truth->files,
             ((struct truth_file){path, bytes, records, complete, complete != records}));
}

enum status to_close(struct outlet *to, struct put *p, uint64_t records, uint64_t complete)
{
    to_note(to, p->path, put_is_whole(p) ? put_bytes(p) : p->limit, records, complete);
    return put_close(p, to->diag);
}

enum status events_open(struct events *e, struct outlet *to, const char *folder, const char *name,
                        const char *between)
{
    e->to = to;
    e->between = between;
    return to_open(to, &e->put, folder, name, to->sim->options->truncate);
}

void events_begin(struct events *e)
{
    if (e->n > 0)
        put_str(&e->put, str_of(e->between));
}

void events_end(struct events *e)
{
    e->n++;
    if (put_is_whole(&e->put))
        e->complete = e->n;
}

enum status events_close(struct events *e)
{
    return to_close(e->to, &e->put, e->n, e->complete);
}

void events_abort(void *self)
{
    put_abort(&((struct events *)self)->put);
}

uint64_t events_bytes(const void *self)
{
    return put_bytes(&((const struct events *)self)->put);
}
