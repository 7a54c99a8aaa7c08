/*
 * record_file - records in files: written as JSON and read back by the same description.
 */
#ifndef STRATA_REPORT_RECORD_FILE_H
#define STRATA_REPORT_RECORD_FILE_H

#include "base/diag.h"
#include "base/formats/json_read.h"
#include "report/record.h"

/* A whole file, indented. */
enum status record_save(const char *path, const struct record *r, const void *record,
                        struct diag *d);

/* Reads the object that comes into `out`, which keeps what the object does not tell; texts live in
 * `arena`. Fields of one value that is stored and lists with room (FIELD_ROOM) are read, others
 * passed over. False: it is no object. */
bool record_read(struct json *j, const struct record *r, void *out, struct arena *arena);

#endif
