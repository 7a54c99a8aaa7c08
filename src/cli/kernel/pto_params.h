/*
 * pto_params - `--set NAME=VALUE` of the commands that read PTO text.
 */
#ifndef STRATA_CLI_KERNEL_PTO_PARAMS_H
#define STRATA_CLI_KERNEL_PTO_PARAMS_H

#include "cli/session.h"
#include "kernels/pto/text/text_params.h"

#define PTO_PARAMS_HELP "value for ${NAME} in the text; repeatable"

/* The parts of "NAME=VALUE" for each of `list`, in the session's arena; CODE_DONE, or the code of
 * the mistake in an --`option`. */
int pto_params(struct session *s, const char *option, const struct words *list,
               const struct text_param **out);

#endif
