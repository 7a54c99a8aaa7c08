/*
 * Frames of zstd, by libzstd.
 */
#include "base/files/zstd_pack.h"

#include <zstd.h>

#include "base/run/job.h"
#include "base/tables/vec.h"

enum { LEVEL = 1 }; /* level 3 makes tables 5 % smaller in 1.5 times the time */

void zstd_pack(struct text *out, struct str bytes)
{
    size_t most = ZSTD_compressBound(bytes.n);

    vec_reserve(out, out->n + most);
    size_t n = ZSTD_compress(out->at + out->n, most, bytes.at, bytes.n, LEVEL);
    if (ZSTD_isError(n)) /* the room is enough, so it is the memory */
        job_out_of_memory();
    out->n += n;
}
