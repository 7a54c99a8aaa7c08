/*
 * Admission of requests, and their numbers.
 */
#include "view/view_request.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool view_guard_init(struct view_guard *guard)
{
    unsigned char bytes[VIEW_TOKEN / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(&guard->token[2 * i], 3, "%02x", bytes[i]);
    return true;
}

/* "127.0.0.1:PORT" or "localhost:PORT", after `scheme`. */
static bool is_this_host(const struct view_guard *guard, const char *text, const char *scheme)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    char own[64];

    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        snprintf(own, sizeof(own), "%s%s:%u", scheme, hosts[i], guard->port);
        if (strcmp(text, own) == 0)
            return true;
    }
    return false;
}

/* The time it takes does not depend on where two tokens differ. */
static bool has_token(const struct view_guard *guard, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    unsigned char differs = 0;

    if (authorization == NULL || strncmp(authorization, scheme, sizeof(scheme) - 1) != 0)
        return false;
    const char *token = authorization + sizeof(scheme) - 1;
    if (strlen(token) != VIEW_TOKEN)
        return false;
    for (size_t i = 0; i < VIEW_TOKEN; i++)
        differs |= (unsigned char)(token[i] ^ guard->token[i]);
    return differs == 0;
}

static bool find_path(const char *text, enum view_path *out)
{
    static const char *const paths[VIEW_PATHS] = {
        [VIEW_SHELL] = "/",
        [VIEW_STATE] = "/api/state",
        [VIEW_PAGE] = "/api/page",
        [VIEW_TILES] = "/api/tiles",
        [VIEW_SLICE] = "/api/slice",
        [VIEW_RANGE] = "/api/range",
        [VIEW_SEARCH] = "/api/search",
        [VIEW_TABLES] = "/api/tables",
        [VIEW_SQL] = "/api/sql",
        [VIEW_WHATIF] = "/api/whatif",
        [VIEW_CUT] = "/api/cut",
    };

    for (int i = 0; i < VIEW_PATHS; i++)
        if (strcmp(text, paths[i]) == 0) {
            *out = (enum view_path)i;
            return true;
        }
    return false;
}

unsigned view_admit(const struct view_guard *guard, const struct view_headers *headers,
                    enum view_path *path)
{
    enum { OK = 200, UNAUTHORIZED = 401, FORBIDDEN = 403, NOT_FOUND = 404, NOT_ALLOWED = 405 };

    if (headers->host == NULL || !is_this_host(guard, headers->host, "") ||
        (headers->origin != NULL && !is_this_host(guard, headers->origin, "http://")))
        return FORBIDDEN;
    bool is_known = headers->path != NULL && find_path(headers->path, path);
    bool is_own_site = headers->site == NULL || strcmp(headers->site, "same-origin") == 0 ||
                       strcmp(headers->site, "none") == 0;
    if ((!is_known || *path != VIEW_SHELL) && !is_own_site)
        return FORBIDDEN; /* the shell holds no data, and a link to it may stand anywhere */
    if (!is_known)
        return NOT_FOUND;
    const char *method = *path == VIEW_SQL ? "POST" : "GET";
    if (headers->method == NULL || strcmp(headers->method, method) != 0)
        return NOT_ALLOWED;
    return *path == VIEW_SHELL || has_token(guard, headers->authorization) ? OK : UNAUTHORIZED;
}

static bool request_read_number(struct str text, size_t limit, uint32_t *out)
{
    uint64_t n;

    if (!num_u64(text, &n) || n >= limit || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

static bool add_range(struct str part, size_t limit, struct view_list *out)
{
    struct str rest = part, low;
    uint32_t from, to;

    if (!str_split(&rest, '-', &low) || !request_read_number(low, limit, &from))
        return false;
    to = from;
    if (low.n < part.n && !request_read_number(rest, limit, &to))
        return false;
    if (to < from || to - from >= VIEW_ROWS - out->n)
        return false;
    for (uint32_t i = from; i <= to; i++)
        out->at[out->n++] = i;
    return true;
}

bool view_list_parse(struct str text, size_t limit, struct view_list *out)
{
    struct str part;

    out->n = 0;
    while (str_split(&text, ',', &part))
        if (out->n == VIEW_ROWS || !add_range(part, limit, out))
            return false;
    return out->n > 0;
}

bool view_number(const char *text, int64_t most, int64_t *out)
{
    uint64_t n;

    if (text == NULL || most < 0 || !num_u64(str_of(text), &n) || n > (uint64_t)most)
        return false;
    *out = (int64_t)n;
    return true;
}
