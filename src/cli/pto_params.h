/*
 * pto_params - `--set NAME=VALUE` of the commands that read PTO text.
 */
#ifndef STRATA_CLI_PTO_PARAMS_H
#define STRATA_CLI_PTO_PARAMS_H

#include "cli/session.h"
#include "pto/text_params.h"

#define PTO_PARAMS_HELP "a value for ${NAME} in the text; may be repeated"

/* The parameters, in the session's arena; CODE_DONE, or the code of the mistake. */
int pto_params(struct session *s, const struct opt_list *sets, struct text_param **out);

#endif
