/*
 * Profiles as JSON: what `strata check --record` writes, and what reads it again.
 */
#include "analysis/compare/profile.h"

#include <math.h>

#include "report/record.h"

enum { MOST_PROFILES = 1000, MOST_PARTS = 1000000, MOST_UNITS = 10000000 };

#define LONGEST (INT64_MAX / MOST_UNITS) /* sums of all of them fit */

static const struct field part_fields[] = {
    FIELD(struct profile_part, operator, "operator"),
    FIELD(struct profile_part, kernel, "kernel"),
    FIELD(struct profile_part, class, "class",
          .about = "0 compute, 1 communication, 2 copy, 3 idle"),
    FIELD(struct profile_part, claimed, "claimed_ns", .about = "of all units"),
    FIELD(struct profile_part, busy, "busy_ns"),
    FIELD(struct profile_part, calls, "calls"),
};
static const struct record part_record = RECORD(struct profile_part, part_fields);

#define METRIC_VALUES(metric, key) FIELD_VALUES(struct profile_kind, metrics[metric], n, key)

static const struct field kind_fields[] = {
    FIELD(struct profile_kind, name, "name"),
    FIELD(struct profile_kind, label, "label"),
    FIELD(struct profile_kind, work, "flops",
          .about = "of products, convolutions and attention in a unit; null: not known"),
    FIELD(struct profile_kind, variation, "variation"),
    FIELD(struct profile_kind, distance, "distance"),
    METRIC_VALUES(UNIT_LENGTH, "length_ns"),
    METRIC_VALUES(UNIT_BUSY, "busy_ns"),
    METRIC_VALUES(UNIT_IDLE, "idle_ns"),
    METRIC_VALUES(UNIT_PRELAUNCH, "prelaunch_ns"),
    METRIC_VALUES(UNIT_INTERNAL, "internal_ns"),
    METRIC_VALUES(UNIT_TAIL, "tail_ns"),
    METRIC_VALUES(UNIT_COMM, "communication_ns"),
    METRIC_VALUES(UNIT_KERNELS, "kernels"),
    FIELD_LIST(struct profile_kind, parts, n_parts, "parts", &part_record),
};
static const struct record kind_record = RECORD(struct profile_kind, kind_fields);

static const struct field family_fields[] = {
    FIELD(struct profile_family, calls, "calls"),
    FIELD(struct profile_family, time, "time_ns"),
};
static const struct record family_record = RECORD(struct profile_family, family_fields);

static const struct field profile_fields[] = {
    FIELD(struct profile, name, "name"),
    FIELD(struct profile, rank, "rank", .about = "-1: not known"),
    FIELD(struct profile, world, "world"),
    FIELD(struct profile, device, "device"),
    FIELD(struct profile, software, "software"),
    FIELD(struct profile, options, "options"),
    FIELD(struct profile, kernels, "kernels"),
    FIELD(struct profile, steps, "steps"),
    FIELD(struct profile, span, "span_ns"),
    FIELD_OF_ENUM(struct profile, source, "units", unit_source_name, UNITS_NONE + 1),
    FIELD_INSIDE(struct profile, all, "all", &kind_record),
    FIELD_LIST(struct profile, kinds, n_kinds, "kinds", &kind_record),
    FIELD_VALUES(struct profile, operators.at, operators.n, "operators",
                 .about = "hashes of operators with shapes"),
    FIELD_VALUES(struct profile, tensors.at, tensors.n, "tensors", .about = "hashes of shapes"),
    FIELD_ARRAY(struct profile, families, "families", &family_record),
};
static const struct record profile_record = RECORD(struct profile, profile_fields);

static const struct field list_fields[] = {
    FIELD_FIXED("schema", "strata.baseline/2"),
    FIELD_FIXED("version", STRATA_VERSION),
    FIELD_POINTERS(struct profile_list, at, n, "runs", &profile_record),
};
static const struct record list_record = RECORD(struct profile_list, list_fields);

const struct schema profile_schema = {
    .name = "strata.baseline/2",
    .title = "recorded runs, for strata check --baseline",
    .record = &list_record,
    .is_bare = true,
};

/* ---- read ---- */

static bool take(const struct tree *from, const char *key, int64_t least, int64_t *out)
{
    return tree_int(tree_get(from, str_of(key)), out) && *out >= least && *out <= LONGEST;
}

static struct str take_text(struct arena *arena, const struct tree *from, const char *key)
{
    return arena_str(arena, tree_get_text(from, str_of(key), S("")));
}

static bool take_list(struct arena *arena, const struct tree *list, int64_t **at, size_t *n)
{
    if (list == NULL || list->kind != TREE_LIST || list->n > MOST_UNITS)
        return false;
    *n = list->n;
    *at = ARENA_ARRAY(arena, int64_t, list->n);
    size_t i = 0;
    for (const struct tree *one = list->first; one != NULL; one = one->next)
        if (!tree_int(one, &(*at)[i++]) || (*at)[i - 1] < 0)
            return false;
    return true;
}

static bool read_part(struct arena *arena, const struct tree *from, struct profile_part *out)
{
    out->operator= take_text(arena, from, "operator");
    out->kernel = take_text(arena, from, "kernel");
    return take(from, "class", 0, &out->class) && out->class < PART_CLASSES &&
           take(from, "claimed_ns", 0, &out->claimed) && take(from, "busy_ns", 0, &out->busy) &&
           take(from, "calls", 0, &out->calls);
}

/* Lists are of one length, and the parts claim what the units last. */
static bool is_whole(const struct profile_kind *k)
{
    nanos units = 0, parts = 0;

    for (size_t i = 0; i < k->n; i++) {
        if (k->metrics[UNIT_LENGTH][i] > LONGEST)
            return false;
        units += k->metrics[UNIT_LENGTH][i];
    }
    for (size_t i = 0; i < k->n_parts; i++)
        if (__builtin_add_overflow(parts, k->parts[i].claimed, &parts))
            return false;
    return units == parts;
}

static bool read_kind(struct arena *arena, const struct tree *from, struct profile_kind *out)
{
    const struct tree *parts = tree_get(from, S("parts")), *variation, *work;

    for (size_t i = 0, n; i < ARRAY_LEN(kind_fields); i++) {
        const struct field *f = &kind_fields[i];
        if (f->shape != SHAPE_LIST || f->record != NULL)
            continue;
        int64_t **at = (int64_t **)(void *)((char *)out + f->offset);
        if (!take_list(arena, tree_get(from, str_of(f->key)), at, &n) ||
            (at != &out->metrics[UNIT_LENGTH] && n != out->n))
            return false;
        out->n = n;
    }
    variation = tree_get(from, S("variation"));
    if (parts == NULL || parts->kind != TREE_LIST || parts->n > MOST_PARTS ||
        !take(from, "distance", 0, &out->distance) || !tree_is_number(variation))
        return false;
    out->variation = tree_number(variation);
    work = tree_get(from, S("flops"));
    out->work = tree_is_number(work) && tree_number(work) >= 0 ? tree_number(work) : NAN;
    out->name = take_text(arena, from, "name");
    out->label = take_text(arena, from, "label");
    out->parts = ARENA_ARRAY(arena, struct profile_part, parts->n);
    for (const struct tree *p = parts->first; p != NULL; p = p->next)
        if (!read_part(arena, p, &out->parts[out->n_parts++]))
            return false;
    return is_whole(out);
}

static bool read_families(const struct tree *list, struct profile *out)
{
    const struct tree *one = tree_items(list);
    size_t i = 0;

    for (; one != NULL && i < KERNEL_FAMILIES; one = one->next, i++)
        if (!take(one, "calls", 0, &out->families[i].calls) ||
            !take(one, "time_ns", 0, &out->families[i].time))
            return false;
    return one == NULL && i == KERNEL_FAMILIES;
}

static bool read_source(const struct tree *from, struct profile *out)
{
    struct str text = tree_get_text(from, S("units"), S(""));

    for (out->source = UNITS_MARKED; out->source <= UNITS_NONE; out->source++)
        if (str_equal(text, str_of(unit_source_name(out->source))))
            return true;
    return false;
}

static bool read_profile(struct arena *arena, const struct tree *from, struct profile *out)
{
    const struct tree *kinds = tree_get(from, S("kinds"));

    out->name = take_text(arena, from, "name");
    out->device = take_text(arena, from, "device");
    out->software = take_text(arena, from, "software");
    out->options = take_text(arena, from, "options");
    if (!take(from, "rank", -1, &out->rank) || !take(from, "world", -1, &out->world) ||
        !take(from, "kernels", 0, &out->kernels) || !take(from, "steps", 0, &out->steps) ||
        !take(from, "span_ns", 0, &out->span) || !read_source(from, out) || kinds == NULL ||
        kinds->kind != TREE_LIST || kinds->n > MOST_PROFILES ||
        !read_families(tree_get(from, S("families")), out) ||
        !take_list(arena, tree_get(from, S("operators")), &out->operators.at, &out->operators.n) ||
        !take_list(arena, tree_get(from, S("tensors")), &out->tensors.at, &out->tensors.n))
        return false;
    out->kinds = ARENA_ARRAY(arena, struct profile_kind, kinds->n);
    for (const struct tree *k = kinds->first; k != NULL; k = k->next)
        if (!read_kind(arena, k, &out->kinds[out->n_kinds++]))
            return false;
    return read_kind(arena, tree_get(from, S("all")), &out->all);
}

const char *profile_read(struct arena *arena, const struct tree *file, struct profile_list *out)
{
    const struct tree *runs = tree_get(file, S("runs"));

    if (str_equal(tree_get_text(file, S("schema"), S("")), S("strata.baseline/1")))
        return "a baseline of an older strata, without the length of each step: record it again "
               "with strata check RUN... --record FILE";
    if (!str_equal(tree_get_text(file, S("schema"), S("")), S("strata.baseline/2")) ||
        runs == NULL || runs->kind != TREE_LIST || runs->n == 0 || runs->n > MOST_PROFILES)
        return "not a file of strata check --record";
    out->at = ARENA_ARRAY(arena, const struct profile *, runs->n);
    for (const struct tree *run = runs->first; run != NULL; run = run->next) {
        struct profile *p = ARENA_NEW(arena, struct profile);
        if (!read_profile(arena, run, p))
            return "a damaged file of strata check --record";
        out->at[out->n++] = p;
    }
    return NULL;
}
