/*
 * captures - what commands that read captures have in common: options, loading, files read.
 *
 *     struct args { struct anomaly_job job; };
 *     static const struct args defaults = {.job = {.input = {.rank = -1, .device = -1}}};
 *     OPT_RANK(struct args, job.input, "only this rank of a folder of ranks"),
 *     ...
 *     captures_input(s, &job.input);
 *     flow_anomaly(&job, ...);
 *     captures_read(s, result.fleet);
 */
#ifndef STRATA_CLI_CAPTURES_H
#define STRATA_CLI_CAPTURES_H

#include "capture/fleet.h"
#include "cli/session.h"
#include "input/input.h"

/* Options of a struct input_options `input`. */
#define OPT_RANK(type, input, text) OPT_INT(0, "rank", "N", type, input.rank, 0, INT32_MAX, text)
#define OPT_DEVICE(type, input)                                                                    \
    OPT_INT(0, "device", "N", type, input.device, 0, INT32_MAX, "only this device (default: all)")
#define OPT_SOURCE(type, input)                                                                    \
    OPT_CHOICE(0, "source", captures_sources, type, input.source,                                  \
               "preferred source when files overlap (default: auto)")

extern const char *const captures_sources[]; /* in the order of enum input_source */

/* Adds what --format and --jobs say. The threads live as long as the session. */
void captures_input(struct session *s, struct input_options *input);

/* All captures of a path; their files are noted as read. fleet_free() them. */
enum status captures_load(struct session *s, const char *path, struct input_options input,
                          struct fleet **out);

/* Notes the files of a capture, or of several, as read. */
void captures_read_one(struct session *s, const struct capture *cap);
void captures_read(struct session *s, const struct fleet *fleet);

#endif
