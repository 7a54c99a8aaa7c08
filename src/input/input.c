#include "input/input.h"

#include <errno.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mapfile.h"
#include "capture/capture.h"

static const struct input_format *const formats[] = {
#define INPUT(sym) &input_##sym,
#include "input/inputs.def"
#undef INPUT
};

/* strata's own results stand in this folder; they are never input. */
static const struct str skipped_folders[] = {S_INIT("strata")};

static const struct input_format *format_named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_equal(str_of(formats[i]->name), name))
            return formats[i];
    return NULL;
}

/* What the bytes are when no importer wants them: the common accidents have names. */
static enum status refuse(const struct probe *p, struct diag *d)
{
    struct where where = {.path = p->path};

    if (p->head.n == 0)
        return diag_fail(d, ST_FORMAT, "input.empty", where, "the file is empty");
    if (str_starts(p->head, S("version https://git-lfs.github.com/spec/"))) {
        diag_hint(d, "try", "git lfs pull, which fetches the real file");
        return diag_fail(d, ST_FORMAT, "input.lfs-pointer", where,
                         "a Git LFS pointer, not the data it stands for");
    }
    return diag_fail(d, ST_UNSUPPORTED, "input.unknown", where,
                     "not a format that strata reads, or damaged at its start");
}

enum status input_pick(const struct probe *p, const char *format, struct diag *d,
                       const struct input_format **out)
{
    const struct input_format *best = NULL, *rival = NULL;
    int best_score = 0;

    if (format != NULL) {
        *out = format_named(str_of(format));
        if (*out == NULL)
            return diag_fail(d, ST_UNSUPPORTED, "input.no-such-format", (struct where){0},
                             "no input format is called '%s'", format);
        return ST_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        int score = formats[i]->probe(p);
        if (score > best_score) {
            best = formats[i];
            best_score = score;
            rival = NULL;
        } else if (score > 0 && score == best_score) {
            rival = formats[i];
        }
    }
    if (best == NULL)
        return refuse(p, d);
    if (rival != NULL)
        return diag_fail(d, ST_UNSUPPORTED, "input.ambiguous", (struct where){.path = p->path},
                         "could be %s or %s; choose with --format", best->name, rival->name);
    *out = best;
    return ST_OK;
}

static struct probe probe_of(const char *path, struct str text)
{
    return (struct probe){
        .path = path,
        .name = str_basename(str_of(path)),
        .head = str_part(text, 0, INPUT_HEAD),
    };
}

struct input_options input_defaults(void)
{
    return (struct input_options){.rank = -1, .device = -1};
}

/* The first bytes of a file, which may be larger than memory; `head` has room for INPUT_HEAD. */
static enum status read_head(const char *path, char *head, struct diag *d, struct str *out)
{
    uint64_t size;
    size_t n = 0;
    int fd;

    TRY(mapfile_descriptor(path, d, &fd, &size));
    while (n < INPUT_HEAD) {
        ssize_t got = read(fd, head + n, INPUT_HEAD - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    close(fd);
    *out = (struct str){head, n};
    return ST_OK;
}

static enum status pick_file(const char *path, const char *format, struct diag *d,
                             const struct input_format **out)
{
    char *head = mem_grow(NULL, 1, INPUT_HEAD);
    struct str text;

    enum status st = read_head(path, head, d, &text);
    if (st == ST_OK) {
        struct probe probe = probe_of(path, text);
        st = input_pick(&probe, format, d, out);
    }
    mem_free(head);
    return st;
}

static enum status read_file(const char *path, const struct input_options *options, struct diag *d,
                             struct capture *cap)
{
    const struct input_format *chosen;
    struct input_file in = {.path = path, .diag = d, .options = options};
    struct mapfile map;

    TRY(pick_file(path, options->format, d, &chosen));
    if (chosen->streams)
        return chosen->read(&in, cap);
    TRY(mapfile_open(&map, path, d));
    in.text = map.text;
    enum status st = chosen->read(&in, cap);
    mapfile_close(&map);
    return st;
}

static bool is_claimed(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (formats[i]->claims(name))
            return true;
    return false;
}

/* A file of a folder that strata may read, and what it found when it looked. */
struct candidate {
    const char *path;
    bool is_claimed; /* by its name */
    bool is_good;    /* by its content */
};

/* Looks at one entry of a folder. Trouble with a file that no name claims is nobody's business. */
static bool consider(const struct fs_entry *entry, const char *format, struct diag *trouble,
                     struct candidate *out)
{
    const struct input_format *chosen;
    struct diag quiet;

    *out = (struct candidate){.path = entry->path, .is_claimed = is_claimed(entry->name)};
    if (entry->kind != FS_FILE && !out->is_claimed)
        return false;
    diag_init(&quiet);
    struct diag *d = out->is_claimed ? trouble : &quiet;
    out->is_good = pick_file(entry->path, format != NULL && out->is_claimed ? format : NULL, d,
                             &chosen) == ST_OK;
    diag_fini(&quiet);
    return out->is_claimed || out->is_good;
}

/* Of the readable files: those whose name says so, when there are any. */
static size_t keep_best(struct candidate *list, size_t n)
{
    size_t claimed = 0, kept = 0;

    for (size_t i = 0; i < n; i++)
        claimed += list[i].is_good && list[i].is_claimed;
    for (size_t i = 0; i < n; i++)
        if (list[i].is_good && (list[i].is_claimed || claimed == 0))
            list[kept++] = list[i];
    return kept;
}

static enum status nothing(const char *path, struct diag *d)
{
    diag_hint(d, "looked for", "%s", input_kernel_details.looks_for);
    diag_hint(d, "try", "the folder that holds ASCEND_PROFILER_OUTPUT");
    return diag_fail(d, ST_NOT_FOUND, "input.nothing", (struct where){.path = path},
                     "no profiling data found");
}

/* Refused files cost nothing when another one was good, and are the error when none was. */
static enum status settle(const char *path, const struct candidate *best, size_t n,
                          const struct diag *trouble, struct diag *d)
{
    if (n == 0 && trouble->entries.n == 0)
        return nothing(path, d);
    if (n == 0) {
        const struct diag_text *why = &trouble->entries.at[0].first[0];
        for (size_t i = 0; i < trouble->hints.n; i++)
            diag_hint(d, trouble->hints.at[i].label, "%s", trouble->hints.at[i].text);
        return diag_fail(d, ST_FORMAT, trouble->entries.at[0].code, why->where, "%s", why->text);
    }
    for (size_t i = 0; i < trouble->entries.n; i++) {
        const struct diag_text *why = &trouble->entries.at[i].first[0];
        diag_add(d, SEV_LOSS, "input.refused", why->where, "file left out: %s", why->text);
    }
    if (n > 1) {
        diag_hint(d, "try", "one of them: %s", best[0].path);
        return diag_fail(d, ST_UNSUPPORTED, "input.several", (struct where){.path = path},
                         "%zu captures in one folder, and this command reads one", n);
    }
    return ST_OK;
}

static enum status read_folder(const char *path, const struct input_options *options,
                               struct arena *scratch, struct diag *d, struct capture *cap)
{
    struct fs_list files;
    struct diag trouble;
    size_t n = 0;

    TRY(fs_walk(scratch, path, skipped_folders, ARRAY_LEN(skipped_folders), &files, d));
    struct candidate *list = ARENA_ARRAY(scratch, struct candidate, files.n);
    diag_init(&trouble);
    for (size_t i = 0; i < files.n; i++)
        n += consider(&files.at[i], options->format, &trouble, &list[n]);
    n = keep_best(list, n);
    enum status st = settle(path, list, n, &trouble, d);
    diag_fini(&trouble);
    return st == ST_OK ? read_file(list[0].path, options, d, cap) : st;
}

enum status input_load(const char *path, const struct input_options *options, struct diag *d,
                       struct capture **out)
{
    struct capture *cap = capture_new();
    struct arena scratch;
    enum status st;

    arena_init(&scratch);
    cap->name = arena_cstr(&cap->arena, str_basename(str_of(path)));
    if (fs_is_dir(path))
        st = read_folder(path, options, &scratch, d, cap);
    else
        st = read_file(path, options, d, cap);
    arena_free(&scratch);
    if (st != ST_OK) {
        capture_free(cap);
        return st;
    }
    capture_seal(cap);
    *out = cap;
    return ST_OK;
}
