/*
 * Names of C++ functions, whole or as tools cut them.
 */
#include "ops/short_name.h"

#include "base/text/char.h"

/* Where the argument list begins: the bracket that the last one of the name closes. */
static size_t arguments_at(struct str name)
{
    size_t depth = 0;

    if (name.n == 0 || name.at[name.n - 1] != ')')
        return name.n;
    for (size_t i = name.n; i-- > 0;) {
        depth += name.at[i] == ')';
        depth -= name.at[i] == '(';
        if (depth == 0)
            return i;
    }
    return name.n;
}

/* Whether the '>' behind `before` is that of a name that lost its '<': "unnamed>", "f<unnamed>". */
static bool lost_its_pair(struct str before)
{
    if (!str_ends(before, S("unnamed")))
        return false;
    size_t at = before.n - strlen("unnamed");
    if (at == 0 || before.at[at - 1] != '<')
        return true;
    return at > 1 && char_is_word(before.at[at - 2]);
}

struct str short_name_of(struct str name)
{
    struct str head = {name.at, arguments_at(name)};
    size_t angle = 0, round = 0, square = 0, start = 0;

    if (head.n == 0)
        return name;
    /* Tools cut names: "<unnamed>::" loses its first bracket and a lambda its square one. What
     * closes nothing is passed over. */
    for (size_t i = 0; i < head.n; i++) {
        char c = head.at[i];
        angle += c == '<';
        round += c == '(';
        square += c == '[';
        if (c == '>' && !lost_its_pair(str_part(head, 0, i)))
            angle -= angle > 0;
        round -= c == ')' && round > 0;
        square -= c == ']' && square > 0;
        if (angle + round + square == 0 && c == ' ' && i + 1 < head.n)
            start = i + 1; /* behind the return type */
    }
    return str_part(head, start, head.n - start);
}

/* Where the scope begins that ends at `n`: a word, with what stands in brackets behind it. */
static size_t scope_at(const char *text, size_t n)
{
    size_t depth = 0;

    while (n > 0) {
        char c = text[n - 1];
        bool closes = c == ')' || c == '>' || c == '}', opens = c == '(' || c == '<' || c == '{';
        if (depth == 0 && !closes && !char_is_word(c))
            break;
        depth += closes;
        if (opens && depth == 0)
            break;
        depth -= opens;
        n--;
    }
    return n;
}

struct str short_name_bare(struct arena *arena, struct str name)
{
    struct str head = short_name_of(name);
    char *out = arena_cstr(arena, head);
    size_t n = 0;

    for (size_t i = 0; i < head.n; i++)
        if (head.at[i] == ':' && i + 1 < head.n && head.at[i + 1] == ':') {
            n = scope_at(out, n);
            i++;
        } else {
            out[n++] = head.at[i];
        }
    return (struct str){out, n};
}
