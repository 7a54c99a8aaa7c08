/*
 * The toolkit: its environment, compiler and SoCs, and steps run in it. See cann.h.
 */
#include "driver/cann.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/files/remove_tree.h"

/* ---- set_env.sh ---- */

static const char *existing(struct arena *arena, const char *folder, const char *name)
{
    const char *path = fs_join(arena, folder, name);

    return fs_exists(path) && !fs_is_dir(path) ? path : NULL;
}

static const char *const below[] = {"ascend-toolkit/set_env.sh", "ascend-toolkit/latest/set_env.sh",
                                    "set_env.sh"};

const char *cann_find_set_env(struct arena *arena, const char *given)
{
    const char *variable = getenv("CANN_SET_ENV"), *home = getenv("ASCEND_HOME_PATH");
    const char *user = getenv("HOME"), *found = NULL;
    const char *roots[] = {"/usr/local/Ascend", NULL, "/opt/Ascend"};

    if (given != NULL)
        return given;
    if (variable != NULL && fs_exists(variable) && !fs_is_dir(variable))
        return variable;
    if (home != NULL && home[0] != '\0') {
        found = existing(arena, home, "set_env.sh");
        found = found != NULL ? found : existing(arena, home, "../set_env.sh");
    }
    if (user != NULL && user[0] != '\0')
        roots[1] = fs_join(arena, user, "Ascend");
    for (size_t r = 0; r < ARRAY_LEN(roots) && found == NULL; r++)
        for (size_t i = 0; i < ARRAY_LEN(below) && found == NULL && roots[r] != NULL; i++)
            found = existing(arena, roots[r], below[i]);
    return found;
}

/* ---- environment ---- */

enum status cann_ask(const struct proc_spec *spec, struct arena *arena, struct proc_result *out)
{
    struct diag own;

    diag_init(&own);
    enum status st = proc_run(spec, arena, out, &own);
    diag_fini(&own);
    return st;
}

const char *cann_value(const struct cann *c, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; c->env != NULL && c->env[i] != NULL; i++)
        if (strncmp(c->env[i], name, n) == 0 && c->env[i][n] == '=')
            return c->env[i] + n + 1;
    return NULL;
}

const char *cann_program(const struct cann *c, struct arena *arena, const char *name)
{
    const char *path = cann_value(c, "PATH");
    struct str rest = str_of(path != NULL ? path : ""), folder;

    while (rest.n > 0 && str_split(&rest, ':', &folder)) {
        const char *file = fs_join(arena, folder.n > 0 ? arena_cstr(arena, folder) : ".", name);
        if (access(file, X_OK) == 0 && !fs_is_dir(file))
            return file;
    }
    return NULL;
}

static const char *const *split_env(struct arena *arena, struct str text)
{
    VEC_OF(const char *) list = {0};
    struct str rest = text, item;

    while (rest.n > 0 && str_split(&rest, '\0', &item))
        if (item.n > 0 && str_find_char(item, '=') < item.n)
            vec_push(&list, arena_cstr(arena, item));
    const char **env = ARENA_ARRAY(arena, const char *, list.n + 1);
    if (list.n > 0)
        memcpy(env, list.at, list.n * sizeof(*list.at));
    vec_free(&list);
    return env;
}

enum status cann_open(struct cann *c, const char *set_env, struct arena *arena, struct diag *d)
{
    const char *argv[] = {"bash", "-lc",   "source \"$1\" >/dev/null && env -0",
                          "bash", set_env, NULL};
    struct proc_spec spec = {.argv = argv, .limit_ms = 120000};
    struct proc_result result;

    *c = (struct cann){.set_env = set_env};
    enum status st = cann_ask(&spec, arena, &result);
    if (st == ST_CANCELLED)
        return st;
    if (st != ST_OK)
        return diag_fail(d, ST_TOOL, "cann.set-env", (struct where){.path = set_env}, "%.*s",
                         STR_ARGS(str_part(str_trim(result.err), 0, 600)));
    c->env = split_env(arena, result.out);
    c->home = cann_value(c, "ASCEND_HOME_PATH");
    c->toolkit = cann_value(c, "ASCEND_TOOLKIT_HOME");
    if (c->toolkit == NULL)
        c->toolkit = c->home;
    c->msprof = cann_program(c, arena, "msprof");
    c->bisheng = cann_program(c, arena, "bisheng");
    c->cmake = cann_program(c, arena, "cmake");
    if (c->msprof == NULL)
        return diag_fail(d, ST_TOOL, "cann.no-msprof", (struct where){.path = set_env},
                         "msprof not found after sourcing CANN environment");
    return ST_OK;
}

/* ---- the compiler ---- */

enum status cann_check_compiler(const struct cann *c, const char *arch, struct arena *arena,
                                struct diag *d)
{
    static const char probe[] = "__biasbuf__ float *strata_probe;\n";
    const char *folder = c->bisheng != NULL ? remove_tree_temporary(arena) : NULL;

    if (folder == NULL)
        return ST_OK;
    const char *source = fs_join(arena, folder, "probe.cpp");
    const char *object = fs_join(arena, folder, "probe.o");
    FILE *f = fopen(source, "we");
    if (f != NULL) {
        fputs(probe, f);
        fclose(f);
    }
    const char *argv[] = {c->bisheng,
                          "-xcce",
                          "-c",
                          source,
                          "-o",
                          object,
                          "--cce-aicore-enable-tl",
                          arena_printf(arena, "--cce-aicore-arch=%s", arch),
                          "-std=c++17",
                          NULL};
    struct proc_spec spec = {.argv = argv, .env = c->env, .limit_ms = 120000};
    struct proc_result r;
    enum status st = cann_ask(&spec, arena, &r);
    unlink(source);
    unlink(object);
    rmdir(folder);
    if (st == ST_CANCELLED)
        return st;
    struct str all = arena_format(arena, "%.*s%.*s", STR_ARGS(r.out), STR_ARGS(r.err));
    if (str_contains(all, S("__biasbuf__")) && str_contains(all, S("unknown type"))) {
        diag_hint(d, "try",
                  "--cann-set-env with a CANN that compiles tile kernels, such as 8.5; "
                  "8.3.RC1 does not");
        return diag_fail(d, ST_TOOL, "cann.no-tile-compiler", (struct where){.path = c->bisheng},
                         "this compiler does not support tile kernels (__biasbuf__)");
    }
    return ST_OK;
}

/* ---- the SoC ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct fs_list cann_list(struct arena *arena, const char *folder)
{
    struct fs_list list = {0};
    struct diag ignored;

    diag_init(&ignored);
    if (!fs_is_dir(folder) || fs_list(arena, folder, &list, &ignored) != ST_OK)
        list.n = 0;
    diag_fini(&ignored);
    return list;
}

/* The folders of `root` that hold lib/libruntime_camodel.so. */
static void add_socs(struct arena *arena, const char *root, struct words *out)
{
    struct fs_list list = cann_list(arena, root);

    for (size_t i = 0; i < list.n; i++)
        if (fs_exists(fs_join(arena, list.at[i].path, "lib/libruntime_camodel.so")))
            vec_push(out, arena_cstr(arena, list.at[i].name));
}

static void list_socs(const struct cann *c, struct arena *arena, struct words *out)
{
    size_t kept = 0;

    if (c->home == NULL)
        return;
    struct fs_list list = cann_list(arena, c->home);
    for (size_t i = 0; i < list.n; i++)
        add_socs(arena, fs_join(arena, list.at[i].path, "simulator"), out);
    add_socs(arena, fs_join(arena, c->home, "simulator"), out);
    add_socs(arena, fs_join(arena, c->home, "tools/simulator"), out);
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), by_name);
    for (size_t i = 0; i < out->n; i++)
        if (kept == 0 || strcmp(out->at[kept - 1], out->at[i]) != 0)
            out->at[kept++] = out->at[i];
    out->n = kept;
}

static const char *join_names(struct arena *arena, const struct words *list)
{
    struct str all = S("");

    for (size_t i = 0; i < list->n; i++)
        all = arena_format(arena, "%.*s%s%s", STR_ARGS(all), i > 0 ? ", " : "", list->at[i]);
    return arena_cstr(arena, all);
}

/* The device name reported by npu-smi; empty without a device. */
static struct str device_name(const struct cann *c, struct arena *arena)
{
    const char *tool = cann_program(c, arena, "npu-smi");
    const char *argv[] = {tool, "info", NULL};
    struct proc_spec spec = {.argv = argv, .env = c->env, .limit_ms = 20000};
    struct proc_result r;

    return tool != NULL && cann_ask(&spec, arena, &r) == ST_OK ? r.out : S("");
}

enum status cann_pick_soc(const struct cann *c, const char *target, struct arena *arena,
                          struct diag *d, const char **out)
{
    static const struct str a3_words[] = {S_INIT("910b"), {0}};
    static const struct str a5_words[] = {S_INIT("950"), S_INIT("a5")};
    const struct str *words = strcmp(target, "a5") == 0 ? a5_words : a3_words;
    struct words all = {0}, fit = {0};
    enum status st = ST_OK;

    list_socs(c, arena, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_contains_nocase(str_of(all.at[i]), words[0]) ||
            (words[1].n > 0 && str_contains_nocase(str_of(all.at[i]), words[1])))
            vec_push(&fit, all.at[i]);
    if (fit.n == 0) {
        st = diag_fail(d, ST_TOOL, "cann.no-soc", (struct where){0},
                       "no camodel SoC found for --target %s; available: [%s]. Pass --soc-version "
                       "explicitly.",
                       target, join_names(arena, &all));
    } else {
        struct str device = fit.n > 1 ? device_name(c, arena) : S("");
        *out = fit.at[0];
        for (size_t i = fit.n; i-- > 0 && device.n > 0;) {
            struct str name = str_of(fit.at[i]);
            str_skip(&name, S("Ascend"));
            if (name.n > 4 && str_contains(device, name))
                *out = fit.at[i];
        }
        if (fit.n > 1)
            diag_add(d, SEV_WARN, "cann.several-socs", (struct where){0},
                     "simulating %s; use --soc-version for one of: %s", *out,
                     join_names(arena, &fit));
    }
    vec_free(&all);
    vec_free(&fit);
    return st;
}

const char *cann_library_path(const struct cann *c, const char *build_dir, const char *soc,
                              struct arena *arena)
{
    static const char *const triplets[] = {"aarch64-linux", "x86_64-linux"};
    const char *old = cann_value(c, "LD_LIBRARY_PATH");
    const char *home = c->home != NULL ? c->home : "";
    struct words list = {0};
    struct str all = str_of(build_dir);

    vec_push(&list, fs_join(arena, home, "lib64"));
    vec_push(&list, fs_join(arena, home, "devlib"));
    for (size_t i = 0; i < ARRAY_LEN(triplets); i++) {
        const char *root = fs_join(arena, home, triplets[i]);
        vec_push(&list, fs_join(arena, root, "devlib"));
        vec_push(&list, arena_printf(arena, "%s/simulator/%s/lib", root, soc));
    }
    struct fs_list roots = cann_list(arena, home);
    for (size_t i = 0; i < roots.n; i++)
        if (!str_equal(roots.at[i].name, str_of(triplets[0])) &&
            !str_equal(roots.at[i].name, str_of(triplets[1])))
            vec_push(&list, arena_printf(arena, "%s/simulator/%s/lib", roots.at[i].path, soc));
    vec_push(&list, arena_printf(arena, "%s/simulator/%s/lib", home, soc));
    for (size_t i = 0; i < list.n; i++)
        if (fs_is_dir(list.at[i]))
            all = arena_format(arena, "%.*s:%s", STR_ARGS(all), list.at[i]);
    vec_free(&list);
    if (old != NULL && old[0] != '\0')
        all = arena_format(arena, "%.*s:%s", STR_ARGS(all), old);
    return arena_printf(arena, "LD_LIBRARY_PATH=%.*s", STR_ARGS(all));
}

/* ---- steps ---- */

static struct str command_line(struct arena *arena, const char *const *argv)
{
    struct str all = S("$");

    for (size_t i = 0; argv[i] != NULL; i++)
        all = strpbrk(argv[i], " \t\n'\"$`\\;&|<>()") != NULL || argv[i][0] == '\0'
                  ? arena_format(arena, "%.*s '%s'", STR_ARGS(all), argv[i])
                  : arena_format(arena, "%.*s %s", STR_ARGS(all), argv[i]);
    return all;
}

enum status cann_run(const struct cann_step *step, struct arena *arena, struct cann_done *out,
                     struct diag *d)
{
    struct proc_spec spec = {.argv = step->argv,
                             .env = step->env,
                             .folder = step->folder,
                             .log = step->log,
                             .limit_ms = step->limit_s * 1000};
    struct proc_result r;
    struct diag own;
    struct mapfile map = {0};

    *out = (struct cann_done){.rc = -1};
    enum status st = cann_ask(&spec, arena, &r);
    if (st == ST_CANCELLED)
        return st;
    if (r.end == PROC_NOT_STARTED)
        return diag_fail(d, ST_TOOL, "cann.not-started", (struct where){.path = step->argv[0]},
                         "%s", fs_error_text(r.code));
    out->is_timed_out = r.end == PROC_TIMED_OUT;
    out->rc = r.end == PROC_EXITED ? r.code : r.end == PROC_SIGNALLED ? -r.code : -9;
    diag_init(&own);
    if (mapfile_open(&map, step->log, &own) == ST_OK)
        out->text = arena_str(arena, map.text);
    mapfile_close(&map);
    diag_fini(&own);
    return outfile_save(step->log,
                        arena_format(arena, "%.*s\n%.*s\n[exit %d]",
                                     STR_ARGS(command_line(arena, step->argv)), STR_ARGS(out->text),
                                     out->rc),
                        d);
}
