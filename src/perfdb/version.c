#include "perfdb/version.h"

#include "base/char.h"
#include "perfdb/cell.h"

bool version_check(struct str text, struct str *out)
{
    bool was_alnum = false;

    text = cell_trim(text);
    for (size_t i = 0; i < text.n; i++) {
        bool is_joint = memchr("._+-", text.at[i], 4) != NULL;
        if (!char_is_alnum(text.at[i]) && !(is_joint && was_alnum))
            return false;
        was_alnum = !is_joint;
    }
    *out = text;
    return was_alnum;
}

/* "v0.18.0" as VLLM gives "0.18.0", "torch2.9.0+cpu" as TORCH "2.9.0". A view into `text`. */
static struct str normal(enum version_part part, struct str text)
{
    static const struct str prefixes[] = {S_INIT("vllm"), S_INIT("torch"), S_INIT("cann")};

    text = cell_trim(text);
    if (str_starts_nocase(text, prefixes[part]))
        text = str_part(text, prefixes[part].n, text.n);
    else if (part == VERSION_VLLM && str_starts_nocase(text, S("v")))
        text = str_part(text, 1, text.n);
    if (part == VERSION_TORCH)
        text = str_part(text, 0, str_find_char(text, '+'));
    return cell_trim(text);
}

struct str version_dir(struct arena *arena, const struct str parts[VERSION_PARTS])
{
    struct str v = normal(VERSION_VLLM, parts[VERSION_VLLM]);
    struct str t = normal(VERSION_TORCH, parts[VERSION_TORCH]);
    struct str c = normal(VERSION_CANN, parts[VERSION_CANN]);

    return arena_format(arena, "vllm%.*s_torch%.*s_cann%.*s", STR_ARGS(v), STR_ARGS(t),
                        STR_ARGS(c));
}

/* Where `word` is in `s` at or after `from`; s.n when nowhere. */
static size_t find_from(struct str s, size_t from, struct str word)
{
    return from > s.n ? s.n : from + str_find(str_part(s, from, s.n), word);
}

bool version_is_dir(struct str text)
{
    text = cell_trim(text);
    if (!str_starts(text, S("vllm")) || str_find_char(text, '\n') < text.n)
        return false;
    size_t torch = find_from(text, 5, S("_torch"));
    size_t cann = find_from(text, torch + 7, S("_cann"));
    return torch < text.n && cann < text.n && cann + 5 < text.n;
}

static size_t skip_space(struct str s, size_t i)
{
    while (i < s.n && char_is_space(s.at[i]))
        i++;
    return i;
}

/* The place behind "version =" or "package_version:" at `i`; 0 when there is none. */
static size_t take_key(struct str s, size_t i)
{
    struct str rest = str_part(s, i, s.n);

    if (str_starts_nocase(rest, S("package_version")))
        i += sizeof("package_version") - 1;
    else if (str_starts_nocase(rest, S("version")))
        i += sizeof("version") - 1;
    else
        return 0;
    i = skip_space(s, i);
    return i < s.n && (s.at[i] == '=' || s.at[i] == ':') ? i + 1 : 0;
}

static bool in_line(struct str line, struct str *out)
{
    size_t at = take_key(line, 0);

    if (at == 0)
        return false;
    struct str token = cell_trim(str_part(line, at, line.n));
    for (size_t i = 0; i < token.n; i++)
        if (char_is_space(token.at[i]))
            return false;
    *out = token;
    return token.n > 0;
}

static bool anywhere(struct str text, struct str *out)
{
    for (size_t i = 0; i < text.n; i++) {
        size_t at = i > 0 && char_is_word(text.at[i - 1]) ? 0 : take_key(text, i);
        if (at == 0)
            continue;
        at = skip_space(text, at);
        size_t end = at;
        while (end < text.n &&
               (char_is_alnum(text.at[end]) || memchr("._+-", text.at[end], 4) != NULL))
            end++;
        if (end == at)
            continue;
        *out = str_part(text, at, end - at);
        return true;
    }
    return false;
}

bool version_in_text(struct str text, struct str *out)
{
    struct str rest = text, line;

    if (text.at == NULL)
        return false;
    while (str_split(&rest, '\n', &line))
        if (in_line(line, out))
            return true;
    return anywhere(text, out);
}
