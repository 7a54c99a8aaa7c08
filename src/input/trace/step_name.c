/* The spellings of steps. */
#include "input/trace/step_name.h"

#include "base/text/char.h"

static const struct {
    struct str prefix;
    enum mark_source source;
} prefixes[] = {
    {S_INIT("ProfilerStep#"), MARK_PROFILER_STEP},
    {S_INIT("Iteration"), MARK_ITERATION},
    {S_INIT("Step"), MARK_ITERATION},
};

bool step_name_parse(struct str name, enum mark_source *source, int64_t *number)
{
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (!str_starts_nocase(name, prefixes[i].prefix))
            continue;
        struct str rest = str_part(name, prefixes[i].prefix.n, name.n);
        if (rest.n > 0 && (rest.at[0] == '#' || rest.at[0] == ' ' || rest.at[0] == '_'))
            rest = str_part(rest, 1, rest.n);
        if (rest.n == 0 || !char_is_digit(rest.at[0]) || !num_i64(rest, number))
            continue;
        *source = prefixes[i].source;
        return true;
    }
    return false;
}

void step_name_mark(struct capture *cap, struct slice *slice, bool adds_mark)
{
    struct mark mark = {
        .name = slice->name, .begin = slice->begin, .end = nanos_add(slice->begin, slice->dur)};

    if (!step_name_parse(capture_text(cap, slice->name), &mark.source, &mark.number))
        return;
    slice->kind = SLICE_STEP;
    if (adds_mark)
        vec_push(&cap->marks, mark);
}
