#include <pto/pto-inst.hpp>
