#include "flow/incore_artifacts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/char.h"
#include "base/fs.h"
#include "base/hash.h"
#include "capture/cut.h"
#include "render/insight.h"

enum { LETTERS = 16, MOST_TRIES = 3600 };

static void letters_of(struct str seed, char *out)
{
    uint64_t h = hash_bytes(seed);

    for (int i = 0; i < LETTERS; i++) {
        h = hash_mix(h, (uint64_t)i + 1);
        out[i] = (char)('A' + h % 26);
    }
    out[LETTERS] = '\0';
}

static struct tm time_of(int64_t second, bool is_given)
{
    struct tm parts = {0};
    time_t t = (time_t)second;

    if (is_given)
        gmtime_r(&t, &parts);
    else
        localtime_r(&t, &parts);
    return parts;
}

enum status incore_artifacts_folder(const char *root, struct str seed, struct arena *arena,
                                    struct diag *d, const char **out)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char letters[LETTERS + 1], stamp[32];
    int64_t first;
    bool is_given =
        epoch != NULL && num_i64(str_of(epoch), &first) && first >= 0 && first < (int64_t)1 << 40;

    if (!is_given)
        first = (int64_t)time(NULL);
    letters_of(seed, letters);
    TRY(fs_mkdirs(root, d));
    for (int64_t i = 0; i < MOST_TRIES; i++) {
        struct tm parts = time_of(first + i, is_given);
        strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &parts);
        *out = fs_join(arena, root, arena_format(arena, "OPPROF_%s_%s", stamp, letters).at);
        if (mkdir(*out, 0777) == 0)
            return ST_OK;
        if (errno != EEXIST)
            return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = *out}, "%s",
                             strerror(errno));
    }
    return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = *out},
                     "there is a folder for every second of the next hour");
}

/* ---- files ---- */

struct job {
    struct cut cut;
    struct timeline_options options;
    struct arena *arena;
    struct diag *d;
    struct incore_wrote *wrote;
    strid core; /* of the files of one core */
};

static bool put_bin(struct job *j, struct sink out)
{
    return timeline_find(S("insight"))->write(&j->cut, &j->options, out);
}

static bool put_trace(struct job *j, struct sink out)
{
    return insight_write_trace(&j->cut, &j->options, out);
}

static bool put_core_trace(struct job *j, struct sink out)
{
    return insight_write_core_trace(&j->cut, j->core, out);
}

static bool put_instr_exe(struct job *j, struct sink out)
{
    return insight_write_instr_exe(&j->cut, j->core, out);
}

static bool put_code_exe(struct job *j, struct sink out)
{
    return insight_write_code_exe(&j->cut, j->core, out);
}

static enum status write_file(struct job *j, const char *path,
                              bool (*put)(struct job *j, struct sink out))
{
    struct outfile file;

    TRY(outfile_open(&file, path, j->d));
    if (!put(j, outfile_sink(&file)) && file.error == 0) { /* the user interrupted */
        outfile_abort(&file);
        return ST_CANCELLED;
    }
    TRY(outfile_commit(&file, OUTFILE_FAST, j->d));
    vec_push(j->wrote, path);
    return ST_OK;
}

/* Letters, digits, '.', '_' and '-', and not hidden. */
static bool is_folder_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.at[i];
        if (!char_is_word(c) && c != '-' && c != '.')
            return false;
    }
    return name.n > 0 && name.n <= 128 && name.at[0] != '.';
}

static enum status write_core(struct job *j, const char *simulator, struct str name)
{
    const char *folder = fs_join(j->arena, simulator, arena_cstr(j->arena, name));
    struct {
        const char *name;
        bool (*put)(struct job *j, struct sink out);
    } files[] = {
        {"trace.json", put_core_trace},
        {arena_format(j->arena, "%.*s_instr_exe.csv", STR_ARGS(name)).at, put_instr_exe},
        {arena_format(j->arena, "%.*s_code_exe.csv", STR_ARGS(name)).at, put_code_exe},
    };

    TRY(fs_mkdirs(folder, j->d));
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        TRY(write_file(j, fs_join(j->arena, folder, files[i].name), files[i].put));
    return ST_OK;
}

static enum status write_all(struct job *j, const char *simulator)
{
    const struct capture *cap = j->cut.cap;
    strid *cores;
    size_t n = insight_cores(&j->cut, j->arena, &cores);

    TRY(fs_mkdirs(simulator, j->d));
    TRY(write_file(j, fs_join(j->arena, simulator, "trace.json"), put_trace));
    TRY(write_file(j, fs_join(j->arena, simulator, "visualize_data.bin"), put_bin));
    for (size_t i = 0; i < n; i++) {
        struct str name = capture_text(cap, cores[i]);
        j->core = cores[i];
        if (is_folder_name(name))
            TRY(write_core(j, simulator, name));
        else
            diag_add(j->d, SEV_WARN, "incore.core-name", (struct where){.path = simulator},
                     "no files for the core '%.*s': that is no name for a folder",
                     STR_ARGS(str_part(name, 0, 64)));
    }
    return ST_OK;
}

enum status incore_artifacts_write(const struct capture *cap, const char *folder,
                                   struct arena *arena, struct diag *d, struct incore_wrote *wrote)
{
    struct job j = {.arena = arena, .d = d, .wrote = wrote};

    cut_init(&j.cut, cap, &(struct cut_options){0});
    enum status st = write_all(&j, fs_join(arena, folder, "simulator"));
    cut_fini(&j.cut);
    return st;
}
