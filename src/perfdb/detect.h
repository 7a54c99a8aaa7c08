/*
 * detect - which software stack is installed on this machine.
 *
 * vLLM-Ascend and PyTorch: the METADATA of installed Python packages, in the site-packages of
 * $VIRTUAL_ENV, $CONDA_PREFIX and the Python on PATH. CANN: the version files of its toolkit.
 * Nothing is run.
 */
#ifndef STRATA_PERFDB_DETECT_H
#define STRATA_PERFDB_DETECT_H

#include "perfdb/version.h"

/* False when it is not installed, or nowhere strata looks. */
bool detect_version(struct arena *arena, enum version_part part, struct str *out);

#endif
