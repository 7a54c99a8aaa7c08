/*
 * Open MPI: many ranks at once.
 */
#include "driver/probe.h"

static const char *const patterns[] = {
    "/usr/lib64/openmpi/bin/mpirun",
    "/opt/openmpi*/bin/mpirun",
    NULL,
};

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_program program = {"mpirun", "STRATA_MPIRUN", patterns, true};

    probe_program(&program, arena, out);
}

const struct driver driver_openmpi = {
    .name = "OpenMPI",
    .what = "Open MPI",
    .job = "starts one process per rank",
    .instead = "ranks one after the other on this machine",

    .probe = probe,
};
