/*
 * captures - what commands that read captures have in common: options, loading, files read.
 *
 *     struct args { struct input_options input; };
 *     static const struct args defaults = {.input = CAPTURE_INPUT()};
 *     static const struct opt options[] = {CAPTURE_OPTIONS(struct args, input)};
 *     ...
 *     captures_load_one(s, s->operands.at[0], args->input, &cap);
 *     ...
 *     .common = COMMON_CAPTURE,
 *
 * A job that loads by itself gets its options from captures_input(), and what it has read
 * goes to captures_read().
 */
#ifndef STRATA_CLI_CAPTURES_H
#define STRATA_CLI_CAPTURES_H

#include "capture/fleet.h"
#include "cli/session.h"
#include "input/input.h"

struct arch_result;
struct per_rank_kind;

/* The options --rank, --device and --source of the member `input`, a struct input_options; and what
 * it starts as: CAPTURE_INPUT(.pmu = true). */
#define CAPTURE_OPTIONS(type, input)                                                               \
    OPT_INT(0, "rank", "N", type, input.rank, 0, INT32_MAX, "only this rank (default: all)"),      \
        OPT_INT(0, "device", "N", type, input.device, 0, INT32_MAX,                                \
                "only this device (default: all)"),                                                \
        OPT_CHOICE(0, "source", captures_sources, type, input.source,                              \
                   "preferred source when files overlap (default: auto)")
#define CAPTURE_INPUT(...)                                                                         \
    {                                                                                              \
        .rank = -1, .device = -1, __VA_ARGS__                                                      \
    }

extern const char *const captures_sources[]; /* in the order of enum input_source */

/* Applies --from and --jobs. The threads live as long as the session. */
void captures_input(struct session *s, struct input_options *input);

/* The one capture of a path, or all of them; their files are noted as read. capture_free() it,
 * fleet_free() them. */
enum status captures_load_one(struct session *s, const char *path, struct input_options input,
                              struct capture **out);
enum status captures_load(struct session *s, const char *path, struct input_options input,
                          struct fleet **out);

/* Asks every capture of the operand (or the one that --rank or --device names) and gives the
 * answer: of one alone, of several each by itself. A page shows it beside `view`. */
int captures_give_each(struct session *s, struct input_options input,
                       const struct per_rank_kind *kind, const void *ctx, const char *view);

/* Whether all that was read is totals and settings, without device work. */
bool captures_are_totals(const struct session *s);

/* Lists the reports of models as written. */
void captures_wrote_arch(struct session *s, const struct arch_result *result);

/* Notes the files of a capture, or of several, as read. */
void captures_read_one(struct session *s, const struct capture *cap);
void captures_read(struct session *s, const struct fleet *fleet);

#endif
