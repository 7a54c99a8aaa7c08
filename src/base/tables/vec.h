/*
 * vec - arrays that grow.
 *
 *     struct { VEC_OF(struct interval) gaps; } x = {0};
 *     vec_push(&x.gaps, ((struct interval){0, 10}));
 *     vec_free(&x.gaps);
 *
 * A vec is three members; zero-initialised is empty. Elements move when it grows, so keep indexes,
 * not pointers, across a push.
 */
#ifndef STRATA_BASE_TABLES_VEC_H
#define STRATA_BASE_TABLES_VEC_H

#include "base/arena.h"

#define VEC_OF(type)                                                                               \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }

/* Room for `count` elements in all. */
#define vec_reserve(v, count)                                                                      \
    do {                                                                                           \
        size_t vec_want_ = (count);                                                                \
        if (vec_want_ > (v)->cap) {                                                                \
            size_t vec_cap_ = (v)->cap < 8 ? 8 : (v)->cap + (v)->cap / 2;                          \
            (v)->cap = vec_cap_ < vec_want_ ? vec_want_ : vec_cap_;                                \
            (v)->at = mem_grow((v)->at, sizeof(*(v)->at), (v)->cap);                               \
        }                                                                                          \
    } while (0)

#define vec_push(v, value)                                                                         \
    do {                                                                                           \
        if ((v)->n == (v)->cap)                                                                    \
            vec_reserve((v), (v)->n + 1);                                                          \
        (v)->at[(v)->n++] = (value);                                                               \
    } while (0)

#define vec_free(v)                                                                                \
    do {                                                                                           \
        mem_free((v)->at);                                                                         \
        (v)->at = NULL;                                                                            \
        (v)->n = (v)->cap = 0;                                                                     \
    } while (0)

/* Texts of somebody else, in order. */
struct words {
    const char **at;
    size_t n, cap;
};

/* In `place`: the first number below `n` for which the condition on `i` holds no longer; it must
 * hold for all before. */
#define vec_bisect(place, n, i, is_before)                                                         \
    do {                                                                                           \
        size_t vec_low_ = 0, vec_high_ = (n);                                                      \
        while (vec_low_ < vec_high_) {                                                             \
            size_t i = vec_low_ + (vec_high_ - vec_low_) / 2;                                      \
            if (is_before)                                                                         \
                vec_low_ = i + 1;                                                                  \
            else                                                                                   \
                vec_high_ = i;                                                                     \
        }                                                                                          \
        (place) = vec_low_;                                                                        \
    } while (0)

#endif
