/* Which dialect of trace a file is, by its first bytes. */
#include "base/files/gz.h"
#include "input/trace/trace_read.h"

static bool probe_text(struct str head, struct str name, enum trace_dialect *dialect)
{
    static const struct str kineto[] = {S_INIT("\"schemaVersion\""),
                                        S_INIT("\"deviceProperties\"")};
    static const struct str kineto_words[] = {S_INIT("\"External id\""), S_INIT("\"Ev Idx\""),
                                              S_INIT("\"cuda_runtime\""), S_INIT("\"ac2g\"")};
    static const struct str kineto_cats[] = {
        S_INIT("\"cpu_op\""),  S_INIT("\"kernel\""),    S_INIT("\"Kernel\""),
        S_INIT("\"Runtime\""), S_INIT("\"async_gpu\""), S_INIT("\"registers per thread\""),
    };
    static const struct str xla[] = {
        S_INIT("/device:GPU:"), S_INIT("/device:TPU:"),   S_INIT("\"/host:CPU\""),
        S_INIT("\"XLA Ops\""),  S_INIT("/gpu:0/stream:"),
    };
    static const struct str rocprof[] = {S_INIT("CPU HIP API\""), S_INIT("CPU HSA API\""),
                                         S_INIT("\"BeginNs\"")};
    static const struct str ascend_names[] = {S_INIT("\"Ascend Hardware\""), S_INIT("\"CANN\"")};
    static const struct str ascend[] = {
        S_INIT("\"Ascend Hardware\""),
        S_INIT("\"CANN\""),
        S_INIT("\"HostToDevice\""),
        S_INIT("AscendCL@"),
        S_INIT("\"async_npu\""),
        S_INIT("\"Overlap Analysis\""),
        S_INIT("\"torch_to_npu\""),
        S_INIT("\"ts\": \""),
        S_INIT("\"ts\":\""),
        S_INIT("\"AICORE OP\""),
        S_INIT("\"Op Overlap Analyse\""),
        S_INIT("\"fullname\": \"Default/"),
    };

    str_skip(&head, S("\xEF\xBB\xBF"));
    struct str text = str_trim(head);
    if (text.n == 0 || (text.at[0] != '[' && text.at[0] != '{'))
        return false;
    bool is_object = text.at[0] == '{';
    bool is_named = str_equal(name, S("trace_view.json")) || str_starts(name, S("msprof_")) ||
                    str_starts(name, S("ascend_timeline_display_"));
    struct str inside = str_trim(str_part(text, 1, text.n));
    if (is_named && (inside.n == 0 || str_equal(inside, S("]"))) && !is_object) {
        *dialect = TRACE_ASCEND; /* it was killed before the first event */
        return true;
    }
    if (!str_contains(text, S("\"ph\"")) &&
        !(is_object &&
          (str_contains(text, S("\"traceEvents\"")) || str_contains(text, S("\"schemaVersion\"")))))
        return false;
    bool is_ascend = STR_ANY(str_contains, text, ascend) || is_named;
    /* Keys that only Kineto writes are certain, then names that only Ascend's processes have; words
     * of Kineto stand in traces of ours, too, and its categories in anybody's. */
    if (STR_ANY(str_contains, text, xla) && !STR_ANY(str_contains, text, kineto))
        *dialect = TRACE_XLA;
    else if (STR_ANY(str_contains, text, rocprof) && !STR_ANY(str_contains, text, kineto))
        *dialect = TRACE_ROCPROF;
    else if (STR_ANY(str_contains, text, kineto) ||
             (STR_ANY(str_contains, text, kineto_words) &&
              !STR_ANY(str_contains, text, ascend_names)) ||
             (!is_ascend && STR_ANY(str_contains, text, kineto_cats)))
        *dialect = TRACE_KINETO;
    else
        *dialect = is_ascend ? TRACE_ASCEND : TRACE_CHROME;
    return true;
}

static bool find_dialect(const struct probe *p, enum trace_dialect *dialect)
{
    if (!gz_is(p->head))
        return probe_text(p->head, p->name, dialect);
    char *head = mem_grow(NULL, 1, INPUT_HEAD);
    struct str packed = p->head;
    struct gz gz;
    size_t n = 0, got;

    gz_init(&gz);
    while (n < INPUT_HEAD && (got = gz_read(&gz, &packed, head + n, INPUT_HEAD - n)) > 0)
        n += got;
    gz_fini(&gz);
    bool is_trace = probe_text((struct str){head, n}, p->name, dialect);
    mem_free(head);
    return is_trace;
}

int trace_probe(const struct probe *p, enum trace_dialect dialect)
{
    enum trace_dialect found;

    if (!find_dialect(p, &found))
        return 0;
    return dialect == TRACE_CHROME ? 50 : dialect == found ? 90 : 0;
}
