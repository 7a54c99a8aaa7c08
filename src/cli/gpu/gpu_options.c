/*
 * Checks of options that several commands share. See gpu_options.h.
 */
#include "cli/gpu/gpu_options.h"

#include "gpu/collect/params.h"

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
               : session_usage(s, "value out of range: %s %g (0 to 1e9)", option, value);
}

int gpu_options_check(struct session *s, const struct gpu_ask *ask)
{
    struct gpu_params params = {0};

    TRY_CODE(check_peak(s, "--peak-tflops", ask->peaks.tflops));
    TRY_CODE(check_peak(s, "--peak-gbps", ask->peaks.gbps));
    enum status st = gpu_ask_params(ask, NULL, &params, &s->arena, &s->diag);
    int code = st == ST_OK ? CODE_DONE : CODE_USAGE;
    if (code == CODE_DONE && ask->spec == NULL)
        code = check_formula(s, "--flops", ask->flops, &params);
    if (code == CODE_DONE && ask->spec == NULL)
        code = check_formula(s, "--bytes", ask->bytes, &params);
    gpu_params_free(&params);
    return code;
}
