/*
 * root_limits - every threshold of the verdict, in one place; docs/diagnosis.md says which
 * recordings they were chosen on. Shares in percent, times in nanoseconds.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_ROOT_LIMITS_H
#define STRATA_ANALYSIS_DIAGNOSE_ROOT_LIMITS_H

enum {
    /* Ranking. */
    ROOT_LISTED = 3,       /* percent of the step: savings from here on are listed, */
    ROOT_NAMED = 5,        /* and from here on the first of them is the verdict */
    ROOT_SPECIFIC = 50,    /* percent of a generic cause's saving that a specific one needs */
    ROOT_NOT_HEALTHY = 10, /* percent of the step that copies, communication or idleness may take */
    ROOT_PROFILER = 10,    /* percent saved under the profiler alone that is worth a word */
    ROOT_PERIODS = 20,     /* percent that host and device periods may differ without a word */

    ROOT_EDGE = 2,            /* percent at either end of a recording without marks */
    ROOT_EQUAL_PRODUCTS = 10, /* so many in a row could be one */
    ROOT_FEW_LAUNCHES = 2,    /* launches whose gaps are half of all: it is not launches as such */

    /* Copies. */
    ROOT_COPY_SHARE = 2, /* percent of exposed copies that make them a cause */
    ROOT_PAGEABLE = 10,  /* percent of them that may be pageable where streams are to blame */

    ROOT_MIGRATIONS = 10, /* gaps before pages that move to the host: fewer are chance */

    /* Shapes. */
    ROOT_SHAPE_SETS = 3,  /* among */
    ROOT_SHAPE_STEPS = 6, /* steps */

    /* One step that is slow. */
    ROOT_SLOW_TIMES = 130,    /* percent of the median, */
    ROOT_SLOW_EXCESS = 60,    /* of what all steps have above it, */
    ROOT_SLOW_RUN = 5,        /* of the run, */
    ROOT_SLOW_FIRST = 30,     /* of the run when it is the first step, */
    ROOT_SLOW_DEVIATIONS = 5, /* and so many median deviations */
    ROOT_MORE_WORK = 105,     /* percent of the median's kernels, */
    ROOT_MORE_KERNELS = 5,    /* and so many more than in any other step */
    ROOT_IN_STEP = 80,        /* percent of a cause that lies in the slow step: the step is named */
    ROOT_SLOWED = 80,         /* percent of kernel time that lasts longer in a step whose clock */
    ROOT_SLOWED_BY = 110,     /* dropped, by this */

    ROOT_STEPS_FOR_CLOCK = 4, /* fewer steps have no usual time */

    /* Confidence. */
    ROOT_HOST_ERROR = 180, /* percent of the true time that short host times are estimated at most:
                              measured on repaired twins, docs/diagnosis.md */
    ROOT_POOR_REPLAY = 15, /* percent that an unchanged replay may be off and still tell a time */
    ROOT_OF_SHARE = 30,    /* percent of trust in what runs alone, though no change hides it */
    ROOT_DOUBTED = 40,     /* percent of trust at most in what the profiler may explain */
    ROOT_SURE = 75,
    ROOT_LIKELY = 45,
    ROOT_POSSIBLE = 20,
};

#endif
