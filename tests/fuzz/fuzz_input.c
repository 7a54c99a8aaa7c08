/*
 * One harness for every importer: $FUZZ_FORMAT names the format, the fuzzer's bytes are the file.
 * What was read is sealed and analysed, so hostile numbers reach the analyses too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/arch/arch.h"
#include "analysis/idle/anomaly.h"
#include "analysis/tables/inventory.h"
#include "analysis/tables/memory.h"
#include "capture/capture.h"
#include "check_diagnose.h"
#include "input/input.h"
#include "report/envelope.h"

static bool swallow(void *ctx, struct str text)
{
    *(size_t *)ctx += text.n;
    return true;
}

/* One analysis, as a document and as a report. */
static void ask(const struct analysis *a, const struct capture *cap)
{
    struct study st;
    struct report *report = report_new(LANG_EN, S("fuzz"));
    size_t written = 0;

    study_begin(&st, cap, study_defaults());
    const struct record_env env = {&cap->strings, &st.scratch, NULL};
    const struct diag none = {0};
    const struct envelope e = {
        .schema = a->schema, .result = a->find(&st), .env = &env, .diag = &none};
    if (!envelope_write((struct sink){swallow, &written}, &e) || written == 0)
        abort();
    a->run(&st, report);
    study_end(&st);
    report_free(report);
}

/* The whole anomaly document, with the structures that an architecture gives it. */
static void ask_both(const struct capture *cap)
{
    struct study st;
    size_t written = 0;

    study_begin(&st, cap, study_defaults());
    const struct arch *arch = arch_find(&st, &(struct arch_options){.name = S("fuzz")});
    if (!anomaly_write_json(&st, arch, (struct sink){swallow, &written}) || written == 0)
        abort();
    study_end(&st);
}

/* Memory: what lived at the peak, and what a snapshot holds. */
static void ask_memory(const struct capture *cap)
{
    struct report *report = report_new(LANG_EN, S("fuzz"));
    struct study st;

    study_begin(&st, cap, study_defaults());
    struct memory_curves *m = memory_find(&st);
    if (m->n_events < 100000)
        memory_list_events(&st, m);
    memory_describe(m, report);
    if (cap->snapshot != NULL)
        memory_diff_describe(memory_compare(&st, &st), report);
    study_end(&st);
    report_free(report);
}

static void analyse(const struct capture *cap)
{
    const struct analysis *a;
    struct inventory inv;

    for (size_t i = 0; (a = analysis_at(i)) != NULL; i++)
        ask(a, cap);
    ask_both(cap);
    check_diagnose(cap);
    ask_memory(cap);
    inventory_init(&inv, cap);
    inventory_fini(&inv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *name = getenv("FUZZ_FORMAT");
    char *copy = malloc(n > 0 ? n : 1); /* exactly n bytes, so that reading past them shows */
    struct capture *cap = capture_new();
    const struct input_format *format;
    struct input_options options = input_defaults();
    struct diag d;

    if (n > 0)
        memcpy(copy, data, n);
    diag_init(&d);
    struct probe probe = {"fuzz", S("fuzz"), str_part((struct str){copy, n}, 0, INPUT_HEAD)};
    if (name == NULL || input_pick(&probe, name, &d, &format) != ST_OK) {
        fprintf(stderr, "fuzz_input: FUZZ_FORMAT must name an input format\n");
        exit(2);
    }
    input_probe(format, &probe);
    enum status st = input_read(
        format,
        &(struct input_file){.path = "fuzz", .text = {copy, n}, .diag = &d, .options = &options},
        cap);
    free(copy);
    if (st == ST_OK) {
        capture_seal(cap);
        analyse(cap);
    }
    capture_free(cap);
    diag_fini(&d);
    return 0;
}
