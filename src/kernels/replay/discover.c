/*
 * Where a build keeps its kernels, and which build a case has left.
 */
#include "kernels/replay/discover.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/tables/intern.h"
#include "kernels/replay/paths.h"

enum { FOLDERS_DEEP = 48 };

/* Paths compare part by part, so "a/x" stands before "a-b/x". */
static int by_parts(const void *left, const void *right)
{
    const unsigned char *a = *(const unsigned char *const *)left;
    const unsigned char *b = *(const unsigned char *const *)right;

    while (*a == *b && *a != '\0')
        a++, b++;
    int x = *a == '/' ? 1 : *a == '\0' ? 0 : *a + 2, y = *b == '/' ? 1 : *b == '\0' ? 0 : *b + 2;
    return x - y;
}

static void sort(struct words *list)
{
    if (list->n > 1)
        qsort(list->at, list->n, sizeof(*list->at), by_parts);
}

/* The files of one folder that end in `ending`. A folder that is not there has none. */
static void add_files(struct arena *arena, const char *dir, struct str ending, struct words *out,
                      struct diag *d)
{
    struct fs_list list;

    if (!fs_is_dir(dir) || fs_list(arena, dir, &list, d) != ST_OK)
        return;
    for (size_t i = 0; i < list.n; i++)
        if (list.at[i].kind == FS_FILE && str_ends(list.at[i].name, ending) &&
            list.at[i].name.n > ending.n)
            vec_push(out, list.at[i].path);
}

/* Folders that hold results of earlier runs. */
static bool holds_results(struct str name)
{
    static const struct str names[] = {S_INIT("cases"), S_INIT("builds"), S_INIT("collect"),
                                       S_INIT("export")};

    return str_is_one_of(name, names, ARRAY_LEN(names)) || str_starts(name, S("insight"));
}

/* Files in folders of a name, or of any when that is empty, at any depth below `dir`. */
static void add_below(struct arena *arena, const char *dir, struct str folder, struct str ending,
                      bool skips_results, int depth, struct words *out, struct diag *d)
{
    struct fs_list list;

    if (!fs_is_dir(dir))
        return;
    if (depth > FOLDERS_DEEP) {
        if (d != NULL)
            diag_add(d, SEV_LOSS, "incore-run.depth", (struct where){.path = dir},
                     "not searched: nested more than %d folders deep", FOLDERS_DEEP);
        return;
    }
    if (fs_list(arena, dir, &list, d) != ST_OK)
        return;
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *e = &list.at[i];
        struct stat st;
        if (e->kind != FS_DIR || lstat(e->path, &st) != 0 || S_ISLNK(st.st_mode) ||
            (skips_results && holds_results(e->name)))
            continue;
        if (folder.n == 0 || str_equal(e->name, folder))
            add_files(arena, e->path, ending, out, d);
        add_below(arena, e->path, folder, ending, skips_results, depth + 1, out, d);
    }
}

static void add_matches(struct arena *arena, const char *pattern, struct words *out)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (fs_exists(found.gl_pathv[i]) && !fs_is_dir(found.gl_pathv[i]))
                vec_push(out, arena_cstr(arena, str_of(found.gl_pathv[i])));
    globfree(&found);
}

static void append_sorted(struct words *out, struct words *more)
{
    sort(more);
    for (size_t i = 0; i < more->n; i++)
        vec_push(out, more->at[i]);
    more->n = 0;
}

static void discover_find(const struct discover_job *job, struct arena *arena, struct str ending,
                          struct words *out, struct diag *d)
{
    struct words part = {0};

    if (job->source_glob != NULL) {
        add_matches(arena, job->source_glob, &part);
    } else if (job->ptoas_dir != NULL) {
        add_files(arena, job->ptoas_dir, ending, &part, d);
    } else {
        add_files(arena, fs_join(arena, job->build_dir, "ptoas"), ending, &part, d);
        append_sorted(out, &part);
        add_below(arena, fs_join(arena, job->build_dir, "next_levels"), S("ptoas"), ending, false,
                  0, &part, d);
    }
    append_sorted(out, &part);
    if (out->n == 0) {
        add_below(arena, job->build_dir, S("ptoas"), ending, true, 0, &part, d);
        append_sorted(out, &part);
    }
    vec_free(&part);
}

/* Is a device function defined behind a mark? Programs that launch a kernel only declare it. */
static bool has_body(struct str source)
{
    static const struct str marks[] = {S_INIT("AICORE"), S_INIT("__aicore__"),
                                       S_INIT("__global__")};

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        for (struct str rest = source; rest.n > 0;) {
            size_t at = str_find(rest, marks[i]), line = at;
            while (line > 0 && rest.at[line - 1] != '\n')
                line--;
            bool is_define = str_starts(str_trim(str_part(rest, line, at - line)), S("#"));
            rest = str_part(rest, at + marks[i].n, rest.n);
            size_t end = 0;
            while (end < rest.n && rest.at[end] != '{' && rest.at[end] != ';')
                end++;
            if (!is_define && end < rest.n && rest.at[end] == '{')
                return true;
        }
    return false;
}

static bool is_runnable(const char *path)
{
    struct mapfile map;

    if (mapfile_open(&map, path, NULL) != ST_OK)
        return false;
    bool is_one = discover_is_cpp(map.text) && has_body(map.text);
    mapfile_close(&map);
    return is_one;
}

/* Where there is no folder ptoas: the texts in a folder and below it, and the C++ sources that can
 * be run and have none beside them. */
static void find_anywhere(const struct discover_job *job, struct arena *arena, struct words *out,
                          struct diag *d)
{
    struct words cpp = {0};

    add_files(arena, job->build_dir, S(".pto"), out, d);
    add_below(arena, job->build_dir, S(""), S(".pto"), true, 0, out, d);
    add_files(arena, job->build_dir, S(".cpp"), &cpp, NULL);
    add_below(arena, job->build_dir, S(""), S(".cpp"), true, 0, &cpp, NULL);
    for (size_t i = 0; i < cpp.n; i++) {
        int stem = (int)strlen(cpp.at[i]) - 4;
        if (!fs_exists(arena_printf(arena, "%.*s.pto", stem, cpp.at[i])) && is_runnable(cpp.at[i]))
            vec_push(out, cpp.at[i]);
    }
    vec_free(&cpp);
    sort(out);
}

bool discover_is_cpp(struct str source)
{
    return str_contains(source, S("pto/pto-inst.hpp"));
}

/* The other half of a mixed kernel: k_aiv.cpp beside k_aic.cpp, or in aiv/ beside aic/. */
static const char *half_of(struct arena *arena, struct str path, struct str from, struct str to)
{
    struct str name = str_basename(path), folder = str_part(path, 0, path.n - name.n);
    struct str tail = arena_format(arena, "_%.*s.cpp", STR_ARGS(from));
    struct str own = arena_format(arena, "/%.*s/", STR_ARGS(from));

    if (!str_ends(name, tail) || name.n == tail.n)
        return NULL;
    struct str stem = str_part(name, 0, name.n - tail.n);
    if (fs_exists(arena_printf(arena, "%.*s.pto", (int)path.n - 4, path.at)))
        return NULL;
    const char *beside =
        arena_printf(arena, "%.*s%.*s_%.*s.cpp", STR_ARGS(folder), STR_ARGS(stem), STR_ARGS(to));
    if (fs_exists(beside) || !str_ends(folder, own))
        return fs_exists(beside) ? beside : NULL;
    struct str parent = str_part(folder, 0, folder.n - own.n);
    const char *other = arena_printf(arena, "%.*s/%.*s/%.*s_%.*s.cpp", STR_ARGS(parent),
                                     STR_ARGS(to), STR_ARGS(stem), STR_ARGS(to));
    return fs_exists(other) ? other : NULL;
}

static bool is_chosen(const struct discover_job *job, const char *stem)
{
    for (size_t i = 0; i < job->funcs.n; i++)
        if (strcmp(job->funcs.at[i], stem) == 0)
            return true;
    return job->funcs.n == 0;
}

/* Names of kernels so far, and the number that the next one of a name gets. */
struct naming {
    struct intern names;
    VEC_OF(size_t) next; /* by id of a name */
};

/* "k", then "k__2", "k__3", without those that other kernels have as their own. */
static const char *own_name(struct naming *n, struct arena *arena, const char *stem)
{
    strid id = intern_find(&n->names, str_of(stem));
    const char *name = stem;

    if (id != 0)
        do
            name = arena_printf(arena, "%s__%zu", stem, n->next.at[id]++);
        while (intern_find(&n->names, str_of(name)) != 0);
    intern_put(&n->names, str_of(name));
    vec_push(&n->next, 2);
    return name;
}

static void add_source(struct arena *arena, const char *path, const struct discover_job *job,
                       struct naming *naming, struct kernel_sources *out)
{
    struct str whole = str_of(path), base = str_basename(whole), stem = paths_stem(base);
    struct kernel_source s = {.path = path};

    s.stem = arena_cstr(arena, stem);
    bool is_text = str_ends(base, S(".pto"));
    struct str folder = str_part(whole, 0, whole.n - base.n);
    if (half_of(arena, whole, S("aiv"), S("aic")) != NULL)
        return; /* with its other half */
    s.vector = half_of(arena, whole, S("aic"), S("aiv"));
    if (s.vector != NULL)
        s.stem = arena_cstr(arena, str_part(stem, 0, stem.n - 4));
    if (!is_chosen(job, s.stem))
        return;
    s.expected = arena_printf(arena, "%.*s%s.pto", STR_ARGS(folder), s.stem);
    s.cpp = is_text ? NULL : path;
    s.pto = is_text ? path : fs_exists(s.expected) ? s.expected : NULL;
    s.name = own_name(naming, arena, s.stem);
    out->at[out->n++] = s;
}

enum status discover_kernels(const struct discover_job *job, struct arena *arena,
                             struct kernel_sources *out, struct diag *d)
{
    struct words paths = {0};
    struct naming naming = {0};

    discover_find(job, arena, S(".cpp"), &paths, d);
    if (paths.n == 0 && job->source_glob == NULL)
        discover_find(job, arena, S(".pto"), &paths, d);
    if (paths.n == 0 && job->source_glob == NULL && job->ptoas_dir == NULL)
        find_anywhere(job, arena, &paths, d);
    *out = (struct kernel_sources){.at = ARENA_ARRAY(arena, struct kernel_source, paths.n)};
    intern_init(&naming.names);
    vec_push(&naming.next, 0); /* the empty name is no kernel's */
    for (size_t i = 0; i < paths.n; i++)
        add_source(arena, paths.at[i], job, &naming, out);
    intern_fini(&naming.names);
    vec_free(&naming.next);
    size_t n = paths.n;
    vec_free(&paths);
    if (out->n > 0)
        return ST_OK;
    if (n > 0)
        diag_hint(d, "try", "--list-funcs; none of the %zu kernels has this name", n);
    else
        diag_hint(d, "looked for",
                  "*.cpp and *.pto in folders named ptoas, then *.pto in %s and below it, and "
                  "*.cpp with #include <pto/pto-inst.hpp>",
                  job->build_dir);
    return diag_fail(d, ST_NOT_FOUND, "incore-run.no-kernels", (struct where){0},
                     "no PTOAS .cpp sources found for build dir: %s", job->build_dir);
}

/* ---- builds a case leaves ---- */

static bool is_build(struct arena *arena, const char *dir)
{
    struct words found = {0};

    if (fs_is_dir(fs_join(arena, dir, "ptoas")))
        return true;
    add_below(arena, fs_join(arena, dir, "next_levels"), S("ptoas"), S(".cpp"), false, 0, &found,
              NULL);
    bool is_one = found.n > 0;
    vec_free(&found);
    return is_one;
}

void discover_builds(const char *root, struct arena *arena, struct discover_builds *out)
{
    struct fs_list list = {0};

    *out = (struct discover_builds){0};
    if (fs_is_dir(root) && fs_list(arena, root, &list, NULL) != ST_OK)
        list.n = 0;
    out->at = ARENA_ARRAY(arena, const char *, list.n);
    out->changed_ns = ARENA_ARRAY(arena, int64_t, list.n);
    for (size_t i = 0; i < list.n; i++) {
        struct stat st;
        if (list.at[i].kind != FS_DIR || !is_build(arena, list.at[i].path) ||
            stat(list.at[i].path, &st) != 0)
            continue;
        out->at[out->n] = list.at[i].path;
        out->changed_ns[out->n++] = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    }
}

static bool was_there(const struct discover_builds *before, const char *path)
{
    for (size_t i = 0; i < before->n; i++)
        if (strcmp(before->at[i], path) == 0)
            return true;
    return false;
}

const char *discover_pick(const struct discover_builds *now, const struct discover_builds *before,
                          int64_t begin_ns)
{
    for (int rule = 0; rule < 3; rule++) {
        const char *best = NULL;
        int64_t best_ns = 0;
        for (size_t i = 0; i < now->n; i++) {
            bool fits = rule == 0   ? !was_there(before, now->at[i])
                        : rule == 1 ? now->changed_ns[i] >= begin_ns - 1000000000
                                    : true;
            if (fits && (best == NULL || now->changed_ns[i] > best_ns)) {
                best = now->at[i];
                best_ns = now->changed_ns[i];
            }
        }
        if (best != NULL)
            return best;
    }
    return NULL;
}

const char *discover_target(struct str text)
{
    static const struct str key = S_INIT("pto.target_arch");

    for (;;) {
        size_t at = str_find(text, key);
        if (at == text.n)
            return "a2a3";
        text = str_part(text, at + key.n, text.n);
        struct str rest = str_trim(str_part(text, 0, 64));
        if (!str_starts(rest, S("=")))
            continue;
        rest = str_trim(str_part(rest, 1, rest.n));
        return str_starts(rest, S("\"a5\"")) ? "a5" : "a2a3";
    }
}

static const struct field source_fields[] = {
    FIELD(struct kernel_source, stem, "func"),
    FIELD(struct kernel_source, path, "path"),
    FIELD(struct kernel_source, pto, "pto"),
};
static const struct record source_record = RECORD(struct kernel_source, source_fields);

const struct schema discover_schema = {
    .name = "strata.incore-funcs/1",
    .title = "kernels of a build",
    .record = &source_record,
    .is_list = true,
};
