#include <pto/common/sync.hpp>
