/*
 * collectives - what was sent between devices: kind, size, group, bandwidth, and how much of it no
 * compute hides.
 *
 * One entry a collective: kernels of communication libraries with what the profiler wrote beside
 * them or beside the operator that launched them, or the entries of communication.json. Rules:
 * docs/analyses/collectives.md.
 */
#ifndef STRATA_ANALYSIS_TABLES_COLLECTIVES_H
#define STRATA_ANALYSIS_TABLES_COLLECTIVES_H

#include "analysis/study.h"

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_REDUCE,
    COLLECTIVE_SEND_RECV,
    COLLECTIVE_DISPATCH, /* of tokens to experts */
    COLLECTIVE_COMBINE,
    COLLECTIVE_BARRIER,
    COLLECTIVE_OTHER,
};

enum { COLLECTIVE_KINDS = COLLECTIVE_OTHER + 1 };

const char *collective_kind_name(enum collective_kind kind);

/* By the name of a collective or of its kernel. */
enum collective_kind collective_kind_of(struct str name);

struct collective_call {
    enum collective_kind kind;
    struct str name;
    struct str group, type; /* empty: not known */
    struct str id;          /* of the group, as ranks have it in common; empty: not known */
    struct str members;     /* "0, 1, 2", in brackets or not; empty: not known */
    int64_t ranks;          /* of the group; UNKNOWN */
    int64_t from, to;       /* ranks of a transfer between two; UNKNOWN */
    double bytes;           /* of the message, as bandwidth counts it; 0: not known */
    nanos begin, time;
    nanos moving;  /* of `time`: without waits, where that is known; else all of it */
    nanos exposed; /* of `time`: no compute meanwhile */
    size_t step;   /* in study_steps(); SIZE_MAX: none */
};

/* Collectives of one kind, group and size. */
struct collective_row {
    enum collective_kind kind;
    struct str group, type;
    int64_t ranks;
    double bytes;
    size_t calls;
    nanos time, moving, exposed; /* sums */
    double algorithm, bus;       /* GB/s; 0: not known */
    double link_share;           /* of the link's rate; 0: not known */
};

/* A group in a step: the union of its collectives. */
struct collective_step {
    struct str step, group;
    size_t calls;
    nanos time, exposed;
};

struct collectives {
    const struct collective_call *at; /* by begin */
    size_t n;
    struct collective_row *rows; /* by time, then kind, group and size */
    size_t n_rows;
    struct collective_step *steps;
    size_t n_steps;
    nanos time, exposed; /* unions over all of them */
    double link_gbps;    /* of the device's links; 0: not known */
};

const struct collectives *collectives_find(struct study *st);

/* Bytes on the busiest link per byte of the message, among `ranks`; 0: not known. */
double collective_bus_factor(enum collective_kind kind, int64_t ranks);

#endif
