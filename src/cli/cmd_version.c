/*
 * strata version: the number, and with --build what was compiled in.
 */
#include "cli/session.h"

struct args {
    bool build;
};

static const struct opt options[] = {
    OPT_FLAG(0, "build", struct args, build,
             "list compiler, kind of build and compiled-in features"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata version", "the number"},
    {"strata version --build", "compiler and features"},
    {0},
};

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

#ifdef NDEBUG
#define ASSERTS "off"
#else
#define ASSERTS "on"
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

/* What the build found; CMake defines the names it linked. */
static const struct feature {
    const char *name, *what;
    bool is_in;
} features[] = {
    {"zlib", "gzip input",
#ifdef STRATA_HAS_ZLIB
     true
#else
     false
#endif
    },
    {"sqlite", "database-shaped exports, SQL over captures",
#ifdef STRATA_HAS_SQLITE
     true
#else
     false
#endif
    },
    {"yaml", "rule files",
#ifdef STRATA_HAS_YAML
     true
#else
     false
#endif
    },
};

/* The vector instructions the readers choose at run time. */
static const char *vector_unit(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? "avx2" : "portable (this processor has no AVX2)";
#else
    return "portable";
#endif
}

static const struct {
    const char *name, *value;
} facts[] = {
    {"compiler", COMPILER},
    {"asserts", ASSERTS},
    {"sanitizers", HAS_ASAN ? "address, undefined" : "none"},
};

static void print_json(struct session *s, bool build)
{
    struct json_writer *j = session_json_begin(s, "strata.version/1", NULL);

    json_write_object(j);
    json_put_text(j, "version", STRATA_VERSION);
    if (build) {
        for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
            json_put_text(j, facts[i].name, facts[i].value);
        }
        json_put_text(j, "vector_unit", vector_unit());
        json_put_object(j, "features");
        for (size_t i = 0; i < ARRAY_LEN(features); i++) {
            json_put_bool(j, features[i].name, features[i].is_in);
        }
        json_write_end(j);
    }
    json_write_end(j);
    session_json_end(s);
}

static int run(struct session *s, const void *p)
{
    const struct args *args = p;

    if (s->common.json) {
        print_json(s, args->build);
        return CODE_DONE;
    }
    out_text(&s->out, "strata " STRATA_VERSION "\n");
    if (!args->build)
        return CODE_DONE;
    out_text(&s->out, "\n");
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        out_printf(&s->out, "  %-12s%s\n", facts[i].name, facts[i].value);
    out_printf(&s->out, "  %-12s%s\n\n", "vector unit", vector_unit());
    for (size_t i = 0; i < ARRAY_LEN(features); i++)
        out_printf(&s->out, "  %-12s%-5s%s\n", features[i].name, features[i].is_in ? "yes" : "no",
                   features[i].what);
    return CODE_DONE;
}

const struct command command_version = {
    .name = "version",
    .group = GROUP_ABOUT,
    .summary = "print the version and what was compiled in",
    .usage = "[OPTIONS]",
    .details = "Prints the version. With --build also the compiler, the kind of build and the "
               "optional parts that were compiled in.",
    .options = options,
    .args_size = sizeof(struct args),
    .examples = examples,
    .run = run,
};
