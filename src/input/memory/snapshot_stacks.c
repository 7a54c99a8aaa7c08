/*
 * Frames and stacks of a memory snapshot: equal ones are one, and three frames name a stack.
 */
#include "input/memory/snapshot_in.h"

/* "f(int, g(char))" and "f() const" without what stands in the last brackets. */
static struct str without_arguments(struct str name)
{
    struct str head = str_ends(name, S(" const")) ? str_part(name, 0, name.n - 6) : name;
    size_t depth = 0;

    if (!str_ends(head, S(")")))
        return name;
    for (size_t i = head.n; i-- > 1;) {
        depth += head.at[i] == ')';
        if (head.at[i] == '(' && --depth == 0)
            return str_part(head, 0, i);
    }
    return name;
}

/* "file.py:12:name", without the folder of the file; frames that are equal are one. */
uint32_t snapshot_stack_frame(struct snapshot_reader *r, strid file, int64_t line, strid name)
{
    uint64_t hash = hash_mix(hash_mix(file, name), (uint64_t)line);
    uint32_t fresh = (uint32_t)r->frames.n, place;

    for (;; hash = hash_mix(hash, 1)) { /* another frame with this hash: look further along */
        place = hash_add(&r->frame_ids, hash, fresh);
        if (place == fresh)
            break;
        if (r->frames.at[place].file == file && r->frames.at[place].name == name &&
            r->frames.at[place].line == line)
            return place;
    }
    struct str path = capture_text(r->cap, file), base = path, what = capture_text(r->cap, name);
    for (size_t i = 0; i < path.n; i++)
        if (path.at[i] == '/' || path.at[i] == '\\')
            base = str_part(path, i + 1, path.n);
    what = without_arguments(what);
    struct snapshot_frame frame = {
        .file = file,
        .name = name,
        .line = line,
        .is_python = str_ends(path, S(".py")),
        .is_inner = str_starts(what, S("torch::unwind")) ||
                    str_starts(what, S("torch::CapturedTraceback::gather")) ||
                    str_contains(what, S("gather_with_cpp")),
        .text = capture_intern_format(r->cap, "%.*s:%lld:%.*s", STR_ARGS(base), (long long)line,
                                      STR_ARGS(str_part(what, 0, 200))),
    };
    r->is_npu = r->is_npu || str_contains(path, S("torch_npu"));
    vec_push(&r->frames, frame);
    return place;
}

static void stack_add(const struct snapshot_reader *r, struct snapshot_stack *stack, uint32_t frame)
{
    const struct snapshot_frame *f = &r->frames.at[frame];

    if (f->is_python && stack->n_python < SNAPSHOT_FRAMES)
        stack->python[stack->n_python++] = frame;
    if (!f->is_inner && stack->n_others < SNAPSHOT_FRAMES)
        stack->others[stack->n_others++] = frame;
}

static bool stack_is_same(const struct snapshot_stack *a, const struct snapshot_stack *b)
{
    return a->n_python == b->n_python && a->n_others == b->n_others &&
           memcmp(a->python, b->python, sizeof(a->python)) == 0 &&
           memcmp(a->others, b->others, sizeof(a->others)) == 0;
}

static uint32_t keep_stack(struct snapshot_reader *r, const struct snapshot_stack *stack)
{
    uint32_t fresh = (uint32_t)r->stacks.n, place;
    uint64_t hash = hash_mix(stack->n_python, stack->n_others);

    for (size_t i = 0; i < SNAPSHOT_FRAMES; i++)
        hash = hash_mix(hash, (uint64_t)stack->python[i] << 32 | stack->others[i]);
    for (;; hash = hash_mix(hash, 1)) {
        place = hash_add(&r->stack_ids, hash, fresh);
        if (place == fresh || stack_is_same(&r->stacks.at[place], stack))
            break;
    }
    if (place == fresh)
        vec_push(&r->stacks, *stack);
    return place;
}

strid snapshot_stack_text(struct snapshot_reader *r, const struct pickle_value *v)
{
    if (v == NULL || v->kind != PICKLE_STACK)
        return 0;
    struct snapshot_stack *s = &r->stacks.at[v->number];
    const uint32_t *frames = s->n_python > 0 ? s->python : s->others;
    size_t n = s->n_python > 0 ? s->n_python : s->n_others;
    if (s->text != 0 || n == 0)
        return s->text;
    struct str texts[SNAPSHOT_FRAMES];
    struct arena scratch;
    arena_init(&scratch);
    for (size_t i = 0; i < n; i++)
        texts[i] = capture_text(r->cap, r->frames.at[frames[i]].text);
    s->text = capture_intern(r->cap, arena_join(&scratch, texts, n, S(" < ")));
    arena_free(&scratch);
    return s->text;
}

void snapshot_stack_append(struct snapshot_reader *r, struct pickle_value *list,
                           const struct pickle_value *values, size_t n)
{
    struct snapshot_stack stack = {0};

    if (list->kind == PICKLE_STACK)
        stack = r->stacks.at[list->number];
    stack.text = 0;
    for (size_t i = 0; i < n; i++)
        stack_add(r, &stack, (uint32_t)values[i].number);
    list->kind = PICKLE_STACK;
    list->number = keep_stack(r, &stack);
}
