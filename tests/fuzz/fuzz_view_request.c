/*
 * Hostile requests to the viewer: any bytes end in a status or a number; only the right token is
 * admitted.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char token[] = "0123456789abcdef0123456789abcdef";

/* The next text up to a zero byte; NULL at the end. */
static const char *take(char **at, size_t *left)
{
    if (*left == 0)
        return NULL;
    char *text = *at;
    size_t n = strnlen(text, *left);
    size_t used = n < *left ? n + 1 : n;

    *at += used;
    *left -= used;
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view_guard guard = {.port = 4000};
    char *copy = malloc(size + 1), *at = copy;
    size_t left = size;
    enum view_path path = VIEW_SHELL;
    struct view_list list;
    int64_t n;

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    memcpy(guard.token, token, sizeof(token));
    struct view_headers h = {.method = take(&at, &left),
                             .path = take(&at, &left),
                             .host = take(&at, &left),
                             .authorization = take(&at, &left),
                             .origin = take(&at, &left),
                             .site = take(&at, &left)};
    unsigned status = view_admit(&guard, &h, &path);
    if (status == 200 && path != VIEW_SHELL &&
        (h.authorization == NULL || strcmp(h.authorization + 7, token) != 0 || h.host == NULL ||
         strstr(h.host, ":4000") == NULL))
        abort();
    if (view_list_parse((struct str){copy, size}, 1000, &list))
        for (size_t i = 0; i < list.n; i++)
            if (list.n > VIEW_ROWS || list.at[i] >= 1000)
                abort();
    if (view_number(copy, 1 << 20, &n) && (n < 0 || n > 1 << 20))
        abort();
    free(copy);
    return 0;
}
