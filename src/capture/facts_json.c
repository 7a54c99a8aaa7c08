/* Facts and marks as JSON. */
#include "capture/facts_json.h"

#include "base/formats/json_read.h"
#include "base/formats/json_write.h"

/* The members of struct facts, by their keys. */
static const struct {
    struct str key;
    size_t at;
} numbers[] =
    {
        {S_INIT("rank"), offsetof(struct facts, rank)},
        {S_INIT("world_size"), offsetof(struct facts, world_size)},
        {S_INIT("device"), offsetof(struct facts, device)},
        {S_INIT("device_memory"), offsetof(struct facts, device_memory)},
        {S_INIT("device_cores"), offsetof(struct facts, device_cores)},
        {S_INIT("device_clock"), offsetof(struct facts, device_clock)},
        {S_INIT("device_bandwidth"), offsetof(struct facts, device_bandwidth)},
        {S_INIT("level"), offsetof(struct facts, level)},
        {S_INIT("record_shapes"), offsetof(struct facts, record_shapes)},
        {S_INIT("with_stack"), offsetof(struct facts, with_stack)},
},
  texts[] = {
      {S_INIT("kind"), offsetof(struct facts, kind)},
      {S_INIT("producer"), offsetof(struct facts, producer)},
      {S_INIT("device_name"), offsetof(struct facts, device_name)},
      {S_INIT("device_cc"), offsetof(struct facts, device_cc)},
      {S_INIT("host"), offsetof(struct facts, host)},
};

static int64_t *number_at(struct facts *facts, size_t i)
{
    return (int64_t *)(void *)((char *)facts + numbers[i].at);
}

static strid *text_at(struct facts *facts, size_t i)
{
    return (strid *)(void *)((char *)facts + texts[i].at);
}

/* ---- writing ---- */

/* Those that the cut touches. */
static void write_marks(struct json_writer *w, const struct cut *cut)
{
    const struct capture *cap = cut->cap;
    bool is_all = cut->bits == NULL;

    json_put_array(w, "marks");
    for (size_t i = 0; i < cap->marks.n; i++) {
        const struct mark *m = &cap->marks.at[i];
        if (!is_all && (m->begin >= cut->span.end || m->end <= cut->span.begin))
            continue;
        json_write_array(w);
        json_write_i64(w, m->source);
        json_write_string(w, capture_text(cap, m->name));
        json_write_i64(w, m->number);
        json_write_i64(w, m->begin);
        json_write_i64(w, m->end);
        json_write_end(w);
    }
    json_write_end(w);
}

struct str facts_json(const struct cut *cut, nanos shift, struct arena *out)
{
    const struct capture *cap = cut->cap;
    struct facts facts = cap->facts;
    const struct {
        const char *key;
        int64_t value;
        bool is_known;
    } others[] = {
        {"vendor", facts.vendor, true},
        {"origin", cap->origin, true},
        {"hz", cap->clock.hz, true},
        {"to_unix", cap->clock.to_unix, cap->clock.has_unix},
        {"shift", shift, shift != 0},
        {"is_incore", 1, facts.is_incore},
        {"is_rank_free", 1, facts.is_rank_free},
    };
    struct text text = {0};
    struct json_writer w;

    json_write_init(&w, text_sink(&text), JSON_COMPACT);
    json_write_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (others[i].is_known)
            json_put_i64(&w, others[i].key, others[i].value);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (*number_at(&facts, i) != UNKNOWN)
            json_put_i64(&w, numbers[i].key.at, *number_at(&facts, i));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (*text_at(&facts, i) != 0)
            json_put_str(&w, texts[i].key.at, capture_text(cap, *text_at(&facts, i)));
    if (cap->marks.n > 0)
        write_marks(&w, cut);
    json_write_end(&w);
    json_write_finish(&w);
    struct str kept = arena_str(out, text_view(&text));
    text_free(&text);
    return kept;
}

/* ---- reading ---- */

static strid intern_value(struct capture *cap, const struct json *j, struct str value)
{
    struct arena scratch;

    if (!j->has_escapes)
        return capture_intern(cap, value);
    arena_init(&scratch);
    strid id = capture_intern(cap, json_text(value, &scratch));
    arena_free(&scratch);
    return id;
}

/* [source, name, number, begin, end] */
static void read_mark(struct capture *cap, struct json *j)
{
    struct mark mark = {0};
    int64_t number[5] = {0};
    bool is_good = true;
    struct str value;
    size_t n = 0;

    if (json_value(j, &value) || j->token != JSON_ARRAY || json_next(j) != JSON_ARRAY)
        return;
    for (; json_element(j); n++) {
        if (!json_value(j, &value))
            is_good = false;
        else if (n == 1)
            mark.name = intern_value(cap, j, value);
        else
            is_good = is_good && n < ARRAY_LEN(number) && num_i64(value, &number[n]);
    }
    if (!is_good || n != ARRAY_LEN(number) || number[0] < 0 || number[0] > MARK_STEP_TRACE)
        return;
    mark.source = (enum mark_source)number[0];
    mark.number = number[2];
    mark.begin = number[3];
    mark.end = number[4];
    vec_push(&cap->marks, mark);
}

static void read_number(struct capture *cap, struct str key, int64_t number, nanos *shift)
{
    if (str_equal(key, S("vendor")) && number >= 0 && number <= VENDOR_AMD)
        cap->facts.vendor = (enum vendor)number;
    else if (str_equal(key, S("origin")) && number >= 0 && number <= ORIGIN_INFERRED)
        cap->origin = (enum origin)number;
    else if (str_equal(key, S("hz")) && number > 0)
        cap->clock.hz = number;
    else if (str_equal(key, S("shift")))
        *shift = number;
    else if (str_equal(key, S("is_incore")) && number == 1)
        capture_set_incore(cap);
    else if (str_equal(key, S("is_rank_free")))
        cap->facts.is_rank_free = number == 1;
    else if (str_equal(key, S("to_unix"))) {
        cap->clock.to_unix = number;
        cap->clock.has_unix = true;
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (str_equal(key, numbers[i].key))
            *number_at(&cap->facts, i) = number;
}

nanos facts_json_read(struct capture *cap, struct str text)
{
    struct str key, value;
    int64_t number;
    nanos shift = 0;
    struct json j;

    json_open(&j, text, JSON_LENIENT);
    if (json_next(&j) != JSON_OBJECT)
        return 0;
    while (json_key(&j, &key)) {
        if (str_equal(key, S("marks")) && !json_value(&j, &value)) {
            if (j.token != JSON_ARRAY || json_next(&j) != JSON_ARRAY)
                continue;
            while (json_element(&j))
                read_mark(cap, &j);
            continue;
        }
        if (!json_value(&j, &value))
            continue;
        if (j.token == JSON_NUMBER && num_i64(value, &number))
            read_number(cap, key, number, &shift);
        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
            if (j.token == JSON_STRING && str_equal(key, texts[i].key))
                *text_at(&cap->facts, i) = intern_value(cap, &j, value);
    }
    return shift;
}
