struct step_lengths { const char *name; const double *at; size_t n; };
enum { STEP_LENGTHS = 1 };
static const double sl0[] = {1,1};
static const struct step_lengths step_lengths[STEP_LENGTHS] = {{"none", sl0, 2}};
