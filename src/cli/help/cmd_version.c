/*
 * strata version: the number, and with --build what was compiled in.
 */
#include "base/asan.h"
#include "cli/session.h"
#include "report/report.h"

struct args {
    bool build;
};

static const struct opt options[] = {
    OPT_FLAG(0, "build", struct args, build, "also print compiler, build type and features"),
};

static const struct example examples[] = {
    {"strata version", "the version number"},
    {"strata version --build", "compiler and features"},
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

/* What the build found; CMake defines the names it linked as 1. */
static const struct feature {
    const char *name, *what;
    bool is_in;
} features[] = {
    {"zlib", "gzip input", STRATA_HAS_ZLIB},
    {"sqlite", "SQLite exports, SQL over captures", STRATA_HAS_SQLITE},
    {"yaml", "rule files", STRATA_HAS_YAML},
};

/* The vector instructions the readers choose at run time. */
static const char *vector_unit(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? "avx2" : "portable (this processor has no AVX2)";
#elif defined(__aarch64__)
    return "neon";
#else
    return "portable";
#endif
}

struct build {
    const char *version;
    const char *compiler, *asserts, *sanitizers, *vector_unit; /* NULL: not asked for */
    const struct feature *features;
    size_t n;
};

#define ASKED .is_optional = true

static const struct field feature_fields[] = {
    FIELD(struct feature, name, "name"),
    FIELD(struct feature, is_in, "is_in"),
};
static const struct record feature_record = RECORD(struct feature, feature_fields);

static const struct field build_fields[] = {
    FIELD(struct build, version, "version"),
    FIELD(struct build, compiler, "compiler", ASKED),
    FIELD(struct build, asserts, "asserts", ASKED),
    FIELD(struct build, sanitizers, "sanitizers", ASKED),
    FIELD(struct build, vector_unit, "vector_unit", ASKED),
    FIELD_KEYED(struct build, features, n, "features", &feature_record, .missing = MISSING_EMPTY,
                ASKED),
};

static const struct schema schema = {
    .name = "strata.version/1",
    .title = "the version and, with --build, the build",
    .record = &(const struct record)RECORD(struct build, build_fields),
};

static void version_describe(const void *build, struct report *r)
{
    const struct build *b = build;

    report_line(r, "strata %s", b->version);
    if (b->compiler != NULL) {
        report_fact(r, "compiler", str_of(b->compiler));
        report_fact(r, "asserts", str_of(b->asserts));
        report_fact(r, "sanitizers", str_of(b->sanitizers));
        report_fact(r, "vector unit", str_of(b->vector_unit));
        report_line(r, "%s", "");
    }
    for (size_t i = 0; i < b->n; i++)
        report_line(r, "  %-12s%-5s%s", b->features[i].name, b->features[i].is_in ? "yes" : "no",
                    b->features[i].what);
}

static int cli_version_run(struct session *s, const void *p)
{
    const struct args *args = p;
    struct build b = {.version = STRATA_VERSION};

    if (args->build)
        b = (struct build){
            .version = STRATA_VERSION,
            .compiler = COMPILER,
            .asserts = ASSERTS,
            .sanitizers = WITH_ASAN ? "address, undefined" : "none",
            .vector_unit = vector_unit(),
            .features = features,
            .n = ARRAY_LEN(features),
        };
    session_give(
        s, &(struct answer){
               .schema = &schema, .result = &b, .title = S(""), .describe = version_describe});
    return CODE_DONE;
}

const struct command command_version = {
    .name = "version",
    .group = GROUP_TOOLS,
    .summary = "print the version and the build configuration",
    .usage = "[OPTIONS]",
    .details = "Prints the version. With --build also the compiler, the build type and the "
               "optional features.",
    .schemas = {&schema},
    COMMAND_PARTS_ZERO,
    .run = cli_version_run,
};
