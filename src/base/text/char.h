/*
 * char - what kind of character a byte is: ASCII, whatever the locale.
 */
#ifndef STRATA_BASE_TEXT_CHAR_H
#define STRATA_BASE_TEXT_CHAR_H

#include <stdbool.h>

static inline bool char_is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

static inline bool char_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool char_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool char_is_letter(char c)
{
    return char_is_lower(c) || char_is_upper(c);
}

static inline bool char_is_alnum(char c)
{
    return char_is_letter(c) || char_is_digit(c);
}

/* What names in C and Python are made of, except that digits may come first here. */
static inline bool char_is_word(char c)
{
    return char_is_alnum(c) || c == '_';
}

/* Between the words of JSON and of lists: blank, tab, CR, LF. */
static inline bool char_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The same with vertical tab and form feed: isspace() of the C locale. */
static inline bool char_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char char_lower(char c)
{
    return char_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}

static inline char char_upper(char c)
{
    return char_is_lower(c) ? (char)(c - ('a' - 'A')) : c;
}

/* The value of a hexadecimal digit; -1 for all others. */
static inline int char_hex(char c)
{
    if (char_is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
