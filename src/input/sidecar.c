/* Values, keys and damage of documents that are nested objects. */
#include "input/sidecar.h"

bool sidecar_value(struct json *j, struct str *value)
{
    if (json_value(j, value))
        return true;
    if (j->token == JSON_OBJECT || j->token == JSON_ARRAY)
        json_skip(j);
    return false;
}

/* Goes into a value that begins with `token`; one of the other kind is passed over. */
static bool input_sidecar_enter(struct json *j, enum json_token token)
{
    struct str value;

    if (json_value(j, &value))
        return false;
    if (j->token == token)
        return json_next(j) == token;
    if (j->token == JSON_OBJECT || j->token == JSON_ARRAY)
        json_skip(j);
    return false;
}

bool sidecar_enter(struct json *j)
{
    return input_sidecar_enter(j, JSON_OBJECT);
}

bool sidecar_enter_list(struct json *j)
{
    return input_sidecar_enter(j, JSON_ARRAY);
}

strid sidecar_intern(struct capture *cap, const struct json *j, struct str text)
{
    struct arena scratch;

    if (!j->has_escapes)
        return capture_intern(cap, text);
    arena_init(&scratch);
    strid id = capture_intern(cap, json_text(text, &scratch));
    arena_free(&scratch);
    return id;
}

strid sidecar_step(struct capture *cap, struct str key)
{
    str_skip(&key, S("step"));
    return capture_intern(cap, key);
}

void sidecar_split(struct str key, struct str *name, struct str *group)
{
    size_t at = key.n;

    while (at > 0 && key.at[at - 1] != '@')
        at--;
    *name = at > 0 ? str_part(key, 0, at - 1) : key;
    *group = at > 0 ? str_part(key, at, key.n) : S("");
}

void sidecar_damaged(struct import *i, const struct json *j, const char *code)
{
    const struct json_recovered *cut = &j->recovered[JSON_TRUNCATED];

    if (j->token == JSON_ERROR || cut->count > 0)
        import_lose(i, import_byte(i, j->token == JSON_ERROR ? j->error_at : cut->first), code,
                    "the document is damaged; the part before is kept");
}

bool sidecar_begins_cluster(struct str head)
{
    return sidecar_begins(head, S("p2p")) || sidecar_begins(head, S("collective")) ||
           sidecar_begins(head, S("("));
}

bool sidecar_begins(struct str head, struct str key)
{
    struct json j;
    struct str first;

    json_open(&j, head, JSON_LENIENT);
    return json_next(&j) == JSON_OBJECT && json_key(&j, &first) && str_starts(first, key);
}
