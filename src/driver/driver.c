#include "driver/driver.h"

const struct driver *const driver_list[] = {
#define DRIVER(sym) &driver_##sym,
#include "driver/drivers.def"
#undef DRIVER
};

const size_t driver_count = ARRAY_LEN(driver_list);

const char *probe_state_name(enum probe_state state)
{
    static const char *const names[] = {"found", "broken", "missing"};

    return names[state];
}
