/*
 * The libraries of the CUDA back end, and kernels compiled by them. See cuda_inside.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/embedded.h"
#include "base/tables/hash.h"
#include "opdb/measure/cuda_inside.h"

struct call {
    const char *symbol;
    size_t offset;
};

static const struct call calls[] = {
#define CUDA_CALL(name, symbol, ...) {symbol, offsetof(struct cuda_functions, name)},
#include "opdb/measure/cuda_calls.def"
#undef CUDA_CALL
};

static void *open_first(const char *given, const char *const *names)
{
    void *library = given != NULL ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;

    for (; library == NULL && *names != NULL; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

const char *cuda_api_open(struct cuda_functions *api, const struct backend_libraries *libraries)
{
    static const char *const drivers[] = {"libcuda.so.1", NULL};
    static const char *const compilers[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                            NULL};
    static const char *const products[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                           "libcublasLt.so", NULL};
    void *driver = open_first(libraries->cuda, drivers);
    if (driver == NULL)
        return "libcuda.so.1 not found";
    void *compiler = open_first(libraries->nvrtc, compilers);
    if (compiler == NULL)
        return "libnvrtc.so not found";
    void *product = open_first(libraries->cublaslt, products);
    if (product == NULL)
        return "libcublasLt.so not found";
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        void *library = strncmp(calls[i].symbol, "nvrtc", 5) == 0    ? compiler
                        : strncmp(calls[i].symbol, "cublas", 6) == 0 ? product
                                                                     : driver;
        void *symbol = dlsym(library, calls[i].symbol);
        bool is_needed = calls[i].offset != offsetof(struct cuda_functions, tile_map) &&
                         calls[i].offset != offsetof(struct cuda_functions, device_bus);
        if (symbol == NULL && is_needed)
            return calls[i].symbol; /* drivers before 12.0 have no tiles */
        memcpy((char *)api + calls[i].offset, &symbol, sizeof(symbol));
    }
    return NULL;
}

const char *cuda_fail(struct cuda_state *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(c->problem, sizeof(c->problem), format, args);
    va_end(args);
    return c->problem;
}

const char *cuda_type(enum dtype type)
{
    static const char *const names[DTYPES] = {
        [DTYPE_F32] = "float", [DTYPE_F16] = "f16", [DTYPE_BF16] = "bf16",  [DTYPE_F64] = "double",
        [DTYPE_F8E4M3] = "f8", [DTYPE_I8] = "i8",   [DTYPE_U8] = "u8",      [DTYPE_I16] = "i16",
        [DTYPE_I32] = "int",   [DTYPE_I64] = "i64", [DTYPE_BOOL] = "truth",
    };

    return names[type] != NULL ? names[type] : "float";
}

/* What the kernels of a file are made of. */
static char *api_source_of(const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "cuda/%s.cu", file);
    const char *const parts[] = {"cuda/types.cuh", "cuda/attention.cuh", path};
    struct str all[ARRAY_LEN(parts)];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        all[i] = embedded_file(parts[i]);
        if (all[i].at == NULL)
            return NULL;
        n += all[i].n;
    }
    char *text = malloc(n + 1), *end = text;
    for (size_t i = 0; i < ARRAY_LEN(parts) && text != NULL; i++)
        end = (char *)memcpy(end, all[i].at, all[i].n) + all[i].n;
    if (text != NULL)
        *end = 0;
    return text;
}

/* A cached file may be cut or somebody else's: only a regular ELF file below 64 MiB gets to the
 * driver. */
static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "rbe");
    struct stat st;
    char *bytes = NULL;

    if (f == NULL)
        return NULL;
    if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 4 &&
        st.st_size < (64 << 20))
        bytes = malloc((size_t)st.st_size);
    if (bytes != NULL && fread(bytes, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(f);
    if (bytes != NULL && memcmp(bytes, "\177ELF", 4) != 0) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* A cache that cannot be written is none. */
static void keep_whole(const char *path, const char *bytes, size_t n)
{
    char part[600];
    snprintf(part, sizeof(part), "%s.%d", path, (int)getpid());
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_whole = fd >= 0 && write(fd, bytes, n) == (ssize_t)n;

    if (fd >= 0)
        close(fd);
    if (!is_whole || rename(part, path) != 0)
        unlink(part);
}

static const char *compile_failed(struct cuda_state *c, void *program, const char *file)
{
    size_t n = 0;
    char *log = NULL;

    if (c->api.program_log_size(program, &n) == 0 && n > 1 && (log = malloc(n)) != NULL &&
        c->api.program_log(program, log) == 0)
        cuda_fail(c, "%s.cu does not compile: %.180s", file, log);
    else
        cuda_fail(c, "%s.cu does not compile", file);
    free(log);
    return c->problem;
}

enum { OPTIONS_MOST = 24, OPTIONS_TEXT = 512 };

static const char *compile(struct cuda_state *c, const char *file, const char *source,
                           const char *defines, char **out, size_t *size)
{
    char text[OPTIONS_TEXT];
    const char *options[OPTIONS_MOST], *problem = NULL;
    void *program = NULL;
    int n = 0;

    /* "-DA=1 -DB=2" and the architecture as separate words. */
    snprintf(text, OPTIONS_TEXT, "--gpu-architecture=sm_%d%s --std=c++17 %s", c->cc,
             c->cc == 90 ? "a" : "", defines);
    for (char *word = strtok(text, " "); word != NULL && n < OPTIONS_MOST; word = strtok(NULL, " "))
        options[n++] = word;
    *out = NULL;
    if (c->api.program_create(&program, source, file, 0, NULL, NULL) != 0)
        return cuda_fail(c, "NVRTC does not take %s.cu", file);
    if (c->api.program_compile(program, n, options) != 0 || c->api.cubin_size(program, size) != 0 ||
        (*out = malloc(*size)) == NULL || c->api.cubin(program, *out) != 0)
        problem = compile_failed(c, program, file);
    c->api.program_destroy(&program);
    return problem;
}

static const char *load_module(struct cuda_state *c, const char *file, const char *defines,
                               uint64_t key, void **out)
{
    char path[560];
    size_t size = 0;
    const char *problem = NULL;

    snprintf(path, sizeof(path), "%s/%s-%016llx.cubin", c->cache, file, (unsigned long long)key);
    char *cubin = c->cache[0] != 0 ? read_whole(path) : NULL;
    if (cubin == NULL) {
        char *source = api_source_of(file);
        if (source == NULL)
            return cuda_fail(c, "no kernels %s.cu", file);
        problem = compile(c, file, source, defines, &cubin, &size);
        free(source);
        if (problem == NULL && c->cache[0] != 0)
            keep_whole(path, cubin, size);
    }
    if (problem == NULL && c->api.module_load(out, cubin) != 0)
        problem = cuda_fail(c, "the driver does not load %s.cu", file);
    free(cubin);
    return problem;
}

/* The same source, architecture and definitions. */
static uint64_t api_key_of(const struct cuda_state *c, const char *file, const char *defines)
{
    char text[64];
    char *source = api_source_of(file);
    uint64_t key = source != NULL ? hash_stable_bytes(str_of(source)) : 0;

    free(source);
    int n = snprintf(text, sizeof(text), "%016llx %d", (unsigned long long)key, c->cc);
    key = hash_stable_bytes((struct str){text, (size_t)n});
    return key * UINT64_C(0x9e3779b97f4a7c15) ^ hash_stable_bytes(str_of(defines));
}

const char *cuda_function(struct cuda_state *c, const char *file, const char *defines,
                          const char *name, void **out)
{
    uint64_t key = api_key_of(c, file, defines);
    void *module = NULL;

    for (size_t i = 0; i < c->modules.n; i++)
        if (c->modules.at[i].key == key)
            module = c->modules.at[i].module;
    if (module == NULL) {
        const char *problem = load_module(c, file, defines, key, &module);
        if (problem != NULL)
            return problem;
        vec_push(&c->modules, ((struct cuda_module){key, module}));
    }
    if (c->api.module_function(out, module, name) != 0)
        return cuda_fail(c, "%s.cu has no %s", file, name);
    return NULL;
}
