#include <pto/comm/comm_types.hpp>
