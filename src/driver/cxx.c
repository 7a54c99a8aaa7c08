/*
 * Compiling a kernel for this machine.
 */
#include "driver/cxx.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/outfile.h"
#include "base/files/remove_tree.h"
#include "base/run/proc.h"
#include "base/tables/hash.h"
#include "driver/boxed.h"
#include "driver/driver.h"

enum {
    LEAST_LIMIT_MS = 60000,
    MOST_SOURCE = 256 << 20,
    MOST_ERRORS = 8,
};
#define MOST_MEMORY ((int64_t)4 << 30) /* of the compiler; real kernels need 300 MB */

/* ---- command lines ---- */

static void add_flags(struct words *c, struct arena *arena, const struct cxx_job *job,
                      const char *headers)
{
    static const char *const fixed[] = {"-std=c++17", "-w", "-fno-diagnostics-color",
                                        "-D__aicore__=", "-D__gm__="};

    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        vec_push(c, fixed[i]);
    vec_push(c, arena_printf(arena, "-I%s", headers));
    for (size_t i = 0; i < job->includes.n; i++)
        vec_push(c, arena_printf(arena, "-I%s", job->includes.at[i]));
    for (size_t i = 0; i < job->defines.n; i++)
        vec_push(c, arena_printf(arena, "-D%s", job->defines.at[i]));
    /* Headers that nothing else has are looked for in the folders above the source, as far as its
     * repository goes. They come last: they replace nothing. */
    char *folder = realpath(job->source, NULL);
    for (int i = 0; folder != NULL && i < BOXED_ABOVE; i++) {
        *strrchr(folder, '/') = '\0';
        if (folder[0] == '\0')
            break;
        vec_push(c, arena_printf(arena, "-idirafter%s", folder));
        vec_push(c, arena_printf(arena, "-idirafter%s/include", folder));
        if (fs_exists(fs_join(arena, folder, ".git")))
            break;
    }
    free(folder);
}

/* "k.cpp:12:5", the column as it comes. */
static struct where read_place(struct str place, struct arena *arena)
{
    struct where where = {0};
    int64_t number;

    for (int i = 0; i < 2; i++) { /* column, then line */
        size_t colon = place.n;
        while (colon > 0 && place.at[colon - 1] != ':')
            colon--;
        if (colon == 0 || !num_i64(str_part(place, colon, place.n), &number))
            break;
        where.line = (uint64_t)number;
        place = str_part(place, 0, colon - 1);
    }
    where.path = arena_cstr(arena, place);
    return where;
}

/* "k.cpp:12:5: error: 'TFOO' was not declared": the place and the message. */
static bool read_error(struct str line, struct arena *arena, struct where *where, struct str *text)
{
    /* The last is the assembler's. */
    static const struct str marks[] = {S_INIT(": error: "), S_INIT(": fatal error: "),
                                       S_INIT(": Error: "), S_INIT(": Fatal error: ")};
    size_t mark = line.n, skip = 0;

    for (size_t i = 0; i < ARRAY_LEN(marks) && mark == line.n; i++) {
        mark = str_find(line, marks[i]);
        skip = marks[i].n;
    }
    if (mark == line.n)
        return false;
    *where = read_place(str_part(line, 0, mark), arena);
    *text = str_part(line, mark + skip, line.n);
    return true;
}

static int64_t limit_of(const struct cxx_job *job)
{
    return job->limit_ms > LEAST_LIMIT_MS ? job->limit_ms : LEAST_LIMIT_MS;
}

static void hint_time(const struct cxx_job *job, struct diag *d)
{
    diag_hint(d, "try", "%s SECONDS: the compiler has as long, at least %d s",
              job->limit_option != NULL ? job->limit_option : "--timeout", LEAST_LIMIT_MS / 1000);
}

static enum status report_errors(const struct cxx_job *job, const struct proc_result *done,
                                 struct arena *arena, struct diag *d)
{
    struct str said = done->err;
    enum status status = ST_OK;
    struct where origin = {0};
    struct str line;

    for (size_t n = 0; said.n > 0 && n < MOST_ERRORS && str_split(&said, '\n', &line);) {
        struct where where = {0};
        struct str text;
        /* Where the source asks for a template that then fails in a header of ours: lines that come
         * before the error, "k.cpp:12:5:   required from here". */
        size_t mark = str_find(line, S(":   required from"));
        if (mark < line.n && str_starts(line, str_of(job->source)))
            origin = read_place(str_part(line, 0, mark), arena);
        if (read_error(line, arena, &where, &text)) {
            bool is_ours = str_contains(str_of(where.path), S("/pto-host")) && origin.path != NULL;
            status = diag_fail(d, ST_FORMAT, "pto-cpp.compile", is_ours ? origin : where, "%.*s",
                               STR_ARGS(text));
            if (str_ends(text, S(": No such file or directory")))
                diag_hint(d, "try", "-I DIR, the folder that has it");
            if (str_contains(text, S("Permission denied")) ||
                str_starts(text, S("file not found: ")))
                diag_hint(d, "try",
                          "-I DIR: a compiler reads only what is near the source and in such "
                          "folders");
            origin = (struct where){0};
            n++;
        }
    }
    if (status != ST_OK)
        return status;
    hint_time(job, d);
    return diag_fail(d, ST_TOOL, "pto-cpp.compiler", (struct where){.path = job->source},
                     "the compiler failed without naming an error (%s %d): it may need more "
                     "memory, larger files or more time than %" PRId64 " s",
                     done->end == PROC_SIGNALLED ? "signal" : "exit code", done->code,
                     limit_of(job) / 1000);
}

static enum status run_compiler(struct words *c, const struct cxx_job *job,
                                const struct sandbox_program *box, struct arena *arena,
                                struct proc_result *done, struct diag *d)
{
    struct diag quiet;
    const char *const env[] = {arena_printf(arena, "TMPDIR=%s", box->folder), NULL};
    struct proc_spec spec = {.limit_ms = limit_of(job),
                             .keep_max = MOST_SOURCE,
                             .env = env,
                             .box = job->is_trusted ? NULL : box};

    vec_push(c, NULL);
    spec.argv = c->at;
    diag_init(&quiet);
    enum status status = proc_run(&spec, arena, done, &quiet);
    diag_fini(&quiet);
    vec_free(c);
    if (status == ST_OK || status == ST_CANCELLED)
        return status;
    if (done->end == PROC_TIMED_OUT) {
        hint_time(job, d);
        return diag_fail(d, ST_TOOL, "pto-cpp.compiler", (struct where){.path = job->source},
                         "the compiler did not end within %d s", done->code / 1000);
    }
    return report_errors(job, done, arena, d);
}

/* ---- the object ---- */

static enum status find_compiler(const struct cxx_job *job, struct arena *arena,
                                 struct probe_result *out, struct diag *d)
{
    *out = driver_probe(DRIVER_CXX, arena);
    if (out->state == PROBE_FOUND)
        return ST_OK;
    diag_hint(d, "try", "install g++ or clang++, or name one in STRATA_CXX");
    return diag_fail(d, ST_TOOL, "pto-cpp.no-compiler", (struct where){.path = job->source},
                     "a kernel in C++ needs a C++ compiler, and none was found");
}

/* Runs the compiler once more; `words` end with NULL. */
static enum status run_words(const struct cxx_job *job, const struct sandbox_program *box,
                             const char *const *words, struct arena *arena, struct cxx_object *out,
                             struct diag *d)
{
    struct words line = {0};
    struct proc_result done;

    for (; *words; words++)
        vec_push(&line, *words);
    enum status status = run_compiler(&line, job, box, arena, &done, d);
    out->took += done.took;
    return status;
}

/* Compiles a preprocessed text; the object appears under its name when it is whole. Scalar accesses
 * become calls (pto/common/host.hpp); linked for itself, or the compiler would add a library that
 * has them, too. */
static enum status make_object(const struct cxx_job *job, const struct sandbox_program *box,
                               const char *compiler, struct str source, struct arena *arena,
                               struct cxx_object *out, struct diag *d)
{
    const char *text = fs_join(arena, box->folder, "kernel.ii");
    const char *part = fs_join(arena, box->folder, "kernel.o");
    const char *object = fs_join(arena, box->folder, "kernel.so");
    /* Values that were stored are read again, as in the source. */
    static const char *const gcc[] = {"-fno-gnu-unique", "-fno-tree-fre", "-fno-tree-dse",
                                      "-fno-tree-dominator-opts"};
    static const char *const clang[] = {"-mllvm", "-tsan-instrument-read-before-write=1", "-w",
                                        "-w"};
    static const char *const plain[] = {"-fno-sanitize=thread", "-w", "-w", "-w"};
    const char *const *own = job->is_plain                                ? plain
                             : str_contains(str_of(compiler), S("clang")) ? clang
                                                                          : gcc;
    const char *const compile[] = {
        compiler, "-std=c++17", "-x",   "c++-cpp-output", "-O1", "-w", "-fPIC", "-fsanitize=thread",
        own[0],   own[1],       own[2], own[3],           "-c",  "-o", part,    text,
        NULL,
    };
    const char *const link[] = {compiler, "-shared", "-Wl,-Bsymbolic", "-o", object, part, NULL};

    TRY(outfile_save(text, source, d));
    enum status status = run_words(job, box, compile, arena, out, d);
    if (status == ST_OK)
        status = run_words(job, box, link, arena, out, d);
    if (status == ST_OK && rename(object, out->path) != 0)
        status = diag_fail(d, ST_IO, "pto-cpp.cache", (struct where){.path = out->path},
                           "cannot be written");
    return status;
}

/* The object of a preprocessed text: compiled before, or now. */
static enum status find_object(const struct cxx_job *job, const struct sandbox_program *box,
                               const struct probe_result *compiler, const char *cache,
                               struct str text, struct arena *arena, struct cxx_object *out,
                               struct diag *d)
{
    uint64_t key =
        hash_stable_mix(hash_stable_bytes(text), hash_stable_bytes(str_of(compiler->path)));

    /* What a compiler read that could read everything is not for others. */
    key = hash_stable_mix(key, (job->is_trusted ? 1 : 2) + (job->is_plain ? 2 : 0));

    if (compiler->version)
        key = hash_stable_mix(key, hash_stable_bytes(str_of(compiler->version)));
    const char *stem = arena_printf(arena, "%s/kernel-%016llx", cache, (unsigned long long)key);
    out->path = arena_printf(arena, "%s.so", stem);
    out->key = key;
    out->was_there = fs_exists(out->path);
    return out->was_there ? ST_OK : make_object(job, box, compiler->path, text, arena, out, d);
}

/* Preprocesses, adapts and compiles in the folder of the box. */
static enum status compile_in(const struct cxx_job *job, const struct sandbox_program *box,
                              const struct probe_result *compiler, const char *cache,
                              const char *headers, struct arena *arena, struct cxx_object *out,
                              struct diag *d)
{
    struct words line = {0};
    struct proc_result done;

    vec_push(&line, compiler->path);
    vec_push(&line, "-E");
    add_flags(&line, arena, job, headers);
    vec_push(&line, job->source);
    TRY(run_compiler(&line, job, box, arena, &done, d));
    out->took = done.took;
    struct text adapted = {0};
    struct str text = done.out;
    enum status status = ST_OK;
    if (job->adapt) {
        status = job->adapt(job->ctx, done.out, headers, &adapted, d);
        text = text_view(&adapted);
    }
    if (status == ST_OK)
        status = find_object(job, box, compiler, cache, text, arena, out, d);
    text_free(&adapted);
    return status;
}

enum status cxx_compile(const struct cxx_job *job, struct arena *arena, struct cxx_object *out,
                        struct diag *d)
{
    struct probe_result compiler;
    const char *cache = NULL, *headers = NULL;

    *out = (struct cxx_object){0};
    TRY(find_compiler(job, arena, &compiler, d));
    TRY(boxed_cache(arena, &cache, d));
    TRY(boxed_unpack(arena, cache, "pto-host", &headers, d));
    TRY(boxed_check(job->source, "compiler", job->is_trusted, d));
    struct str pattern = arena_format(arena, "%s/compile-XXXXXX", cache);
    char *folder = mkdtemp(arena_cstr(arena, pattern));
    if (folder == NULL)
        return diag_fail(d, ST_IO, "pto-cpp.cache", (struct where){.path = cache},
                         "cannot be written");
    struct sandbox_program box = {.folder = folder,
                                  .seconds = limit_of(job) / 1000 + 1,
                                  .bytes = MOST_MEMORY,
                                  .file_bytes = MOST_SOURCE};
    remove_tree_hold(folder);
    boxed_show(&box.read, arena, job->source, compiler.path, headers);
    for (size_t i = 0; i < job->includes.n; i++)
        boxed_show_path(&box.read, arena, job->includes.at[i]);
    enum status status = compile_in(job, &box, &compiler, cache, headers, arena, out, d);
    vec_free(&box.read);
    remove_tree_drop(folder);
    remove_tree(folder);
    return status;
}
