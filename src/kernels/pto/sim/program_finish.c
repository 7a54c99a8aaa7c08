/* What is done once all of a program is compiled: its pointers are sorted out, its syncs woven in.
 */
#include <string.h>

#include "kernels/pto/sim/program_in.h"

static int32_t root_group(const struct pto_compiler *c, int32_t root)
{
    while (root >= 0 && root < 64 && c->same_root[root] != root)
        root = c->same_root[root];
    return root;
}

/* A loop that hands pointers around (two buffers in turn) makes them one to who tells accesses
 * apart by their pointer. */
void program_mix_roots(struct pto_compiler *c, const struct pto_slot *from,
                       const struct pto_slot *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (from[i].kind != PTO_SLOT_GM || to[i].kind != PTO_SLOT_GM)
            continue;
        int32_t a = root_group(c, c->p->gms.at[from[i].at].root);
        int32_t b = root_group(c, c->p->gms.at[to[i].at].root);
        if (a == b)
            continue;
        if (a < 0 || a >= 64 || b < 0 || b >= 64)
            c->has_unknown_roots = true;
        else
            c->same_root[a] = b;
    }
}

static void push_list(struct pto_compiler *c, uint32_t list)
{
    for (; list != PTO_NONE; list = c->p->syncs.at[list].next)
        program_emit(c, (struct pto_step){.code = PTO_STEP_SYNC, .a = list});
}

/* Steps with the syncs of all nodes between them. A jump to a place meets all that hangs there:
 * first what follows the nodes that end, inner ones first, then what precedes those that begin. */
void program_weave_syncs(struct pto_compiler *c)
{
    struct pto_program *p = c->p;
    size_t n = p->steps.n;
    struct pto_step *old = p->steps.at;
    uint32_t *moved = mem_grow(NULL, sizeof(*moved), n + 1);
    uint32_t *begins = mem_grow(NULL, sizeof(*begins), n + 2);
    uint32_t *ends = mem_grow(NULL, sizeof(*ends), n + 2);
    uint32_t *next = mem_grow(NULL, sizeof(*next), 2 * p->nodes.n + 1);

    for (size_t i = 0; i < n + 2; i++)
        begins[i] = ends[i] = PTO_NONE;
    for (size_t i = p->nodes.n; i-- > 0;) { /* outer nodes end up first in `begins` */
        next[2 * i] = begins[p->nodes.at[i].first_step];
        begins[p->nodes.at[i].first_step] = (uint32_t)i;
    }
    for (size_t i = 0; i < p->nodes.n; i++) { /* inner nodes end up first in `ends` */
        next[2 * i + 1] = ends[p->nodes.at[i].end_step];
        ends[p->nodes.at[i].end_step] = (uint32_t)i;
    }
    memset(&p->steps, 0, sizeof(p->steps));
    for (size_t i = 0; i <= n; i++) {
        moved[i] = (uint32_t)c->p->steps.n;
        for (uint32_t k = ends[i]; k != PTO_NONE; k = next[2 * k + 1])
            push_list(c, p->nodes.at[k].after);
        for (uint32_t k = begins[i]; k != PTO_NONE; k = next[2 * k])
            push_list(c, p->nodes.at[k].before);
        if (i < n)
            program_emit(c, old[i]);
    }
    for (size_t i = 0; i < p->steps.n; i++) {
        uint16_t code = p->steps.at[i].code;
        if (code == PTO_STEP_JUMP || code == PTO_STEP_UNLESS || code == PTO_STEP_FOR ||
            code == PTO_STEP_NEXT)
            p->steps.at[i].target = moved[p->steps.at[i].target];
    }
    mem_free(old);
    mem_free(moved);
    mem_free(begins);
    mem_free(ends);
    mem_free(next);
}

/* Global memory needs watching only where something written is also read, or written twice by
 * different pipes. */
static void find_shared_gm(struct pto_program *p)
{
    uint64_t read = 0, written = 0;
    uint8_t writer[64];
    bool any_read = false, any_write = false;

    memset(writer, 0xff, sizeof(writer));
    for (size_t i = 0; i < p->sites.n; i++) {
        const struct pto_site *s = &p->sites.at[i];
        for (uint32_t k = 0; k < s->access_count; k++) {
            const struct pto_access *a = &p->accesses.at[s->access_first + k];
            if (a->space != PTO_GM)
                continue;
            for (uint8_t n = 0; n < s->n_phases; n++)
                p->has_scalar_gm |= s->phases[n] == PTO_PIPE_S;
            if (a->root < 0 || a->root >= 64) {
                *(a->is_write ? &any_write : &any_read) = true;
                continue;
            }
            uint64_t bit = UINT64_C(1) << a->root;
            uint8_t pipe = s->phases[s->n_phases - 1];
            if (a->is_write && writer[a->root] != 0xff && writer[a->root] != pipe)
                p->gm_shared |= bit;
            if (a->is_write)
                writer[a->root] = pipe;
            *(a->is_write ? &written : &read) |= bit;
        }
    }
    p->gm_shared |= read & written;
    if (any_read)
        p->gm_shared |= written;
    if (any_write)
        p->gm_shared = UINT64_MAX;
}

/* Accesses through pointers that loops mix up become accesses through one of them, whichever. */
void program_group_roots(struct pto_compiler *c)
{
    struct pto_program *p = c->p;

    for (size_t i = 0; i < p->accesses.n; i++) {
        struct pto_access *a = &p->accesses.at[i];
        if (a->space == PTO_GM)
            a->root = c->has_unknown_roots ? -1 : root_group(c, a->root);
    }
    find_shared_gm(p);
    for (int32_t i = 0; i < 64; i++) {
        int32_t group = root_group(c, i);
        if ((p->gm_shared >> group & 1) != 0)
            p->gm_shared |= UINT64_C(1) << i;
    }
}
