#include "flow/gpu_folder.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"

enum { TRIES = 1000 };

static const char *timestamp(struct arena *arena)
{
    char text[32] = "";
    time_t now = time(NULL);
    struct tm local;

    if (localtime_r(&now, &local) != NULL)
        strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local);
    return arena_cstr(arena, str_of(text));
}

/* Two runs may begin in one second: whoever makes the folder has the name. */
static enum status make_new(struct gpu_folder *f, struct arena *arena, struct diag *d)
{
    const char *name = timestamp(arena);

    for (int i = 1; i <= TRIES; i++) {
        const char *own = i == 1 ? name : arena_format(arena, "%s-%d", name, i).at;
        f->path = fs_join(arena, f->parent, own);
        f->partial = arena_format(arena, "%s.partial", f->path).at;
        if (fs_exists(f->path))
            continue;
        if (mkdir(f->partial, 0777) == 0)
            return ST_OK;
        if (errno != EEXIST)
            break;
    }
    return diag_fail(d, ST_IO, "io.write", (struct where){.path = f->partial},
                     "the folder cannot be made: %s", fs_error_text(errno));
}

static enum status make_given(struct gpu_folder *f, const char *out, struct arena *arena,
                              struct diag *d)
{
    struct fs_list list = {0};

    f->path = arena_cstr(arena, str_of(out));
    while (strlen(f->path) > 1 && f->path[strlen(f->path) - 1] == '/')
        f->path = arena_cstr(arena, str_part(str_of(f->path), 0, strlen(f->path) - 1));
    f->partial = arena_format(arena, "%s.partial", f->path).at;
    if (fs_is_dir(f->path))
        TRY(fs_list(arena, f->path, &list, d));
    if (list.n > 0 || (fs_exists(f->path) && !fs_is_dir(f->path))) {
        diag_fail(d, ST_IO, "gpu.out-exists", (struct where){.path = f->path},
                  "there is something already: a run gets a folder of its own");
        diag_hint(d, "try", "another name for --out, or none");
        return ST_IO;
    }
    return fs_mkdirs(f->partial, d);
}

enum status gpu_folder_begin(struct gpu_folder *f, const struct gpu_plan *plan,
                             const struct gpu_profile_job *job, struct arena *arena, struct diag *d)
{
    *f = (struct gpu_folder){0};
    if (job->out != NULL)
        return make_given(f, job->out, arena, d);
    f->parent = arena_format(arena, "out/profiles/%s/%.*s/%.*s", gpu_profile_mode_name(job->mode),
                             STR_ARGS(gpu_file_name(arena, plan->kernel)), STR_ARGS(plan->slug))
                    .at;
    TRY(fs_mkdirs(f->parent, d));
    return make_new(f, arena, d);
}

enum status gpu_folder_finish(struct gpu_folder *f, struct arena *arena, struct diag *d)
{
    if (f->parent == NULL)
        rmdir(f->path); /* an empty one that was there */
    if (rename(f->partial, f->path) != 0)
        return diag_fail(d, ST_IO, "io.write", (struct where){.path = f->path},
                         "%s cannot get this name: %s", f->partial, fs_error_text(errno));
    if (f->parent == NULL)
        return ST_OK;
    const char *link = fs_join(arena, f->parent, "latest");
    const char *fresh = arena_format(arena, "%s.%ld", link, (long)getpid()).at;
    struct str name = str_basename(str_of(f->path));
    if (symlink(name.at, fresh) != 0 || rename(fresh, link) != 0) {
        unlink(fresh);
        diag_add(d, SEV_WARN, "gpu.no-link", (struct where){.path = link},
                 "the link to the newest run cannot be made: %s", fs_error_text(errno));
    }
    return ST_OK;
}

const char *gpu_folder_latest(const struct gpu_folder *f, struct arena *arena)
{
    const char *link = f->parent != NULL ? fs_join(arena, f->parent, "latest") : NULL;

    return link != NULL && fs_is_dir(link) ? link : NULL;
}
