/*
 * Compiling and running a PTO kernel in C++.
 */
#include "kernels/pto/pto_cpp_in.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/files/write_all.h"
#include "base/run/cancel.h"
#include "base/run/now.h"
#include "base/run/sandbox.h"
#include "base/tables/hash.h"
#include "base/text/char.h"
#include "driver/cxx.h"
#include "kernels/pto/sim/core.h"

enum { LIMIT_MS = 60000 };
#define MOST_CALLS 1000000
#define MOST_DATA  ((int64_t)1 << 30) /* of the kernel's own */

/* Dimensions that nobody knows are tried from large to small: a kernel says when they do not fit
 * its tiles. */
static const int64_t draft_dims[] = {128, 64, 32, 16, 1};

/* ---- which cores ---- */

static enum shape side_of(struct str path, struct str text)
{
    if (str_contains(path, S("/mix/")))
        return SHAPE_MIX;
    if (str_contains(path, S("/aic/")) || str_contains(path, S("_aic.")))
        return SHAPE_AIC;
    if (str_contains(path, S("/aiv/")) || str_contains(path, S("_aiv.")))
        return SHAPE_AIV;
    if (str_contains(text, S("_aic(")) && str_contains(text, S("_aiv(")))
        return SHAPE_MIX;
    bool is_cube = str_contains(text, S("TMATMUL")),
         is_vector = str_contains(text, S("__DAV_VEC__"));
    if (is_cube && is_vector)
        return SHAPE_MIX;
    return is_cube ? SHAPE_AIC : SHAPE_AIV;
}

struct cpp_objects {
    const char *object[2]; /* cube, vector; NULL: that side has no part */
};

struct cpp_side {
    const struct pto_cpp_job *job;
    struct pto_cpp_run *run;
    const char *source;
    bool is_cube, is_first;
};

/* Finds where the kernel begins. */
static enum status adapt(void *ctx, struct str text, const char *headers, struct text *out,
                         struct diag *d)
{
    struct cpp_side *s = ctx;
    struct kernel_start launch;
    struct launch_job job = {.text = text,
                             .source = str_of(s->source),
                             .headers = str_of(headers),
                             .wanted = str_of(s->job->entry ? s->job->entry : ""),
                             .is_cube = s->is_cube};

    TRY(launch_find(&job, &s->run->arena, &launch, d));
    launch_write(&job, &launch, out);
    if (!s->is_first)
        return ST_OK;
    s->run->launch = launch;
    if (launch.n_entries > 1 && !s->job->entry)
        diag_add(d, SEV_NOTE, "pto-cpp.entries", (struct where){.path = s->source},
                 "%zu functions can be run (%.*s%s); this is %.*s, --entry NAME chooses another",
                 launch.n_entries, STR_ARGS(launch.others),
                 str_contains(launch.others, launch.call) ? "" : "; ..", STR_ARGS(launch.call));
    return ST_OK;
}

static enum status compile_side(const struct pto_cpp_job *job, struct pto_cpp_run *r, bool is_cube,
                                struct cpp_objects *l, struct diag *d)
{
    const char *source = is_cube || !job->vector_source ? job->source : job->vector_source;
    struct cpp_side side = {job, r, source, is_cube, is_cube || r->side == SHAPE_AIV};
    struct cxx_job c = {.source = source,
                        .includes = job->includes,
                        .limit_ms = job->limit_ms > LIMIT_MS ? job->limit_ms : LIMIT_MS,
                        .adapt = adapt,
                        .ctx = &side};
    static const char *const defines[2][2][4] = {
        {{"__DAV_VEC__", "__DAV_C220_VEC__", "__CCE_AICORE__=220", "__NPU_ARCH__=2201"},
         {"__DAV_CUBE__", "__DAV_C220_CUBE__", "__CCE_AICORE__=220", "__NPU_ARCH__=2201"}},
        {{"__DAV_VEC__", "__DAV_C310_VEC__", "__CCE_AICORE__=310", "__NPU_ARCH__=3510"},
         {"__DAV_CUBE__", "__DAV_C310_CUBE__", "__CCE_AICORE__=310", "__NPU_ARCH__=3510"}},
    };
    struct cxx_object object;

    for (size_t i = 0; i < job->defines.n; i++)
        vec_push(&c.defines, job->defines.at[i]);
    for (size_t i = 0; i < ARRAY_LEN(defines[0][0]); i++)
        vec_push(&c.defines, defines[job->arch == PTO_A5][is_cube][i]);
    enum status status = cxx_compile(&c, &r->arena, &object, d);
    vec_free(&c.defines);
    TRY(status);
    l->object[!is_cube] = object.path;
    r->key = hash_mix(r->key, object.key);
    r->was_compiled = r->was_compiled || !object.was_there;
    r->compile_ms += (double)object.took / 1e6;
    return ST_OK;
}

static enum status compile(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                           struct cpp_objects *l, struct diag *d)
{
    memset(r, 0, sizeof(*r));
    arena_init(&r->arena);
    struct mapfile map;
    TRY(mapfile_open(&map, job->source, d));
    struct str text = arena_str(&r->arena, map.text);
    mapfile_close(&map);
    r->source = text;
    struct str path = str_of(job->source), base = str_basename(path);
    /* A name of the dialect's text. */
    struct str stem = str_part(base, 0, str_find_char(base, '.'));
    char *name = arena_cstr(&r->arena, stem);
    for (size_t i = 0; i < stem.n; i++)
        if (!char_is_word(name[i]))
            name[i] = '_';
    r->name =
        stem.n > 0 && char_is_digit(name[0]) ? arena_format(&r->arena, "_%s", name) : str_of(name);
    r->side = job->side >= 0       ? (enum shape)job->side
              : job->vector_source ? SHAPE_MIX
                                   : side_of(path, text);
    r->is_drafted = job->slots == NULL;
    for (size_t i = 0; job->slots && i < job->slots->n; i++)
        vec_push(&r->slots, job->slots->at[i]);
    if (r->side != SHAPE_AIV)
        TRY(compile_side(job, r, true, l, d));
    if (r->side != SHAPE_AIC)
        TRY(compile_side(job, r, false, l, d));
    return ST_OK;
}

enum status pto_cpp_compile(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    struct cpp_objects l = {0};

    TRY(compile(job, r, &l, d));
    if (r->is_drafted)
        pto_cpp_draft(job, r, draft_dims[0]);
    return ST_OK;
}

/* ---- in the child ---- */

static struct pto_cpp_memory *ours;
static const struct pto_host *host;

static void cpp_fail(void *ctx, const char *code, struct strata_pto_place place, const char *text)
{
    (void)ctx;
    ours->code = code;
    snprintf(ours->text, sizeof(ours->text), "%s", text);
    snprintf(ours->file, sizeof(ours->file), "%s", place.file);
    ours->line = place.line;
    ours->has_failed = true;
    _exit(1);
}

static struct strata_pto_place last_place(void)
{
    return (struct strata_pto_place){ours->mark.file, ours->mark.line};
}

static void on_refused(const char *what)
{
    char text[160];

    snprintf(text, sizeof(text), "the kernel %s, which a kernel may not do", what);
    cpp_fail(NULL, "pto-cpp.sandbox", last_place(), text);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    char text[256];
    const char *what = number == SIGFPE    ? "divides by zero"
                       : number == SIGILL  ? "executes an unknown instruction"
                       : number == SIGABRT ? "aborts"
                       : host && pto_host_is_below_stack(host, info->si_addr)
                           ? "needs more than 8 MiB of stack"
                           : "touches memory outside of its tensors";

    (void)context;
    snprintf(text, sizeof(text), "the kernel %s%s", what,
             ours->mark.calls > 0 ? "; the line is that of the last instruction before" : "");
    if (number == SIGSEGV || number == SIGBUS)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " (address %p)", info->si_addr);
    cpp_fail(NULL, "pto-cpp.crash", last_place(), text);
}

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static unsigned char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaltstack(&own, NULL);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

/* Each core has its copy of the object, since kernels keep their lane in static variables. */
static int copy_object(const char *object)
{
    int from = open(object, O_RDONLY | O_CLOEXEC), copy = memfd_create("kernel", MFD_CLOEXEC);
    char block[1 << 16];
    ssize_t n = 0;

    while (from >= 0 && copy >= 0 && (n = read(from, block, sizeof(block))) > 0)
        if (write_all(copy, block, (size_t)n) != 0)
            break;
    if (from < 0 || copy < 0 || n != 0)
        cpp_fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0},
                 "the compiled kernel cannot be read");
    close(from);
    return copy;
}

/* What the loader says; a function that is only declared is the user's to find. */
static const char *load_problem(const char *said, char *out, size_t size)
{
    static const char missing[] = "undefined symbol: ";
    const char *symbol = said != NULL ? strstr(said, missing) : NULL;
    char *end = NULL;

    if (symbol == NULL)
        return said != NULL ? said : "the compiled kernel cannot be loaded";
    symbol += sizeof(missing) - 1;
    unsigned long n = strncmp(symbol, "_Z", 2) == 0 ? strtoul(symbol + 2, &end, 10) : 0;
    if (end == NULL || n == 0 || n > strlen(end)) {
        end = (char *)symbol;
        n = strcspn(symbol, " ");
    }
    snprintf(out, size,
             "%.*s is declared here and defined elsewhere: give the file that defines the kernel",
             (int)(n < 100 ? n : 100), end);
    return out;
}

static void load_core(struct pto_host *h, int object, uint32_t core)
{
    char path[64], problem[256];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", object);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        cpp_fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0},
                 load_problem(dlerror(), problem, sizeof(problem)));
    struct pto_host_object o = {(pto_host_attach *)dlsym(library, "strata_pto_attach"),
                                (pto_host_enter *)dlsym(library, "strata_pto_enter"),
                                (pto_host_entry *)dlsym(library, "kernel_entry")};
    if (o.attach == NULL || o.enter == NULL)
        cpp_fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0},
                 "the source does not include pto/pto-inst.hpp");
    if (o.entry == NULL)
        cpp_fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0},
                 "kernel_entry(int64_t *args) is not extern \"C\"");
    pto_host_add(h, core, &o, ours->core_args[core]);
}

/* From here on the process can only compute: loading runs code of the kernel already. */
static void load_cores(struct pto_host *h, const struct pto_cpp_run *r, const struct cpp_objects *l,
                       int out)
{
    const bool wanted[PTO_CORES] = {l->object[0] != NULL, l->object[1] != NULL,
                                    l->object[1] != NULL && r->side == SHAPE_MIX};
    struct sandbox box = {.out = out, .seconds = 600, .data_bytes = MOST_DATA, .told = on_refused};
    int objects[PTO_CORES] = {-1, -1, -1};

    for (uint32_t i = 0; i < PTO_CORES; i++)
        if (wanted[i])
            objects[i] = copy_object(l->object[i != PTO_AIC]);
    (void)sandbox_enter(&box);
    for (uint32_t i = 0; i < PTO_CORES; i++)
        if (wanted[i])
            load_core(h, objects[i], i);
}

static void run_kernel(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                       const struct cpp_objects *l, int out)
{
    struct pto_host_buffer *buffers = ARENA_ARRAY(&r->arena, struct pto_host_buffer, SLOT_COUNT);
    struct pto_host_setup setup = {.arch = job->arch,
                                   .block = (int32_t)job->block,
                                   .blocks = (int32_t)job->blocks,
                                   .buffers = buffers,
                                   .n_buffers = r->buffers.n,
                                   .max_calls = MOST_CALLS,
                                   .fail = cpp_fail};
    struct pto_host_lines lines = {0};
    struct text text = {0};

    ours = r->memory;
    setup.mark = &ours->mark;
    for (size_t i = 0; i < r->buffers.n; i++)
        buffers[i] = (struct pto_host_buffer){r->buffers.at[i].slot->name, r->buffers.at[i].data,
                                              r->buffers.at[i].size, r->buffers.at[i].dtype, 0};
    struct pto_host *h = pto_host_new(&setup);
    host = h;
    catch_crashes();
    load_cores(h, r, l, out);
    pto_host_run(h);
    pto_host_text(h, r->name, str_of(job->source), &text, &lines);
    for (size_t i = 0; i < r->buffers.n; i++)
        ours->reached[i] = buffers[i].reached;
    uint64_t sizes[2] = {text.n, lines.at.n};
    if (write_all(out, sizes, sizeof(sizes)) != 0 || write_all(out, text.at, text.n) != 0 ||
        write_all(out, lines.at.at, lines.at.n * sizeof(*lines.at.at)) != 0)
        cpp_fail(NULL, "pto-cpp.memory", (struct strata_pto_place){"", 0},
                 "no memory for the stream");
    ours->is_done = true;
    _exit(0);
}

/* ---- in the parent ---- */

static enum status tell_end(const struct pto_cpp_job *job, const struct pto_cpp_run *r, int status,
                            bool is_late, struct diag *d)
{
    const struct pto_cpp_memory *m = r->memory;
    struct where where = {m->file[0] ? m->file : job->source, (uint64_t)m->line, 0};

    if (m->has_failed) {
        if (r->is_drafted && strcmp(m->code, "pto-cpp.load") != 0)
            diag_hint(d, "note",
                      "the arguments were guessed from the source; --arg-spec FILE gives them");
        return diag_fail(d, ST_FORMAT, m->code, where, "%s", m->text);
    }
    where = (struct where){m->mark.file[0] ? m->mark.file : job->source, (uint64_t)m->mark.line, 0};
    if (is_late)
        return diag_fail(d, ST_LIMIT, "pto-cpp.timeout", where,
                         "the kernel did not end in time; its last instruction was here (%llu so "
                         "far)",
                         (unsigned long long)m->mark.calls);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) /* with all signals held back */
        return diag_fail(d, ST_FORMAT, "pto-cpp.sandbox", where,
                         "the kernel starts a thread or a process, which a kernel may not do");
    return diag_fail(d, ST_TOOL, "pto-cpp.crash", where, "the kernel ended with %s %d",
                     WIFSIGNALED(status) ? "signal" : "exit code",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static enum status wait_for(const struct pto_cpp_job *job, struct pto_cpp_run *r, pid_t child,
                            struct diag *d)
{
    nanos begin = now_ns(), limit = (job->limit_ms > 0 ? job->limit_ms : LIMIT_MS) * 1000000;
    int status = 0;
    bool is_late = false;

    for (int64_t pause = 20000; waitpid(child, &status, WNOHANG) == 0;) {
        if (cancelled() || now_ns() - begin > limit) {
            is_late = !cancelled();
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            break;
        }
        nanosleep(&(struct timespec){0, pause}, NULL);
        pause = pause < 5000000 ? pause * 2 : pause;
    }
    r->run_ms = (double)(now_ns() - begin) / 1e6;
    r->calls = r->memory->mark.calls;
    if (cancelled())
        return ST_CANCELLED;
    return r->memory->is_done ? ST_OK : tell_end(job, r, status, is_late, d);
}

static enum status receive(struct pto_cpp_run *r, int in, struct diag *d)
{
    uint64_t sizes[2] = {0};
    bool is_whole = pread(in, sizes, sizeof(sizes), 0) == sizeof(sizes);

    if (!is_whole)
        sizes[0] = sizes[1] = 0;
    size_t bytes = sizes[1] * sizeof(uint32_t);
    char *text = mem_grow(NULL, 1, sizes[0] + 1);
    vec_reserve(&r->lines, sizes[1]);
    is_whole = is_whole && pread(in, text, sizes[0], sizeof(sizes)) == (ssize_t)sizes[0] &&
               pread(in, r->lines.at, bytes, (off_t)(sizeof(sizes) + sizes[0])) == (ssize_t)bytes;
    r->lines.n = is_whole ? sizes[1] : 0;
    text_put(&r->text, (struct str){text, is_whole ? sizes[0] : 0});
    mem_free(text);
    for (size_t i = 0; i < r->buffers.n; i++)
        r->buffers.at[i].reached = r->memory->reached[i];
    if (is_whole)
        return ST_OK;
    return diag_fail(d, ST_IO, "pto-cpp.memory", (struct where){0},
                     "the stream of the kernel is lost");
}

static enum status run_once(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                            const struct cpp_objects *l, struct diag *d)
{
    struct where where = {.path = job->source};

    pto_cpp_forget(r);
    TRY(pto_cpp_arguments(job, r, d));
    int out = memfd_create("strata-stream", MFD_CLOEXEC);
    if (out < 0)
        return diag_fail(d, ST_IO, "pto-cpp.memory", where, "no memory to run the kernel");
    pid_t child = fork();
    if (child == 0)
        run_kernel(job, r, l, out);
    enum status status = child < 0 ? diag_fail(d, ST_TOOL, "pto-cpp.memory", where,
                                               "no process for the kernel: %s", strerror(errno))
                                   : wait_for(job, r, child, d);
    if (status == ST_OK)
        status = receive(r, out, d);
    close(out);
    return status;
}

/* The first failure is told when no dimension fits. */
static enum status run_drafted(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                               const struct cpp_objects *l, struct diag *d)
{
    struct diag quiet;

    diag_init(&quiet);
    enum status status = ST_FORMAT;
    for (size_t i = 0; i < ARRAY_LEN(draft_dims) && status != ST_OK && status != ST_CANCELLED &&
                       status != ST_LIMIT;
         i++) {
        pto_cpp_draft(job, r, draft_dims[i]);
        status = run_once(job, r, l, &quiet);
    }
    diag_fini(&quiet);
    if (status == ST_OK || status == ST_CANCELLED)
        return status;
    pto_cpp_draft(job, r, draft_dims[0]);
    return run_once(job, r, l, d);
}

enum status pto_cpp_run(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d)
{
    struct cpp_objects l = {0};

    TRY(compile(job, r, &l, d));
    TRY(r->is_drafted ? run_drafted(job, r, &l, d) : run_once(job, r, &l, d));
    /* Half a conversation is simulated: that must not look like a whole one. */
    const struct pto_host_mark *m = &r->memory->mark;
    struct where where = {job->source, (uint64_t)m->rank_line, 0};
    if (m->between_ranks > 0)
        diag_add(d, SEV_WARN, "pto-cpp.one-rank", where,
                 "%llu %s with other ranks, which are not simulated: what is sent goes to the "
                 "kernel's own tensors, and a wait ends as soon as the cost model lets it",
                 (unsigned long long)m->between_ranks,
                 m->between_ranks == 1 ? "exchange" : "exchanges");
    return ST_OK;
}
