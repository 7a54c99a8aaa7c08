/*
 * encode - CUPTI's activity records as records of our file.
 */
#ifndef STRATA_INJECT_ENCODE_H
#define STRATA_INJECT_ENCODE_H

#include "inject/cupti.h"
#include "inject/writer.h"

/* Writes one record, which begins with its kind. Kinds that are not known are passed over. */
void encode_record(struct writer *w, const struct cupti *cupti, const void *record);

#endif
