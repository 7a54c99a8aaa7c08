// Included by orchestrations; what they use of it is here.
#include "pto_orchestration_api.h"
