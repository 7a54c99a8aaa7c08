/*
 * write_sample DIR - a capture with a bit of everything, written in every timeline format, beside
 * truth.json that lists what is in it without the help of those writers.
 *
 * DIR gets all.* with everything and cut.* with two clipped windows, for tests/convert/check.py.
 */
#include <stdio.h>

#include "answers/answer_tables.h"
#include "base/files/fs.h"
#include "base/formats/json_write.h"
#include "capture/title.h"

static struct capture *cap;
static uint32_t seed = 1;

static uint32_t next(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static strid text(const char *s)
{
    return capture_intern(cap, str_of(s));
}

static lane_id add_lane(enum lane_kind kind, int device, const char *process, const char *name,
                        int64_t pid, int64_t tid)
{
    return capture_lane(cap, (struct lane_key){.kind = kind,
                                               .device = device,
                                               .process = text(process),
                                               .name = text(name),
                                               .pid = pid,
                                               .tid = tid});
}

static attr_run some_set(void)
{
    static const char *const shapes[] = {"64,4096;4096", "\"quoted\"", "tab\tnew\nline", "naïve ∑"};
    struct attr list[] = {
        attr_text(cap->keys[KEY_CAT], text(next(2) == 0 ? "kernel" : "cpu_op")),
        attr_text(cap->keys[KEY_INPUT_SHAPES], text(shapes[next(4)])),
        attr_real(text("occupancy"), next(100) / 7.0),
        attr_int(cap->keys[KEY_BLOCK_DIM], next(3)),
    };

    return attrs_set(&cap->attrs, list, next(5));
}

static attr_run some_own(void)
{
    struct attr list[] = {
        attr_time(cap->keys[KEY_WAIT], (nanos)next(5000) - 100),
        attr_int(cap->keys[KEY_TASK], next(2) == 0 ? INT64_MIN : INT64_MAX),
        attr_text(cap->keys[KEY_STEP], text(next(2) == 0 ? "" : "7")),
        attr_int(cap->keys[KEY_BLOCK_DIM], 99), /* hides the one of the set */
    };

    return attrs_own(&cap->attrs, list, next(5));
}

static const char *some_name(void)
{
    static const char *const names[] = {"MatMul", "a \"b\" \\c/", "void f<int, 4>(T*)", "∑ 核", ""};

    return names[next(5)];
}

static uint32_t add_slice(lane_id lane, nanos begin, nanos dur)
{
    return capture_slice(cap, &(struct slice){.begin = begin,
                                              .dur = dur,
                                              .lane = lane,
                                              .name = text(some_name()),
                                              .set = some_set(),
                                              .own = some_own(),
                                              .kind = (enum slice_kind)next(SLICE_OTHER + 1)});
}

static void add_threads(void)
{
    lane_id main_lane = add_lane(LANE_THREAD, -1, "python", "main", 4711, 4711);
    lane_id other = add_lane(LANE_THREAD, -1, "python", "main", 4711, 4712);

    add_lane(LANE_THREAD, -1, "python", "never used", 4711, 4713);
    for (nanos at = 0; at < 400000; at += 1000) { /* nested calls, some of no length */
        add_slice(main_lane, at, 900);
        add_slice(main_lane, at, 400);
        add_slice(main_lane, at + 400, 500);
        add_slice(main_lane, at + 450, 0);
        add_slice(other, at + next(500), next(300));
    }
}

static void add_streams(void)
{
    lane_id seven = add_lane(LANE_STREAM, 0, "", "7", 0, 0);
    lane_id wild = add_lane(LANE_STREAM, 0, "", "20", 0, 0);
    lane_id comm = add_lane(LANE_COMM, 0, "", "N/A", 0, 0);
    lane_id third = add_lane(LANE_STREAM, 1, "GPU 1", "7", 4711, 0); /* the number is taken */

    for (nanos at = 0; at < 400000; at += 500) {
        add_slice(seven, at + next(100), next(300));
        add_slice(third, at, 500);
    }
    for (int i = 0; i < 60; i++) { /* all open at once, none inside another */
        add_slice(wild, 1000 + i, 5000);
        add_slice(wild, 20000 + i, next(200));
    }
    for (int i = 0; i < 1000; i++)
        add_slice(comm, next(400000), next(2000));
}

static void add_rest(void)
{
    series_id memory = capture_series(cap, text("python"), text("memory"), text("bytes"));
    series_id power = capture_series(cap, 0, text("power"), 0);

    for (nanos at = 0; at < 400000; at += 4000) {
        capture_sample(cap, memory, at, next(1000) * 4096.0);
        capture_sample(cap, power, at, next(1000) / 3.0);
    }
    for (int i = 0; i < 800; i++)
        capture_flow(cap, (enum flow_kind)next(FLOW_OTHER + 1), next((uint32_t)cap->slices.n),
                     next((uint32_t)cap->slices.n));
}

static void put_attrs(struct json_writer *w, const struct slice *s)
{
    const attr_run runs[] = {s->own, s->set};

    json_write_object(w);
    for (size_t r = 0; r < 2; r++) {
        struct attr_walk walk = attrs_walk(&cap->attrs, runs[r]);
        for (struct attr a; attrs_next(&walk, &a);) {
            char key[128];
            if (r == 1 && attrs_get(&cap->attrs, s->own, a.key).type != ATTR_NONE)
                continue;
            snprintf(key, sizeof(key), "%.*s%s", STR_ARGS(capture_text(cap, a.key)),
                     a.type == ATTR_TIME ? "_ns" : "");
            json_write_key(w, str_of(key));
            if (a.type == ATTR_TEXT)
                json_write_string(w, capture_text(cap, a.text));
            else if (a.type == ATTR_REAL)
                json_write_f64(w, a.real);
            else
                json_write_i64(w, a.number);
        }
    }
    json_write_end(w);
}

static void put_slice(struct json_writer *w, size_t i)
{
    struct slice s = slices_at(&cap->slices, i);
    char process[TITLE_TEXT], lane[TITLE_TEXT];

    json_write_object(w);
    json_write_key(w, S("process"));
    json_write_string(w, title_process(cap, s.lane, process));
    json_write_key(w, S("lane"));
    json_write_string(w, title_lane(cap, s.lane, lane));
    json_write_key(w, S("lane_number"));
    json_write_i64(w, s.lane);
    json_write_key(w, S("begin"));
    json_write_i64(w, s.begin);
    json_write_key(w, S("dur"));
    json_write_i64(w, s.dur);
    json_write_key(w, S("kind"));
    json_write_string(w, str_of(slice_kind_name(s.kind)));
    json_write_key(w, S("name"));
    json_write_string(w, capture_text(cap, s.name));
    json_write_key(w, S("args"));
    put_attrs(w, &s);
    json_write_end(w);
}

static void put_truth(struct json_writer *w, const struct interval *windows, size_t n)
{
    json_write_object(w);
    json_write_key(w, S("windows"));
    json_write_array(w);
    for (size_t i = 0; i < n; i++) {
        json_write_i64(w, windows[i].begin);
        json_write_i64(w, windows[i].end);
    }
    json_write_end(w);
    json_write_key(w, S("slices"));
    json_write_array(w);
    for (size_t i = 0; i < cap->slices.n; i++)
        put_slice(w, i);
    json_write_end(w);
    json_write_key(w, S("flows"));
    json_write_array(w);
    for (size_t i = 0; i < cap->flows.n; i++) {
        json_write_array(w);
        json_write_i64(w, cap->flows.at[i].from);
        json_write_i64(w, cap->flows.at[i].to);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_key(w, S("samples"));
    json_write_array(w);
    for (size_t i = 0; i < cap->series.n; i++)
        for (size_t k = 0; k < cap->series.at[i].samples.n; k++) {
            json_write_array(w);
            json_write_string(w, capture_text(cap, cap->series.at[i].name));
            json_write_i64(w, cap->series.at[i].samples.at[k].at);
            json_write_f64(w, cap->series.at[i].samples.at[k].value);
            json_write_end(w);
        }
    json_write_end(w);
    json_write_end(w);
    json_write_finish(w);
}

static bool save_cut(const char *dir, const char *name, const struct cut_options *options,
                     struct diag *d)
{
    struct answer_tables tables;
    struct cut cut;

    cut_init(&cut, cap, options);
    bool good = answer_tables_init(&tables, &cut, 1, d) == ST_OK;
    for (size_t i = 0; i < timeline_count; i++) {
        struct timeline_options how = {.rows = TIMELINE_SLICES, .tables = &tables.tables};
        struct outfile file;
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s%s", dir, name, timeline_list[i]->endings[0]);
        good = outfile_open(&file, path, d) == ST_OK &&
               timeline_list[i]->write(&cut, &how, outfile_sink(&file)) &&
               outfile_commit(&file, OUTFILE_FAST, d) == ST_OK && good;
    }
    answer_tables_fini(&tables);
    cut_fini(&cut);
    return good;
}

int main(int argc, char **argv)
{
    struct interval windows[] = {{100200, 150300}, {150900, 290001}};
    struct json_writer w;
    struct outfile file;
    struct diag d;
    char path[4096];

    if (argc != 2)
        return 2;
    cap = capture_new();
    cap->name = "sample";
    cap->facts.kind = text("kineto");
    cap->facts.rank = 3;
    cap->clock.to_unix = 1700000000000000000;
    cap->clock.has_unix = true;
    add_threads();
    add_streams();
    add_rest();
    capture_seal(cap);
    diag_init(&d);
    snprintf(path, sizeof(path), "%s/truth.json", argv[1]);
    bool good = outfile_open(&file, path, &d) == ST_OK;
    if (good) {
        json_write_init(&w, outfile_sink(&file), JSON_COMPACT);
        put_truth(&w, windows, ARRAY_LEN(windows));
        good = outfile_commit(&file, OUTFILE_FAST, &d) == ST_OK;
    }
    struct cut_options cut = {.windows = {windows, ARRAY_LEN(windows)}, .clip = true};
    good = save_cut(argv[1], "all", &(struct cut_options){0}, &d) && good;
    good = save_cut(argv[1], "cut", &cut, &d) && good;
    diag_fini(&d);
    capture_free(cap);
    return good ? 0 : 1;
}
