/*
 * A clock that is given, or that of a chip.
 */
#include "cli/kernel/incore_clock.h"

#include "kernels/pto/cost/chips.h"

int incore_clock(struct session *s, const struct incore_clock *c, double *mhz)
{
    struct pto_chip chip;

    *mhz = c->mhz;
    if (c->mhz < 0 || c->mhz > 100000)
        return session_usage(s, "--clock-mhz must be a frequency in MHz, e.g. 1850");
    if (c->mhz > 0 || c->chip == NULL)
        return CODE_DONE;
    enum status st = pto_chip_find(str_of(c->chip), PTO_A2A3, &chip, &s->diag);
    if (st == ST_OK)
        *mhz = chip.trace_mhz > 0 ? chip.trace_mhz : chip.mhz;
    return session_code(st);
}
