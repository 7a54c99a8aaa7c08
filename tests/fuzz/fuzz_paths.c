/*
 * The quick readers of trace events (trace_paths.h) against the thorough one: all make the same of
 * every text. The first byte is the dialect; the text is read twice, as a second piece finds the
 * layouts that the first one taught.
 */
#include <stdlib.h>

#include "input/trace_same.h"

static void start(struct trace_chunk *c, enum trace_dialect dialect, enum trace_paths_mode mode)
{
    trace_chunk_init(c, dialect);
    trace_paths_init(c->paths, mode);
}

static void read_text(struct trace_chunk *c, struct str text)
{
    c->text = text;
    c->offset = c->from = 0;
    c->limit = text.n;
    c->is_last = true;
    trace_chunk_read(c, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct trace_chunk pieces[3];

    if (n < 1)
        return 0;
    char *copy = malloc(n > 1 ? n - 1 : 1); /* no longer, so that reading past the end shows */
    memcpy(copy, data + 1, n - 1);
    for (int mode = PATHS_BEST; mode <= PATHS_OFF; mode++) {
        start(&pieces[mode], (enum trace_dialect)(data[0] % 3), (enum trace_paths_mode)mode);
        for (int round = 0; round < 2; round++)
            read_text(&pieces[mode], (struct str){copy, n - 1});
    }
    if (!trace_same_chunks(&pieces[PATHS_BEST], &pieces[PATHS_OFF]) ||
        !trace_same_chunks(&pieces[PATHS_PLAIN], &pieces[PATHS_OFF]))
        abort();
    for (int mode = PATHS_BEST; mode <= PATHS_OFF; mode++)
        trace_chunk_fini(&pieces[mode]);
    free(copy);
    return 0;
}
