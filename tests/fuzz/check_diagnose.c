/*
 * What holds for the accounting of every capture, however hostile.
 */
#include "check_diagnose.h"

#include <stdlib.h>

#include "analysis/diagnose/whatif_answer.h"
#include "analysis/idle/stream_gaps.h"
#include "analysis/study.h"

/* Every nanosecond of a window belongs to one class, and the pieces of idle time tile it. */
static void check_accounting(const struct accounting *a)
{
    nanos idle = 0, pieces = 0;

    for (size_t i = 0; i < a->n; i++) {
        nanos sum = 0;
        for (int class = 0; class < ACCOUNT_CLASSES; class ++)
            sum += a->steps[i].by[class];
        if (sum != account_step_time(&a->steps[i]))
            abort();
        idle += a->steps[i].idle;
    }
    for (size_t i = 0; i < a->pieces.n; i++) {
        const struct idle_piece *p = &a->pieces.at[i];
        if (p->at.begin >= p->at.end || (i > 0 && p->at.begin < p[-1].at.end))
            abort();
        pieces += p->at.end - p->at.begin;
    }
    if (pieces != idle)
        abort();
}

void check_diagnose(const struct capture *cap)
{
    int32_t devices[4];
    struct study st;

    study_begin(&st, cap, study_defaults());
    size_t n = device_tasks_devices(cap, devices, ARRAY_LEN(devices));
    for (size_t i = 0; i < n; i++) {
        const struct accounting *a = accounting_of_device(&st, devices[i], &st.scratch);
        struct whatif w;
        check_accounting(a);
        stream_gaps_find(cap, a, &st.scratch);
        if (a->n == 0 || a->tasks.n == 0)
            continue;
        whatif_init(&w, &st, a);
        whatif_answer_find(&st, &w, NULL, 0);
        whatif_fini(&w);
    }
    study_end(&st);
}
