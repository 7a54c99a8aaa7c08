/*
 * Names from captures made fit for a page, and the labels of classes.
 */
#include "base/text/char.h"
#include "base/text/inert.h"
#include "page/page.h"
#include "text/page.h"

enum { NAME_MOST = 4096, NAME_KEPT = 4000, SITE_WIDTH = 48 }; /* as the diagnosis cuts them */

static struct str alias(const struct page_set *set, struct str name)
{
    uint32_t fresh = (uint32_t)set->aliases->n + 1;

    return arena_format(set->arena, "name_%u",
                        (unsigned)hash_add(set->aliases, hash_bytes(name), fresh));
}

static struct str cut(struct arena *arena, struct str name)
{
    size_t n = NAME_KEPT;

    while (n > 0 && ((unsigned char)name.at[n] & 0xc0) == 0x80)
        n--;
    return arena_format(arena, "%.*s… (%.1f MB)", (int)n, name.at, (double)name.n / 1e6);
}

static struct str shown(struct arena *arena, struct str text)
{
    return inert_line(arena, text.n > NAME_MOST ? cut(arena, text) : text);
}

struct str page_name(const struct page_set *set, struct str name)
{
    return set->aliases != NULL && name.n > 0 ? alias(set, name) : shown(set->arena, name);
}

/* Shapes, types and names of chips have no other characters; paths and markup do. */
static bool is_plain(struct str text)
{
    const struct str marks = S(" _:;,.-()[]");

    for (size_t i = 0; i < text.n; i++)
        if (!char_is_alnum(text.at[i]) && str_find_char(marks, text.at[i]) == marks.n)
            return false;
    return true;
}

struct str page_shape(const struct page_set *set, strid id)
{
    struct str text = capture_text(set->cap, id);

    return is_plain(text) ? shown(set->arena, text) : page_name(set, text);
}

static struct str replace_all(struct arena *arena, struct str text, struct str what,
                              struct str with)
{
    struct text out = {0};
    size_t at;

    if (what.n == 0 || str_find(text, what) == text.n)
        return text;
    while ((at = str_find(text, what)) < text.n) {
        text_put(&out, str_part(text, 0, at));
        text_put(&out, with);
        text = str_part(text, at + what.n, text.n);
    }
    text_put(&out, text);
    struct str all = arena_str(arena, text_view(&out));
    text_free(&out);
    return all;
}

void page_hide(struct page_file *page, struct str name)
{
    if (!page->options.redact || name.n == 0)
        return;
    vec_push(&page->hidden, name);
    for (size_t i = page->hidden.n - 1; i > 0 && page->hidden.at[i - 1].n < name.n; i--) {
        page->hidden.at[i] = page->hidden.at[i - 1];
        page->hidden.at[i - 1] = name;
    }
}

/* Sentences hold names whole, or their first columns. Reports write "us" where they must be ASCII.
 */
struct str page_wording(struct page_file *page, enum lang lang, struct wording wording)
{
    struct str text = wording_text(lang, &page->arena, wording);
    char digit[] = "0 us", micro[] = "0 µs";

    for (size_t i = 0; i < page->hidden.n; i++) {
        struct str name = page->hidden.at[i], with = page_name(page->sets[0], name);
        text = replace_all(&page->arena, text, name, with);
        text = replace_all(&page->arena, text, str_fit(name, SITE_WIDTH), with);
    }
    for (int i = 0; i < 10; i++) {
        digit[0] = micro[0] = (char)('0' + i);
        text = replace_all(&page->arena, text, str_of(digit), str_of(micro));
    }
    return text;
}

/* "void at::native::(anonymous namespace)::f<4, g>(int)" is "f<4, g>". */
struct str page_kernel_name(struct str name)
{
    static const struct str anonymous = S_INIT("(anonymous namespace)::");
    size_t at, end;

    str_skip(&name, S("void "));
    while ((at = str_find(name, anonymous)) < name.n && at < str_find_char(name, '<'))
        name = str_part(name, at + anonymous.n, name.n);
    end = str_find_char(name, '<');
    if (end == name.n)
        end = str_find_char(name, '(');
    for (size_t i = end; i > 1; i--)
        if (name.at[i - 1] == ':' && name.at[i - 2] == ':')
            return str_part(name, i, name.n);
    return name;
}

const struct message *page_family_label(enum page_family family)
{
    static const struct message *const labels[PAGE_FAMILIES] = {
        &page_text.family_matrix, &page_text.family_attention, &page_text.family_vector,
        &page_text.family_layout, &page_text.family_comm,      &page_text.family_copy,
        &page_text.family_other,  &page_text.family_host,
    };

    return labels[family];
}

const struct message *page_pipe_label(enum page_family family)
{
    static const struct message *const labels[PAGE_FAMILIES] = {
        &page_text.pipe_cube, &page_text.pipe_fix,  &page_text.pipe_vector, &page_text.pipe_mte1,
        &page_text.pipe_mte3, &page_text.pipe_mte2, &page_text.pipe_other,  &page_text.pipe_scalar,
    };

    return labels[family];
}

const struct message *page_state_label(enum gap_state state)
{
    static const struct message *const labels[] = {
        [GAP_QUEUED] = &page_text.state_queued,
        [GAP_DRAINED] = &page_text.state_drained,
        [GAP_HOST_SLOWER] = &page_text.state_slower,
        [GAP_UNLINKED] = &page_text.state_unlinked,
    };

    return labels[state];
}
