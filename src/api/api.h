/*
 * api - what the doors of the library share: the handle of what was loaded.
 */
#ifndef STRATA_API_API_H
#define STRATA_API_API_H

struct capture;

struct strata {
    struct capture *cap;
    char error[1024]; /* "" after success */
};

/* Keeps why an argument makes no sense; gives STRATA_USAGE. */
int api_misuse(struct strata *s, const char *text);

#endif
