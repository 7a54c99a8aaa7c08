/*
 * The captures of all ranks.
 */
#include "capture/fleet.h"

struct fleet *fleet_new(void)
{
    struct fleet *fleet = mem_grow(NULL, sizeof(*fleet), 1);

    *fleet = (struct fleet){0};
    return fleet;
}

void fleet_free(struct fleet *fleet)
{
    if (fleet == NULL || fleet->is_shared)
        return;
    for (size_t i = 0; i < fleet->ranks.n; i++)
        capture_free(fleet->ranks.at[i]);
    vec_free(&fleet->ranks);
    mem_free(fleet);
}

void fleet_share(struct fleet *fleet, bool is_shared)
{
    fleet->is_shared = is_shared;
    for (size_t i = 0; i < fleet->ranks.n; i++)
        fleet->ranks.at[i]->is_shared = is_shared;
}

void fleet_add(struct fleet *fleet, struct capture *cap)
{
    vec_push(&fleet->ranks, cap);
}

struct capture *fleet_release(struct fleet *fleet, size_t i)
{
    struct capture *cap = fleet->ranks.at[i];

    fleet->ranks.at[i] = NULL;
    return cap;
}
