#include <pto/common/prefetch.hpp>
