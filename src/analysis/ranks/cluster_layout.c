/*
 * Roles of communicators: by what they are called, by what they do, by which ranks they join.
 */
#include "analysis/ranks/cluster_links.h"

#include "base/str.h"

ENUM_NAMES(cluster_role_name, enum cluster_role, "unknown", "tp", "pp", "ep", "dp", "world")

struct use {
    size_t calls[COLLECTIVE_KINDS];
    size_t all;
};

static enum cluster_role role_by_name(struct str name)
{
    static const struct {
        struct str word;
        enum cluster_role role;
    } words[] = {
        {S_INIT("pipeline"), ROLE_PP}, {S_INIT("tensor"), ROLE_TP}, {S_INIT("expert"), ROLE_EP},
        {S_INIT("moe"), ROLE_EP},      {S_INIT("data"), ROLE_DP},   {S_INIT("tp"), ROLE_TP},
        {S_INIT("pp"), ROLE_PP},       {S_INIT("ep"), ROLE_EP},     {S_INIT("dp"), ROLE_DP},
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t at = str_find(name, words[i].word), end = at + words[i].word.n;
        bool is_short = words[i].word.n == 2;
        bool begins = at == 0 || name.at[at - 1] == '_' || name.at[at - 1] == '-';
        bool ends = end == name.n || (end < name.n && (name.at[end] < 'a' || name.at[end] > 'z'));
        if (at < name.n && (!is_short || (begins && ends)))
            return words[i].role;
    }
    return ROLE_UNKNOWN;
}

static size_t exchanges_of(const struct use *use)
{
    return use->calls[COLLECTIVE_ALL_TO_ALL] + use->calls[COLLECTIVE_DISPATCH] +
           use->calls[COLLECTIVE_COMBINE];
}

/* Whether communicators of all ranks do what copies of a model need: no exchanges, no transfers. */
static bool are_copies(const struct cluster_model *m, const struct use *uses)
{
    for (size_t g = 0; g < m->n_groups; g++)
        if (m->groups[g].role == ROLE_WORLD &&
            exchanges_of(&uses[g]) + uses[g].calls[COLLECTIVE_SEND_RECV] > 0)
            return false;
    return true;
}

/* Without names: transfers of two are a pipeline, exchanges are experts; neighbours that meet often
 * split matrices, ranks far apart have copies of the model. */
static enum cluster_role role_by_use(const struct cluster_model *m, const struct cluster_group *g,
                                     const struct use *use)
{
    enum { OFTEN = 4 };          /* a step */
    bool is_named = g->id.n > 0; /* else calls of all communicators fell together */

    if (g->n < 2)
        return ROLE_UNKNOWN;
    if (g->is_pair || ((is_named || g->n == 2) && use->calls[COLLECTIVE_SEND_RECV] * 2 > use->all))
        return ROLE_PP;
    if (exchanges_of(use) * 2 > use->all)
        return ROLE_EP;
    if (g->n == m->n && m->n > 1)
        return ROLE_WORLD;
    bool is_often = use->all >= OFTEN * (m->n_steps > 0 ? m->n_steps : 1);
    bool is_consecutive = g->ranks[g->n - 1] - g->ranks[0] == (int64_t)g->n - 1;
    return is_consecutive && is_often ? ROLE_TP : ROLE_DP;
}

/* Ranks that transfers join, directly or through others, from one of them on. */
static int64_t stages_of(const struct cluster_model *m)
{
    uint32_t *root = ARENA_ARRAY(m->arena, uint32_t, m->n), *count;
    int64_t most = 0;

    for (uint32_t r = 0; r < m->n; r++)
        root[r] = r;
    for (bool is_on = true; is_on;) {
        is_on = false;
        for (size_t g = 0; g < m->n_groups; g++) {
            if (!m->groups[g].is_pair)
                continue;
            uint32_t a = cluster_place(m, m->groups[g].ranks[0]);
            uint32_t b = cluster_place(m, m->groups[g].ranks[1]);
            if (a == CLUSTER_NONE || b == CLUSTER_NONE || root[a] == root[b])
                continue;
            root[a] = root[b] = root[a] < root[b] ? root[a] : root[b];
            is_on = true;
        }
    }
    count = ARENA_ARRAY(m->arena, uint32_t, m->n);
    for (uint32_t r = 0; r < m->n; r++)
        if (++count[root[r]] > most)
            most = count[root[r]];
    return most > 1 ? most : 0;
}

/* The size that most groups of a role have. */
static int64_t usual_size(const struct cluster_model *m, enum cluster_role role)
{
    int64_t best = 0;
    size_t votes = 0;

    for (size_t g = 0; g < m->n_groups; g++) {
        size_t same = 0;
        if (m->groups[g].role != role || m->groups[g].n < 2)
            continue;
        for (size_t k = 0; k < m->n_groups; k++)
            same += m->groups[k].role == role && m->groups[k].n == m->groups[g].n;
        if (same > votes) {
            votes = same;
            best = (int64_t)m->groups[g].n;
        }
    }
    return best;
}

struct cluster_layout cluster_layout_find(struct cluster_model *m)
{
    struct use *uses = ARENA_ARRAY(m->arena, struct use, m->n_groups + 1);
    struct cluster_layout out;

    for (size_t i = 0; i < m->n_nodes; i++) {
        uses[m->nodes[i].group].calls[m->nodes[i].kind]++;
        uses[m->nodes[i].group].all++;
    }
    for (size_t g = 0; g < m->n_groups; g++) {
        struct cluster_group *group = &m->groups[g];
        group->role = group->is_pair ? ROLE_PP : role_by_name(group->purpose);
        if (group->role == ROLE_UNKNOWN)
            group->role = role_by_name(group->id);
        if (group->role == ROLE_UNKNOWN)
            group->role = role_by_use(m, group, &uses[g]);
    }
    out = (struct cluster_layout){usual_size(m, ROLE_TP), stages_of(m), usual_size(m, ROLE_EP),
                                  usual_size(m, ROLE_DP)};
    if (out.dp == 0) /* all ranks have the same model */
        out.dp = usual_size(m, ROLE_WORLD) > 0 && out.tp == 0 && out.pp == 0 && are_copies(m, uses)
                     ? (int64_t)m->n
                     : 0;
    if (out.pp == 0)
        out.pp = usual_size(m, ROLE_PP);
    return out;
}

struct str cluster_layout_text(const struct cluster_layout *layout, struct arena *arena)
{
    static const char *const names[] = {"TP", "PP", "EP", "DP"};
    const int64_t sizes[] = {layout->tp, layout->pp, layout->ep, layout->dp};
    struct str text = S("");

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (sizes[i] > 0)
            text = arena_format(arena, "%.*s%s%s %lld", STR_ARGS(text), text.n > 0 ? ", " : "",
                                names[i], (long long)sizes[i]);
    return text;
}
