/*
 * The process of a PTO kernel in C++. All of it is the kernel's to change once the kernel is
 * loaded: what it sends is a claim.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files/write_all.h"
#include "base/run/child.h"
#include "base/run/sandbox.h"
#include "kernels/pto/pto_cpp_in.h"

#define MOST_CALLS 1000000

static struct pto_cpp_memory *ours;
static const struct pto_host *host;

static uint32_t code_number(const char *code)
{
#define NAME(name) name,
    static const char *const names[] = {PTO_CPP_CODES(NAME)};
#undef NAME

    for (uint32_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], code) == 0)
            return i;
    return 0;
}

static void cpp_fail(void *ctx, const char *code, struct strata_pto_place place, const char *text)
{
    (void)ctx;
    ours->code = code_number(code);
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

/* The path is no file: the handler of the sandbox answers its open() with a copy of ours. */
static void load_core(struct pto_host *h, size_t file, uint32_t core)
{
    char path[64], problem[256];

    snprintf(path, sizeof(path), "/sandbox/%zu", file);
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

/* Each core has its copy of the object, since kernels keep their lane in static variables. */
static int copy_object(const char *object)
{
    int copy = child_copy_file(object);

    if (copy < 0)
        cpp_fail(NULL, "pto-cpp.load", (struct strata_pto_place){"", 0},
                 "the compiled kernel cannot be read");
    return copy;
}

/* From here on the process can only compute: loading runs code of the kernel already. */
static void load_cores(const struct pto_cpp_job *job, struct pto_host *h,
                       const struct pto_cpp_objects *l, struct sandbox *box)
{
    size_t n = 0;

    for (uint32_t i = 0; i < PTO_CORES; i++)
        if (l->object[i] != NULL)
            box->files[box->n_files++] = copy_object(l->object[i]);
    if (!sandbox_enter(box) && !job->is_trusted)
        cpp_fail(
            NULL, "pto-cpp.no-sandbox", (struct strata_pto_place){"", 0},
            "this system has no filter of system calls, so a kernel could do whatever you can");
    for (uint32_t i = 0; i < PTO_CORES; i++)
        if (l->object[i] != NULL)
            load_core(h, n++, i);
}

void pto_cpp_child(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                   const struct pto_cpp_objects *l, int out, int said)
{
    int64_t limit_ms = job->limit_ms > 0 ? job->limit_ms : PTO_CPP_LIMIT_MS;
    struct sandbox box = {.out = out,
                          .said = said,
                          .seconds = limit_ms / 1000 + 1,
                          .bytes = PTO_CPP_MOST_DATA,
                          .told = on_refused};
    struct pto_host_buffer *buffers = ARENA_ARRAY(&r->arena, struct pto_host_buffer, PTO_CPP_PARTS);
    struct pto_host_setup setup = {.arch = job->arch,
                                   .block = (int32_t)job->block,
                                   .blocks = (int32_t)job->blocks,
                                   .buffers = buffers,
                                   .n_buffers = r->parts.n,
                                   .max_calls = MOST_CALLS,
                                   .names_no_core = r->names_no_core,
                                   .fail = cpp_fail};
    struct pto_host_lines lines = {0};
    struct text text = {0};

    ours = r->memory;
    setup.mark = &ours->mark;
    for (size_t i = 0; i < r->parts.n; i++)
        buffers[i] = (struct pto_host_buffer){r->parts.at[i].name, r->parts.at[i].data,
                                              r->parts.at[i].size, r->parts.at[i].dtype, 0};
    struct pto_host *h = pto_host_new(&setup);
    host = h;
    child_catch(on_crash);
    load_cores(job, h, l, &box);
    pto_host_run(h);
    pto_host_text(h, r->name, str_of(job->source), &text, &lines);
    for (size_t i = 0; i < r->parts.n; i++)
        ours->reached[i] = buffers[i].reached;
    uint64_t sizes[2] = {text.n, lines.at.n};
    if (write_all(out, sizes, sizeof(sizes)) != 0 || write_all(out, text.at, text.n) != 0 ||
        write_all(out, lines.at.at, lines.at.n * sizeof(*lines.at.at)) != 0)
        cpp_fail(NULL, "pto-cpp.memory", (struct strata_pto_place){"", 0},
                 "no memory for the stream");
    fflush(stdout);
    ours->is_done = true;
    _exit(0);
}
