#include <runtime/rt.h>
