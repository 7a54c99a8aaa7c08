/*
 * capture - one profiled process or core: lanes, slices, names, sources.
 *
 * Importers and simulators fill a capture; capture_seal() puts it in order; from then on it is
 * const everywhere, so any number of readers need no locks. The capture owns all its memory.
 */
#ifndef STRATA_CAPTURE_CAPTURE_H
#define STRATA_CAPTURE_CAPTURE_H

#include "capture/lane.h"
#include "capture/slices.h"
#include "capture/source.h"

/* Attribute names that analyses look for; capture_key() gives their ids. */
enum capture_key {
    KEY_TYPE,  /* operator type, in the set */
    KEY_CORE,  /* execution unit, normalised, in the set */
    KEY_STATE, /* dynamic or static, in the set */
    KEY_BLOCK_DIM,
    KEY_MIX_BLOCK_DIM,
    KEY_INPUT_SHAPES,
    KEY_INPUT_DTYPES,
    KEY_INPUT_FORMATS,
    KEY_OUTPUT_SHAPES,
    KEY_OUTPUT_DTYPES,
    KEY_OUTPUT_FORMATS,
    KEY_STEP, /* step id as text, own */
    KEY_WAIT, /* gap to the previous row, own */
    KEY_TASK, /* task id, own */
    KEY_COUNT
};

struct capture {
    struct arena arena;
    struct intern strings;
    struct attrs attrs;
    VEC_OF(struct lane) lanes;
    struct hash lane_ids;
    struct slices slices;
    VEC_OF(struct source) sources;
    strid keys[KEY_COUNT];
    const char *name; /* base name of what was opened; lives in the arena */
    enum origin origin;
    unsigned has; /* mask of enum has, set by the seal */
    bool is_sealed;
};

struct capture *capture_new(void);
void capture_free(struct capture *cap);

static inline strid capture_intern(struct capture *cap, struct str text)
{
    return intern_put(&cap->strings, text);
}

static inline struct str capture_text(const struct capture *cap, strid id)
{
    return intern_get(&cap->strings, id);
}

static inline strid capture_key(const struct capture *cap, enum capture_key key)
{
    return cap->keys[key];
}

/* The lane with this key, added when it is new. */
lane_id capture_lane(struct capture *cap, struct lane_key key);

void capture_slice(struct capture *cap, const struct slice *slice);

/* Records a file that was read; `path` is copied. */
void capture_source(struct capture *cap, struct source source);

/* Sorts the slices by lane and time, sets each lane's range and the has mask. */
void capture_seal(struct capture *cap);

/* An attribute of a slice by its well-known key, own values first; NULL or empty when absent. */
const struct attr *capture_slice_attr(const struct capture *cap, size_t slice,
                                      enum capture_key key);
struct str capture_slice_text(const struct capture *cap, size_t slice, enum capture_key key);

#endif
