/*
 * facts_json - facts and step marks of a capture as one JSON object, which files that strata
 * writes carry besides their slices, so that they reopen to the same capture.
 */
#ifndef STRATA_CAPTURE_FACTS_JSON_H
#define STRATA_CAPTURE_FACTS_JSON_H

#include "capture/cut.h"

/* Facts, clock and the marks that touch the cut, as one line. `shift` is what the file adds to all
 * times; it is kept, so that reading takes it off. */
struct str facts_json(const struct cut *cut, nanos shift, struct arena *out);

/* Fills the capture from such a text; what is damaged stays unknown. Gives the shift. */
nanos facts_json_read(struct capture *cap, struct str text);

#endif
