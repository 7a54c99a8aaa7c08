/*
 * Hostile traces for the lossless view: what is taken for a trace gives a document that is JSON.
 */
#include <stdlib.h>

#include "base/formats/json_read.h"
#include "base/formats/json_write.h"
#include "kernels/incore/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *copy = malloc(n > 0 ? n : 1); /* exactly n bytes, so that reading past them shows */
    struct text out = {0};
    struct incore_lossless told;
    const char *reason;
    struct json j;

    if (copy == NULL)
        abort();
    if (n > 0)
        memcpy(copy, data, n);
    enum status st = incore_lossless_write((struct str){copy, n}, text_sink(&out), &told, &reason);
    free(copy);
    if (st == ST_OK) {
        json_open(&j, (struct str){out.at, out.n}, JSON_STRICT);
        if (!json_skip(&j) || json_next(&j) != JSON_END)
            abort();
    } else if (out.n > 0 || reason == NULL) {
        abort();
    }
    text_free(&out);
    return 0;
}
