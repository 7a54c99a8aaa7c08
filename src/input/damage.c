/* Damaged regions, added up and reported. */
#include "input/damage.h"
#include "base/text/num.h"

#include <inttypes.h>

enum { PAGE = 4096 };

void damage_add(struct damage *d, uint64_t bytes, struct where where)
{
    const struct damage one = {1, bytes, where};

    if (bytes >= PAGE)
        damage_join(d, &one);
}

void damage_join(struct damage *d, const struct damage *other)
{
    if (d->regions == 0)
        d->first = other->first;
    d->regions += other->regions;
    d->bytes += other->bytes;
}

uint64_t damage_estimate(const struct damage *d, const char *path, uint64_t events,
                         uint64_t event_bytes, struct diag *diag)
{
    double mean = events > 0 ? (double)event_bytes / (double)events : 0;
    uint64_t lost = mean > 0 ? num_u64_of((double)d->bytes / mean) : 0;
    struct where where = d->first;

    if (d->regions == 0)
        return 0;
    where.path = path;
    if (lost <= d->regions) {
        diag_add(diag, SEV_LOSS, "input.damaged-region", where, "%" PRIu64 " bytes are damaged",
                 d->bytes);
        return 0;
    }
    diag_add(diag, SEV_LOSS, "input.damaged-region", where,
             "%" PRIu64 " bytes are damaged: about %" PRIu64
             " events are lost (%.0f bytes each, as the others)",
             d->bytes, lost, mean);
    return lost - d->regions;
}
