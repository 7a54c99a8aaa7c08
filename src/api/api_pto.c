/*
 * The public door to the simulator of PTO kernels, over kernels/pto/pto_kernel.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/text/c_locale.h"
#include "base/text/num.h"
#include "kernels/pto/pto_judge.h"

struct named {
    char *name, *value;
};

struct names {
    struct named *at;
    size_t n, cap;
};

struct strata_pto {
    struct job job; /* has everything below */
    struct pto_kernel kernel;
    struct pto_costs *costs; /* NULL: the handle is as new */
    struct pto_setup setup;
    struct names params, args;
    char *text, *name, *func, *chip;
    char error[1024];
};

static char *pto_copy(const char *text, size_t n)
{
    char *to = mem_grow(NULL, 1, n + 1);

    if (n > 0)
        memcpy(to, text, n);
    to[n] = '\0';
    return to;
}

static void replace(char **to, const char *text)
{
    mem_free(*to);
    *to = pto_copy(text, strlen(text));
}

static void pto_forget(struct names *list)
{
    for (size_t i = 0; i < list->n; i++) {
        mem_free(list->at[i].name);
        mem_free(list->at[i].value);
    }
    list->n = 0;
}

static int misuse(struct strata_pto *k, const char *text)
{
    snprintf(k->error, sizeof(k->error), "%s", text);
    return STRATA_USAGE;
}

/* One call, with its arguments and what it answers. */
struct pto_call {
    struct strata_pto *k;
    struct names *list; /* that gets the name and the value */
    const char *name, *value;
    size_t n; /* of the value, or columns */
    const char *const *names, *const *values;
    size_t rows;
    struct strata_pto_result *out;
    int code;
};

static void make_new(struct strata_pto *k)
{
    *k = (struct strata_pto){.job = JOB_INIT, .setup = {.target = -1, .blocks = 1}};
}

static void pto_prepare(void *ctx)
{
    struct strata_pto *k = ((struct pto_call *)ctx)->k;

    pto_kernel_init(&k->kernel);
    k->costs = pto_costs_new();
}

/* Does the work of a call; what to return. */
static int run_call(struct strata_pto *k, void (*work)(void *ctx), struct pto_call *call)
{
    locale_t before = c_locale_begin();

    call->k = k;
    bool is_done = k->costs != NULL || job_run(&k->job, pto_prepare, call);
    is_done = is_done && job_run(&k->job, work, call);
    c_locale_end(before);
    if (is_done)
        return call->code;
    make_new(k); /* the rest went with the job */
    snprintf(k->error, sizeof(k->error), "out of memory [memory.none]");
    return STRATA_MEMORY;
}

struct strata_pto *strata_pto_new(void)
{
    struct strata_pto *k = malloc(sizeof(*k));

    if (k != NULL)
        make_new(k);
    return k;
}

static void pto_release(void *handle)
{
    struct strata_pto *k = handle;

    pto_forget(&k->params);
    pto_forget(&k->args);
    vec_free(&k->params);
    vec_free(&k->args);
    pto_kernel_free(&k->kernel);
    pto_costs_free(k->costs);
    mem_free(k->text);
    mem_free(k->name);
    mem_free(k->func);
    mem_free(k->chip);
}

void strata_pto_free(struct strata_pto *k)
{
    if (k == NULL)
        return;
    if (k->costs != NULL)
        job_run(&k->job, pto_release, k);
    job_end(&k->job);
    free(k);
}

static void replace_text(void *ctx)
{
    struct pto_call *c = ctx;
    struct strata_pto *k = c->k;

    mem_free(k->text);
    k->text = pto_copy(c->value, c->n);
    k->setup.text = (struct str){k->text, c->n};
    replace(&k->name, c->name);
    k->setup.path = k->name;
    pto_forget(&k->params);
    pto_forget(&k->args);
    k->error[0] = '\0';
}

int strata_pto_text(struct strata_pto *k, const char *text, size_t n, const char *name)
{
    if (k == NULL)
        return STRATA_USAGE;
    if (text == NULL)
        return misuse(k, "strata_pto_text: text is NULL");
    return run_call(
        k, replace_text,
        &(struct pto_call){.name = name != NULL ? name : "kernel", .value = text, .n = n});
}

static void put_given(void *ctx)
{
    const struct pto_call *c = ctx;
    struct names *list = c->list;

    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->at[i].name, c->name) == 0) {
            replace(&list->at[i].value, c->value);
            return;
        }
    vec_push(list, ((struct named){pto_copy(c->name, strlen(c->name)),
                                   pto_copy(c->value, strlen(c->value))}));
}

int strata_pto_set(struct strata_pto *k, const char *name, const char *value)
{
    if (k == NULL)
        return STRATA_USAGE;
    if (name == NULL || value == NULL)
        return misuse(k, "strata_pto_set: name or value is NULL");
    return run_call(k, put_given,
                    &(struct pto_call){.list = &k->params, .name = name, .value = value});
}

int strata_pto_arg(struct strata_pto *k, const char *name, const char *value)
{
    if (k == NULL)
        return STRATA_USAGE;
    if (name == NULL || value == NULL)
        return misuse(k, "strata_pto_arg: name or value is NULL");
    return run_call(k, put_given,
                    &(struct pto_call){.list = &k->args, .name = name, .value = value});
}

static int set_number(struct strata_pto *k, struct str value, int64_t most, int64_t *out)
{
    int64_t number;

    if (!num_i64(value, &number) || number < 1 || number > most)
        return misuse(
            k,
            "strata_pto_option: blocks (1 to 100000), cores (1 to 1024) or max-steps out of range");
    *out = number;
    return STRATA_OK;
}

static int load_costs(struct strata_pto *k, const char *path)
{
    struct diag d;

    diag_init(&d);
    enum status status = pto_costs_load(k->costs, path, &d);
    if (status != ST_OK)
        api_error_text(&d, k->error, sizeof(k->error));
    diag_fini(&d);
    return (int)status;
}

static int set_option(struct strata_pto *k, const char *name, const char *value)
{
    struct str v = str_of(value);
    struct str n = str_of(name);
    int64_t number = 0;

    if (str_equal(n, S("func"))) {
        replace(&k->func, value);
        k->setup.func = str_of(k->func);
    } else if (str_equal(n, S("chip"))) {
        replace(&k->chip, value);
        k->setup.chip = str_of(k->chip);
    } else if (str_equal(n, S("target")) && (str_equal(v, S("a2a3")) || str_equal(v, S("a5")))) {
        k->setup.target = str_equal(v, S("a5")) ? PTO_A5 : PTO_A2A3;
    } else if (str_equal(n, S("sync")) && (str_equal(v, S("dep")) || str_equal(v, S("ptoas")))) {
        k->setup.is_dep = str_equal(v, S("dep"));
    } else if (str_equal(n, S("blocks"))) {
        return set_number(k, v, 100000, &k->setup.blocks);
    } else if (str_equal(n, S("cores"))) {
        return set_number(k, v, 1024, &k->setup.cores);
    } else if (str_equal(n, S("max-steps"))) {
        int code = set_number(k, v, INT64_MAX, &number);
        k->setup.max_steps = code == STRATA_OK ? (uint64_t)number : k->setup.max_steps;
        return code;
    } else if (str_equal(n, S("cost"))) {
        return load_costs(k, value);
    } else {
        return misuse(k, "strata_pto_option: not one of func, target (a2a3, a5), chip, sync "
                         "(ptoas, dep), blocks, cores, max-steps and cost");
    }
    return STRATA_OK;
}

static void apply_option(void *ctx)
{
    struct pto_call *c = ctx;

    c->code = set_option(c->k, c->name, c->value);
}

int strata_pto_option(struct strata_pto *k, const char *name, const char *value)
{
    if (k == NULL)
        return STRATA_USAGE;
    if (name == NULL || value == NULL)
        return misuse(k, "strata_pto_option: name or value is NULL");
    return run_call(k, apply_option, &(struct pto_call){.name = name, .value = value});
}

/* One variant. */
static int api_pto_run(struct strata_pto *k, const struct text_param *params, size_t n_params,
                       const struct text_param *args, struct strata_pto_result *out)
{
    struct pto_kernel *kernel = &k->kernel;
    struct diag d;

    k->setup.params = params;
    k->setup.n_params = n_params;
    k->setup.args = args;
    k->setup.n_args = k->args.n;
    diag_init(&d);
    enum status status = pto_kernel_load(kernel, &k->setup, &d);
    if (status == ST_OK)
        status = pto_kernel_bind(kernel, &k->setup, &d);
    if (status == ST_OK)
        status = pto_kernel_run(kernel, k->costs, &k->setup, &d);
    if (status == ST_OK)
        pto_judge(kernel, k->costs, &k->setup, false);
    *out = (struct strata_pto_result){.status = (int)status, .bound = "nothing"};
    if (status == ST_OK) {
        out->cycles = kernel->total;
        out->us = pto_outcome_us(&kernel->outcome, kernel->total);
        out->instructions = kernel->outcome.instructions;
        out->is_complete = kernel->outcome.is_complete;
        out->is_degenerate = kernel->outcome.is_degenerate;
        out->bound = limit_name(kernel->outcome.limits.bound);
    } else {
        api_error_text(&d, k->error, sizeof(k->error));
    }
    diag_fini(&d);
    return (int)status;
}

static struct text_param *givens(const struct names *list)
{
    struct text_param *out = mem_grow(NULL, sizeof(*out), list->n + 1);

    for (size_t i = 0; i < list->n; i++)
        out[i] = (struct text_param){str_of(list->at[i].name), str_of(list->at[i].value)};
    return out;
}

static void run_once(void *ctx)
{
    struct pto_call *c = ctx;
    struct strata_pto *k = c->k;
    struct text_param *params = givens(&k->params), *args = givens(&k->args);

    k->error[0] = '\0';
    c->code = api_pto_run(k, params, k->params.n, args, c->out);
    mem_free(params);
    mem_free(args);
}

int strata_pto_run(struct strata_pto *k, struct strata_pto_result *out)
{
    if (k == NULL)
        return STRATA_USAGE;
    if (out == NULL || k->text == NULL)
        return misuse(k, "strata_pto_run: no text was given, or the result pointer is NULL");
    return run_call(k, run_once, &(struct pto_call){.out = out});
}

static void run_rows(void *ctx)
{
    struct pto_call *c = ctx;
    struct strata_pto *k = c->k;
    struct text_param *params = mem_grow(NULL, sizeof(*params), c->n + 1);
    struct text_param *args = givens(&k->args);

    k->error[0] = '\0';
    for (size_t row = 0; row < c->rows; row++) {
        for (size_t i = 0; i < c->n; i++)
            params[i] = (struct text_param){str_of(c->names[i]), str_of(c->values[row * c->n + i])};
        api_pto_run(k, params, c->n, args, &c->out[row]);
    }
    mem_free(params);
    mem_free(args);
}

int strata_pto_batch(struct strata_pto *k, const char *const *names, size_t columns,
                     const char *const *values, size_t rows, struct strata_pto_result *out)
{
    if (k == NULL)
        return STRATA_USAGE;
    if (k->text == NULL || out == NULL || names == NULL || values == NULL)
        return misuse(
            k, "strata_pto_batch: no text was given, or the table or result pointer is NULL");
    return run_call(k, run_rows,
                    &(struct pto_call){
                        .n = columns, .names = names, .values = values, .rows = rows, .out = out});
}

int64_t strata_pto_busy(const struct strata_pto *k, const char *core, const char *pipe)
{
    const struct pto_outcome *o = k != NULL ? &k->kernel.outcome : NULL;

    for (size_t i = 0; o != NULL && core != NULL && pipe != NULL && i < o->units.n; i++) {
        const struct pto_unit *u = &o->units.at[i];
        if (strcmp(pto_core_name(u->core), core) == 0 &&
            strcmp(pto_pipe_short((enum pto_pipe)u->pipe), pipe) == 0)
            return u->busy;
    }
    return 0;
}

const char *strata_pto_error(const struct strata_pto *k)
{
    return k != NULL ? k->error : "";
}
