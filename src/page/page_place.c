/*
 * Where a slice of a capture is on the page: its time, its lane and its number there.
 */
#include "page/page_set.h"

enum { MOST_TIME_BITS = 53 };

nanos page_time(const struct page_set *set, nanos t)
{
    nanos since = nanos_sub(t, set->origin), most = (INT64_C(1) << MOST_TIME_BITS) - 1;

    return since < 0 ? 0 : since > most ? most : since;
}

uint32_t page_lane_of(const struct page_set *set, uint32_t slice)
{
    if (slice >= set->cap->slices.n)
        return UINT32_MAX;
    lane_id lane = set->cap->slices.lane[slice];
    bool is_range = page_is_range(set->cap->lanes.at[lane].key.kind, set->cap->slices.kind[slice]);
    return set->lane_of[2 * lane + is_range];
}

uint64_t page_item(const struct page_set *set, uint32_t slice)
{
    uint32_t place = page_lane_of(set, slice);

    if (place == UINT32_MAX)
        return 0;
    const struct page_lane *lane = &set->lanes.at[place];
    if (!lane->is_merged)
        return lane->first + slice - set->cap->lanes.at[lane->lane].first + 1;
    uint32_t item = set->item_of[slice];
    return item == UINT32_MAX ? 0 : lane->first + item + 1;
}
