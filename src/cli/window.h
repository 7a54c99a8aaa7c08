/*
 * window - steps and times as they are typed: "3-5,7", "10ms-25ms".
 */
#ifndef STRATA_CLI_WINDOW_H
#define STRATA_CLI_WINDOW_H

#include "base/arena.h"
#include "flow/flow_convert.h"

/* Step numbers and ranges of them, both ends included, parted by commas; "5-" has no end. Gives
 * their number, 0 when `text` is something else; the list is in `arena`. */
size_t window_steps(const char *text, struct arena *arena, struct convert_steps **out);

/* Two times with units ns, us, ms or s and a dash between; either may be left out. A time without
 * a unit has the other's; 0 needs none. False when `text` is something else or nothing lies
 * between. */
bool window_range(const char *text, struct interval *out);

#endif
