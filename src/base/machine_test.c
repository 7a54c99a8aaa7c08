#include "base/machine.h"

#include <unistd.h>

#include "base/testing.h"

TEST(there_is_memory_and_not_more_than_the_machine_has)
{
    int64_t all = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

    assert_true(machine_memory() > 0 && machine_memory() <= all);
}

TEST_MAIN("base/machine", T(there_is_memory_and_not_more_than_the_machine_has))
