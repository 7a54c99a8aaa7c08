/*
 * gz_write - a sink that packs what it is given with gzip and hands it on.
 *
 *     gz_write_open(&gz, file_sink);
 *     writer(gz_write_sink(&gz));
 *     ok = gz_write_close(&gz);
 *
 * One member, no name, no time and a fixed level: the same bytes in give the same bytes out.
 */
#ifndef STRATA_BASE_GZ_WRITE_H
#define STRATA_BASE_GZ_WRITE_H

#include <zlib.h>

#include "base/sink.h"

enum { GZ_WRITE_BUFFER = 1 << 16 };

struct gz_write {
    struct sink to;
    z_stream z;
    gz_header header;
    bool has_failed;
    char *buffer;
};

void gz_write_open(struct gz_write *gz, struct sink to);
struct sink gz_write_sink(struct gz_write *gz);

/* Ends the member and releases everything; false when the target refused anything. */
bool gz_write_close(struct gz_write *gz);

#endif
