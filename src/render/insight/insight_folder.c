/*
 * The folder that the operator simulator would leave, written from a capture of one kernel.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/remove_tree.h"
#include "base/run/cancel.h"
#include "base/run/now.h"
#include "base/tables/hash.h"
#include "base/text/char.h"
#include "render/insight/insight.h"

enum { LETTERS = 16, MOST_TRIES = 3600 };

enum status insight_folder_make(const char *root, struct str seed, struct arena *arena,
                                struct diag *d, const char **out)
{
    char letters[LETTERS + 1] = {0};
    uint64_t h = hash_stable_bytes(seed);

    for (int i = 0; i < LETTERS; i++) {
        h = hash_stable_mix(h, (uint64_t)i + 1);
        letters[i] = (char)('A' + h % 26);
    }
    TRY(fs_mkdirs(root, d));
    for (int64_t i = 0; i < MOST_TRIES; i++) {
        const char *stamp = now_text(arena, NOW_PLAIN, i);
        *out = fs_join(arena, root, arena_printf(arena, "OPPROF_%s_%s", stamp, letters));
        if (mkdir(*out, 0777) == 0)
            return ST_OK;
        if (errno != EEXIST)
            return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = *out}, "%s",
                             strerror(errno));
    }
    return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = *out}, "no free folder name");
}

/* ---- files ---- */

typedef bool (*put_file)(const struct cut *cut, strid core, struct sink out);

struct folder_job {
    struct cut cut;
    const char *simulator; /* the folder's name; it has it when everything is in it */
    const char *made;      /* what it is called until then */
    struct arena *arena;
    struct diag *d;
    struct words *wrote;
    struct insight_beside beside;
};

static bool put_bin(const struct cut *cut, strid core, struct sink out)
{
    struct timeline_options options = {0};

    (void)core;
    return timeline_insight.write(cut, &options, out);
}

static bool put_trace(const struct cut *cut, strid core, struct sink out)
{
    struct timeline_options options = {0};

    (void)core;
    return insight_write_trace(cut, &options, out);
}

static enum status folder_write_file(struct folder_job *j, const char *name, strid core,
                                     put_file put)
{
    struct outfile file;

    TRY(outfile_open(&file, fs_join(j->arena, j->made, name), j->d));
    if (!put(&j->cut, core, outfile_sink(&file)) && file.error == 0) { /* the user interrupted */
        outfile_abort(&file);
        return ST_CANCELLED;
    }
    TRY(outfile_commit(&file, OUTFILE_FAST, j->d));
    vec_push(j->wrote, fs_join(j->arena, j->simulator, name));
    return ST_OK;
}

/* Letters, digits, '.', '_' and '-', and not hidden. */
static bool is_folder_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!char_is_word(name.at[i]) && name.at[i] != '-' && name.at[i] != '.')
            return false;
    return name.n > 0 && name.n <= 128 && name.at[0] != '.';
}

static enum status write_core(struct folder_job *j, strid core, struct str name)
{
    const char *folder = arena_cstr(j->arena, name);
    const char *trace = fs_join(j->arena, folder, "trace.json");
    const char *instr = arena_printf(j->arena, "%s/%s_instr_exe.csv", folder, folder);
    const char *code = arena_printf(j->arena, "%s/%s_code_exe.csv", folder, folder);

    TRY(fs_mkdir_own(fs_join(j->arena, j->made, folder), j->d));
    TRY(folder_write_file(j, trace, core, insight_write_core_trace));
    TRY(folder_write_file(j, instr, core, insight_write_instr_exe));
    return folder_write_file(j, code, core, insight_write_code_exe);
}

static enum status write_beside(struct folder_job *j)
{
    const char *name = j->beside.name;
    struct outfile file;

    TRY(outfile_open(&file, fs_join(j->arena, j->made, name), j->d));
    outfile_write(&file, j->beside.text); /* the commit says what failed */
    TRY(outfile_commit(&file, OUTFILE_FAST, j->d));
    vec_push(j->wrote, fs_join(j->arena, j->simulator, name));
    return ST_OK;
}

static enum status write_all(struct folder_job *j)
{
    strid *cores;
    size_t n = insight_cores(&j->cut, j->arena, &cores);

    TRY(fs_mkdir_own(j->made, j->d));
    TRY(folder_write_file(j, "trace.json", 0, put_trace));
    TRY(folder_write_file(j, "visualize_data.bin", 0, put_bin));
    for (size_t i = 0; i < n; i++) {
        struct str name = capture_text(j->cut.cap, cores[i]);
        if (is_folder_name(name))
            TRY(write_core(j, cores[i], name));
        else
            diag_add(j->d, SEV_WARN, "incore.core-name", (struct where){.path = j->simulator},
                     "no files for core '%.*s': not a valid folder name",
                     STR_ARGS(str_part(name, 0, 64)));
    }
    if (j->beside.name != NULL)
        TRY(write_beside(j));
    if (rename(j->made, j->simulator) != 0)
        return diag_fail(j->d, ST_IO, "file.write", (struct where){.path = j->simulator},
                         "cannot write: %s", fs_error_text(errno));
    return ST_OK;
}

enum status insight_folder_write(const struct capture *cap, const char *folder,
                                 struct insight_beside beside, struct arena *arena, struct diag *d,
                                 struct words *wrote)
{
    struct folder_job j = {
        .simulator = fs_join(arena, folder, "simulator"),
        .made = arena_printf(arena, "%s/.strata-%ld-simulator.tmp", folder, (long)getpid()),
        .arena = arena,
        .d = d,
        .wrote = wrote,
        .beside = beside,
    };

    cut_init(&j.cut, cap, &(struct cut_options){0});
    /* The writers see a request to stop themselves; who is ended meanwhile leaves a folder behind.
     */
    cancel_hold();
    remove_tree_hold(j.made);
    enum status st = write_all(&j);
    if (st != ST_OK)
        remove_tree(j.made);
    remove_tree_drop(j.made);
    cancel_release();
    cut_fini(&j.cut);
    return st;
}
