/*
 * damage CUTS FLIPS SEED FOLDER... - every importer against damaged samples.
 *
 * Each file below a FOLDER that an importer knows is cut at CUTS random places and has a random
 * byte changed FLIPS times; each result is read, sealed and looked over. An importer may refuse a
 * file and then says why; it may lose rows and then names the loss and, in text, the place. A trace
 * that was cut is always told. Exit 1 when one keeps silent or no file was read; a FOLDER that is
 * not there is left out. The same seed damages the same places.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/files/mapfile.h"
#include "capture/capture.h"
#include "input/input.h"

enum { DEEPEST = 12, PATH_MOST = 4096 };

static struct {
    uint64_t cuts, flips, seed;
    size_t files, reads, refused, lossy, silent;
} run;

/* xorshift64*: all that is asked of it is to be the same everywhere. */
static uint64_t roll(uint64_t below)
{
    run.seed ^= run.seed >> 12;
    run.seed ^= run.seed << 25;
    run.seed ^= run.seed >> 27;
    return (run.seed * UINT64_C(2685821657736338717) >> 16) % below;
}

static bool has_severity(const struct diag *d, enum severity least)
{
    for (size_t i = 0; i < d->entries.n; i++)
        if (d->entries.at[i].severity >= least)
            return true;
    return false;
}

/* Whether the losses of a text say where they are: a line or a byte. */
static bool has_places(const struct diag *d)
{
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct where *where = &d->entries.at[i].first[0].where;
        bool is_somewhere = where->line > 0 || where->byte > 0;
        /* An event that is never ended is known only at the end. */
        if (d->entries.at[i].severity == SEV_LOSS && !is_somewhere &&
            strcmp(d->entries.at[i].code, "trace.unpaired") != 0)
            return false;
    }
    return true;
}

static bool is_text(const struct input_format *format)
{
    static const struct input_format *const others[] = {
        &input_analysis_db, &input_ascend_db,    &input_nsys,           &input_rocpd,
        &input_rpd,         &input_strata_trace, &input_visualize_data,
    };

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (format == others[i])
            return false;
    return true;
}

/* JSON cannot be cut without breaking it, unless only blanks went. */
static bool is_json(const struct input_format *format)
{
    static const struct input_format *const formats[] = {
        &input_chrome_trace,         &input_kineto,        &input_trace_view, &input_communication,
        &input_communication_matrix, &input_profiler_info,
    };

    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (format == formats[i])
            return true;
    return false;
}

/* Does the capture hold together? Numbers that point nowhere would crash an analysis. */
static bool is_sound(const struct capture *cap)
{
    for (size_t i = 0; i < cap->slices.n; i++)
        if (cap->slices.lane[i] >= cap->lanes.n || cap->slices.name[i] >= cap->strings.strings.n ||
            cap->slices.dur[i] < 0)
            return false;
    for (size_t i = 0; i < cap->flows.n; i++)
        if (cap->flows.at[i].from >= cap->slices.n || cap->flows.at[i].to >= cap->slices.n)
            return false;
    return true;
}

static void complain(const char *path, const char *what, size_t at, const char *why)
{
    printf("%s: %s at byte %zu: %s\n", path, what, at, why);
    run.silent++;
}

/* Reads a text as the file it is said to be. */
static void read_text(const struct input_format *format, const char *path, struct str text,
                      const char *what, size_t at, bool is_cut)
{
    struct input_options options = input_defaults();
    struct capture *cap = capture_new();
    uint64_t lost = 0;
    struct diag d;

    diag_init(&d);
    enum status st = input_read(
        format, &(struct input_file){.path = path, .text = text, .diag = &d, .options = &options},
        cap);
    run.reads++;
    if (st != ST_OK) {
        run.refused++;
        if (!has_severity(&d, SEV_ERROR))
            complain(path, what, at, "refused without a reason");
    } else {
        capture_seal(cap);
        for (size_t i = 0; i < cap->sources.n; i++)
            lost += cap->sources.at[i].lost;
        run.lossy += lost > 0;
        if (lost > 0 && !has_severity(&d, SEV_LOSS))
            complain(path, what, at, "rows were lost and nothing says so");
        if (!is_sound(cap))
            complain(path, what, at, "the capture does not hold together");
        if (is_text(format) && !has_places(&d))
            complain(path, what, at, "a loss does not say where it is");
        if (is_cut && is_json(format) && !has_severity(&d, SEV_WARN))
            complain(path, what, at, "nothing says that the file was cut");
    }
    capture_free(cap);
    diag_fini(&d);
}

static void damage(const struct input_format *format, const char *path, struct str text)
{
    char *copy = malloc(text.n); /* exactly as long as the text, so that reading past it shows */

    if (copy == NULL)
        exit(2);
    for (uint64_t i = 0; i < run.cuts; i++) {
        size_t n = (size_t)roll(text.n);
        char *part = malloc(n > 0 ? n : 1);
        if (part == NULL)
            exit(2);
        memcpy(part, text.at, n);
        read_text(format, path, (struct str){part, n}, "cut", n,
                  str_trim(str_part(text, n, text.n)).n > 0);
        free(part);
    }
    memcpy(copy, text.at, text.n);
    for (uint64_t i = 0; i < run.flips; i++) {
        size_t at = (size_t)roll(text.n);
        copy[at] = (char)(text.at[at] ^ (char)(1 + roll(255)));
        read_text(format, path, (struct str){copy, text.n}, "changed", at, false);
        copy[at] = text.at[at];
    }
    free(copy);
}

static void try_file(const char *path)
{
    const struct input_format *format;
    struct mapfile map;
    struct diag d;

    diag_init(&d);
    if (mapfile_open(&map, path, &d) == ST_OK) {
        const char *name = strrchr(path, '/');
        struct probe probe = {path, str_of(name != NULL ? name + 1 : path),
                              str_part(map.text, 0, INPUT_HEAD)};
        if (map.text.n > 0 && input_pick(&probe, NULL, &d, &format) == ST_OK) {
            run.files++;
            damage(format, path, map.text);
        }
        mapfile_close(&map);
    }
    diag_fini(&d);
}

static void visit(const char *path, int depth);

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void visit_folder(const char *path, int depth)
{
    struct dirent **names;
    char inner[PATH_MOST];
    int n = scandir(path, &names, NULL, by_name);

    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.' &&
            (size_t)snprintf(inner, sizeof(inner), "%s/%s", path, names[i]->d_name) < sizeof(inner))
            visit(inner, depth + 1);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

static void visit(const char *path, int depth)
{
    struct stat st;

    if (depth > DEEPEST || stat(path, &st) != 0)
        return;
    if (S_ISDIR(st.st_mode))
        visit_folder(path, depth);
    else if (S_ISREG(st.st_mode))
        try_file(path);
}

int main(int argc, char **argv)
{
    struct stat st;

    if (argc < 5) {
        fprintf(stderr, "usage: damage CUTS FLIPS SEED FOLDER...\n");
        return 2;
    }
    run.cuts = strtoull(argv[1], NULL, 10);
    run.flips = strtoull(argv[2], NULL, 10);
    run.seed = strtoull(argv[3], NULL, 10) * 2 + 1;
    for (int i = 4; i < argc; i++) {
        if (stat(argv[i], &st) != 0)
            printf("left out (third-party, not there): %s\n", argv[i]);
        visit(argv[i], 0);
    }
    printf("%zu files, %zu reads: %zu refused, %zu with losses, %zu silent\n", run.files, run.reads,
           run.refused, run.lossy, run.silent);
    return run.silent > 0 || run.files == 0 ? 1 : 0;
}
