/*
 * links - how long collectives take over links of known latency and bandwidth: for numbers of cards
 * that no row was measured with.
 *
 * Tiers lie around one another: cards of a node, of a rack, of a network. The cost is the least of
 * the usual algorithms: a ring, everybody to everybody at once, and inside a tier first.
 */
#ifndef STRATA_OPDB_PREDICT_LINKS_H
#define STRATA_OPDB_PREDICT_LINKS_H

#include "base/diag.h"
#include "ops/model_calls.h"

struct link_tier {
    int64_t cards;   /* that reach one another over it */
    double alpha_us; /* of a message */
    double gbps;     /* of a card, one direction */
};

enum { LINK_TIERS = 4 };

struct links {
    struct link_tier tier[LINK_TIERS]; /* by cards */
    size_t n;                          /* 0: nothing is known */
};

/* One tier for any number of cards. */
struct links links_one(double alpha_us, double gbps);

/* "system,tier,cards,alpha_us,GB/s,algorithm,source"; of one system, or of all rows with an empty
 * name. */
enum status links_read(const char *path, struct str system, struct links *out, struct diag *d);

/* Microseconds; `sent` as struct model_call has it. NAN: more cards than the tiers reach. */
double links_us(const struct links *l, enum model_comm kind, int64_t devices, double sent);

#endif
