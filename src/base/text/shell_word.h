/*
 * shell_word - a word as a shell takes it for one: plain, or in single quotes.
 */
#ifndef STRATA_BASE_TEXT_SHELL_WORD_H
#define STRATA_BASE_TEXT_SHELL_WORD_H

#include "base/arena.h"

const char *shell_word(struct arena *arena, const char *word);

#endif
