#include "driver/cubin_tools.h"

#include "base/proc.h"

enum { LIMIT_MS = 60000, WORDS = 8 };

static const size_t keep_most = (size_t)256 << 20;

const char *const *nvdisasm_argv(struct arena *arena, const char *program, const char *path,
                                 const struct cubin *c, const struct cubin_function *f)
{
    const char **words = ARENA_ARRAY(arena, const char *, WORDS);
    size_t n = 0;

    words[n++] = program;
    words[n++] = "-g"; /* source lines */
    words[n++] = "-c"; /* sections with code only */
    if (c->code_bytes > CUBIN_CODE_MOST) {
        words[n++] = "-fun";
        words[n++] = arena_format(arena, "%zu", f->symbol).at;
    }
    words[n++] = path;
    return words;
}

static enum status run(struct arena *arena, const char *const *argv, struct str *out,
                       struct diag *d)
{
    struct proc_result p;

    *out = S("");
    TRY(proc_run(&(struct proc_spec){.argv = argv, .limit_ms = LIMIT_MS, .keep_max = keep_most},
                 arena, &p, d));
    if (p.out.n == 0)
        return diag_fail(d, ST_TOOL, "tool.no-output", (struct where){0}, "%s printed nothing",
                         argv[0]);
    *out = p.out;
    return ST_OK;
}

enum status nvdisasm_text(struct arena *arena, const char *program, const char *path,
                          const struct cubin *c, const struct cubin_function *f, struct str *out,
                          struct diag *d)
{
    return run(arena, nvdisasm_argv(arena, program, path, c, f), out, d);
}

enum status cuobjdump_text(struct arena *arena, const char *program, const char *path,
                           struct str *out, struct diag *d)
{
    const char *const argv[] = {program, "-ptx", path, NULL};

    return run(arena, argv, out, d);
}
