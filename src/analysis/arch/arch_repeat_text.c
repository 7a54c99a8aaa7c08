/*
 * Tandem repeats of a text of numbers.
 */
#include "analysis/arch/arch_repeat.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/study.h"

enum {
    GRAM = 4,           /* letters that must recur for a distance to count */
    PERIODS_TRIED = 24, /* most frequent distances that are looked at */
    LONGEST_PERIOD = 1 << 16,
    RUNS_MOST = 8, /* disjoint repeats of one text */
};

struct run {
    size_t start, period, count;
    double score;
};

struct tally {
    size_t distance, count;
};

ORDER_BY(most_first, struct tally, ORDER(y->count, x->count) ?: ORDER(x->distance, y->distance));

/* Distances from each group of letters back to where it was seen before, the most frequent ones. */
static size_t find_periods(const uint32_t *text, size_t n, size_t gram, size_t *out)
{
    VEC_OF(struct tally) tallies = {0};
    struct hash last = {0}, number = {0};
    size_t found = 0;

    vec_reserve(&tallies, 64);
    for (size_t i = 0; i + gram <= n; i++) {
        uint64_t key = 0;
        uint32_t at;
        for (size_t k = 0; k < gram; k++)
            key = hash_mix(key, text[i + k] + 1);
        if (hash_get(&last, key, &at) && i - at <= LONGEST_PERIOD) {
            uint32_t slot = hash_add(&number, i - at, (uint32_t)tallies.n);
            if (slot == tallies.n)
                vec_push(&tallies, ((struct tally){i - at, 0}));
            assert(slot < tallies.n && tallies.at != NULL);
            tallies.at[slot].count++;
        }
        hash_put(&last, key, (uint32_t)i);
    }
    if (tallies.n > 0)
        qsort(tallies.at, tallies.n, sizeof(*tallies.at), most_first);
    while (found < tallies.n && found < PERIODS_TRIED) {
        out[found] = tallies.at[found].distance;
        found++;
    }
    vec_free(&tallies);
    hash_free(&last);
    hash_free(&number);
    return found;
}

/* The best run of this period; count is 0 when none is long enough. */
static struct run best_run(const uint32_t *text, size_t n, size_t period)
{
    struct run best = {0};

    for (size_t i = 0; i + period < n;) {
        size_t j = i;
        while (j + period < n && text[j] == text[j + period])
            j++;
        size_t count = (j - i) / period + 1;
        double covered = (double)(count * period);
        double score = covered * log2((double)count) / (1 + 0.02 * (double)period);
        /* few short blocks in a long text are chance; one operator in a row is no block */
        double needed = count < 4 || period == 1 ? 0.4 : 0.1;
        if (count >= 2 && covered >= needed * (double)n && score > best.score)
            best = (struct run){i, period, count, score};
        i = j + 1;
    }
    return best;
}

static struct run choose_run(const uint32_t *text, size_t n)
{
    size_t periods[2 * PERIODS_TRIED];
    struct run runs[2 * PERIODS_TRIED], best = {0}, chosen = {0};
    size_t count = find_periods(text, n, GRAM, periods);

    count += find_periods(text, n, 1, periods + count);
    for (size_t i = 0; i < count; i++) {
        runs[i] = best_run(text, n, periods[i]);
        if (runs[i].score > best.score)
            best = runs[i];
    }
    for (size_t i = 0; i < count; i++)
        if (runs[i].count > 0 && runs[i].score >= 0.9 * best.score &&
            (chosen.count == 0 || runs[i].period < chosen.period))
            chosen = runs[i];
    return chosen;
}

/* A place of a text that is read forwards or backwards. */
struct reader {
    const uint32_t *text;
    size_t from;
    bool is_backwards;
};

static uint32_t letter(const struct reader *r, size_t i)
{
    return r->is_backwards ? r->text[r->from - 1 - i] : r->text[r->from + i];
}

/* How many of the next `most` letters are a block like the pattern, with at most `limit` edits;
 * 0 when none are. `*edits` is their number. */
static size_t next_block(const struct reader *pattern, size_t period, const struct reader *text,
                         size_t most, size_t limit, size_t *row, size_t *edits)
{
    size_t width = 2 * limit + 1, best = 0;

    if (most < period)
        return 0;
    for (size_t k = 0; k < width; k++) /* row i holds columns i - limit ... i + limit */
        row[k] = k < limit ? SIZE_MAX / 2 : k - limit;
    for (size_t i = 1; i <= period; i++) {
        for (size_t k = 0; k < width; k++) {
            size_t j = i + k; /* column plus limit */
            if (j < limit || j - limit > most) {
                row[k] = SIZE_MAX / 2;
                continue;
            }
            j -= limit;
            size_t replace = SIZE_MAX / 2, up = k + 1 < width ? row[k + 1] + 1 : SIZE_MAX / 2;
            size_t left = k > 0 ? row[k - 1] + 1 : SIZE_MAX / 2;
            if (j > 0)
                replace = row[k] + (letter(pattern, i - 1) != letter(text, j - 1));
            row[k] = replace < up ? replace : up;
            if (left < row[k])
                row[k] = left;
        }
    }
    *edits = limit + 1;
    for (size_t k = 0; k < width; k++) {
        size_t away = k > limit ? k - limit : limit - k,
               was = best > period ? best - period : period - best;
        if (period + k >= limit && row[k] <= limit &&
            (row[k] < *edits || (row[k] == *edits && away < was))) {
            *edits = row[k];
            best = period + k - limit;
        }
    }
    return best;
}

/* The run as blocks, with those before and after it that are nearly equal. */
static struct repeat extend(struct arena *arena, const uint32_t *text, size_t n, struct run run)
{
    size_t limit = run.period / 10 < 32 ? run.period / 10 : 32;
    size_t *row = mem_grow(NULL, sizeof(size_t), 2 * limit + 1);
    VEC_OF(size_t) found[2] = {0}; /* after the run, and before it */
    size_t total = 0, edits = 0;

    for (int back = 0; back < 2; back++) {
        struct reader pattern = {text, back ? run.start + run.period : run.start, back};
        struct reader rest = {text, back ? run.start : run.start + run.count * run.period, back};
        for (;;) {
            size_t most = back ? rest.from : n - rest.from;
            size_t block = next_block(&pattern, run.period, &rest, most, limit, row, &edits);
            if (block == 0)
                break;
            rest.from = back ? rest.from - block : rest.from + block;
            total += edits;
            vec_push(&found[back], rest.from);
        }
    }
    struct repeat out = {.period = run.period, .n = found[1].n + run.count + found[0].n};
    out.cut = ARENA_ARRAY(arena, size_t, out.n + 1);
    size_t at = 0;
    for (size_t i = found[1].n; i > 0; i--)
        out.cut[at++] = found[1].at[i - 1];
    for (size_t i = 0; i <= run.count; i++)
        out.cut[at++] = run.start + i * run.period;
    for (size_t i = 0; i < found[0].n; i++)
        out.cut[at++] = found[0].at[i];
    out.noise = (double)total / (double)(run.period * out.n);
    vec_free(&found[0]);
    vec_free(&found[1]);
    mem_free(row);
    return out;
}

ORDER_BY(by_place, struct repeat, ORDER(x->cut[0], y->cut[0]));

struct part {
    size_t from, to;
};

struct repeats repeats_find(struct arena *arena, const uint32_t *text, size_t n)
{
    struct repeats out = {ARENA_ARRAY(arena, struct repeat, RUNS_MOST), 0, 0};
    struct part parts[2 * RUNS_MOST + 1] = {{0, n}};
    size_t waiting = 1;

    while (waiting > 0 && out.n < RUNS_MOST) {
        struct part part = parts[--waiting];
        if (part.to - part.from < 4)
            continue;
        struct run run = choose_run(text + part.from, part.to - part.from);
        if (run.count == 0)
            continue;
        struct repeat found = extend(arena, text + part.from, part.to - part.from, run);
        for (size_t i = 0; i <= found.n; i++)
            found.cut[i] += part.from;
        /* what lies beside the best repeat is small work unless it is a fair part of the whole */
        if (out.n > 0 && (found.cut[found.n] - found.cut[0]) * 10 < n)
            continue;
        out.covered += found.cut[found.n] - found.cut[0];
        out.at[out.n++] = found;
        if (waiting + 2 <= ARRAY_LEN(parts)) {
            parts[waiting++] = (struct part){found.cut[found.n], part.to};
            parts[waiting++] = (struct part){part.from, found.cut[0]};
        }
    }
    if (out.n > 1)
        qsort(out.at, out.n, sizeof(*out.at), by_place);
    return out;
}
