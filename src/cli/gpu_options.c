#include "cli/gpu_options.h"

#include "gpu/params.h"

static int check_formula(struct session *s, const char *option, const char *text,
                         const struct gpu_params *params)
{
    double value;

    if (text == NULL || text[0] == '\0')
        return CODE_DONE;
    const char *error = gpu_params_eval(params, &s->arena, str_of(text), &value);
    if (error == NULL)
        return CODE_DONE;
    diag_fail(&s->diag, ST_FORMAT, "gpu.bad-formula", (struct where){0}, "%s \"%s\": %s", option,
              text, error);
    diag_hint(&s->diag, "try", "--param name=value, or params in the spec file");
    return CODE_USAGE;
}

/* 0 is a roof that was not given. */
static int check_peak(struct session *s, const char *option, double value)
{
    return value >= 0 && value < 1e9
               ? CODE_DONE
               : session_usage(s, "%s is a number from 0 to 1e9, not %g", option, value);
}

int gpu_options_check(struct session *s, const struct gpu_args *a)
{
    struct gpu_params params = {0};
    enum status st = ST_OK;

    int code = check_peak(s, "--peak-tflops", a->peak_tflops);
    if (code == CODE_DONE)
        code = check_peak(s, "--peak-gbps", a->peak_gbps);
    if (code != CODE_DONE)
        return code;
    for (size_t i = 0; i < a->params.n && st == ST_OK; i++)
        st = gpu_params_assign(&params, &s->arena, a->params.at[i], &s->diag);
    if (st == ST_OK && a->dtype != NULL)
        st = gpu_params_set(&params, &s->arena, S("dtype"), str_of(a->dtype), true, &s->diag);
    code = st == ST_OK ? CODE_DONE : CODE_USAGE;
    if (code == CODE_DONE && a->spec == NULL)
        code = check_formula(s, "--flops", a->flops, &params);
    if (code == CODE_DONE && a->spec == NULL)
        code = check_formula(s, "--bytes", a->bytes, &params);
    gpu_params_free(&params);
    return code;
}
