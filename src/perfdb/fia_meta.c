#include "perfdb/fia_meta.h"

#include "base/char.h"
#include "perfdb/cell.h"
#include "perfdb/rows.h"

enum { SLOT_SEQ = 5, SLOT_SEQ_KV = 6, SLOT_BLOCK_TABLE = 14, SLOTS = 31 };

bool fia_slot(struct arena *arena, struct str slot, struct str *out)
{
    struct str rest = cell_trim(slot), one;

    *out = S("");
    if (rest.n == 0)
        return true;
    char *text = arena_alloc(arena, rest.n * 2 + 24);
    size_t n = 0;
    while (str_split(&rest, ',', &one)) {
        int64_t value;
        one = cell_trim(one);
        if (one.n == 0)
            continue;
        if (!cell_i64(one, &value))
            return false;
        struct str digits = arena_format(arena, "%s%lld", n > 0 ? "," : "", (long long)value);
        memcpy(text + n, digits.at, digits.n);
        n += digits.n;
    }
    *out = (struct str){text, n};
    return true;
}

struct str fia_folder(const char *path)
{
    struct str whole = str_of(path), name = str_basename(whole);
    struct str folder = str_part(whole, 0, whole.n - name.n);

    while (folder.n > 1 && folder.at[folder.n - 1] == '/')
        folder.n--;
    return folder.n > 0 ? folder : S(".");
}

/* Letters and digits only, small: "aclnn Fused-Infer_AttentionScore" is one word. */
static bool names_fia(struct str text)
{
    static const char word[] = "fusedinferattentionscore";
    size_t n = sizeof(word) - 1, kept = 0;
    char last[sizeof(word)] = "";

    for (size_t i = 0; i < text.n; i++) {
        char c = char_lower(text.at[i]);
        if (!char_is_alnum(c))
            continue;
        if (kept == n)
            memmove(last, last + 1, n - 1);
        else
            kept++;
        last[kept - 1] = c;
        if (kept == n && memcmp(last, word, n) == 0)
            return true;
    }
    return false;
}

struct shapes {
    VEC_OF(struct str) at;
};

/* The input shapes of the attention calls of operator_details.csv, in order. */
static enum status read_operators(const char *path, struct arena *arena, struct shapes *out,
                                  struct diag *d)
{
    static const struct str names[] = {S_INIT("Type"),          S_INIT("Name"),
                                       S_INIT("Op Type"),       S_INIT("Op Name"),
                                       S_INIT("Operator Type"), S_INIT("Operator Name")};
    int name[ARRAY_LEN(names)];
    struct rows *rows;

    TRY(rows_open(&rows, path, d));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        name[i] = csv_column(&rows->csv, names[i]);
    int input = csv_column(&rows->csv, COL_INPUT_SHAPES);
    int output = csv_column(&rows->csv, COL_OUTPUT_SHAPES);
    while (rows_next(rows)) {
        bool is_fia = false;
        for (size_t i = 0; i < ARRAY_LEN(names) && !is_fia; i++)
            is_fia = names_fia(csv_cell(&rows->csv, name[i]));
        if (!is_fia || cell_trim(csv_cell(&rows->csv, output)).n == 0)
            continue;
        struct str shapes = rows_cell(rows, input, arena);
        if (shapes.n > 0)
            vec_push(&out->at, arena_str(arena, shapes));
    }
    return rows_close(rows);
}

static enum status take_slots(struct fia_meta *m, struct arena *arena, struct str shapes,
                              const char *path, struct diag *d)
{
    struct str rest = cell_bare(shapes), one, text;

    for (size_t i = 0; str_split(&rest, ';', &one); i++) {
        if (!fia_slot(arena, one, &text))
            return diag_fail(d, ST_FORMAT, "perfdb.bad-slot", (struct where){.path = path},
                             "slot %zu of an attention row is no list of numbers: \"%.*s\"", i,
                             STR_ARGS(one));
        if (i == SLOT_SEQ)
            m->seq = text;
        else if (i == SLOT_SEQ_KV)
            m->seq_kv = text;
        else if (i == SLOT_BLOCK_TABLE)
            m->block_table = text;
    }
    return ST_OK;
}

static uint64_t key_of(struct str input_shapes, struct str output_shapes)
{
    return hash_mix(hash_bytes(input_shapes), hash_bytes(output_shapes));
}

enum status fia_meta_add(struct fia_metas *metas, struct kernels *k, const char *path,
                         const char *operators, struct diag *d)
{
    struct shapes calls = {0};
    struct str folder = fia_folder(path);
    struct str profile = str_equal(folder, S(".")) ? S("") : str_basename(folder);
    enum status st = ST_OK;

    if (operators != NULL)
        st = read_operators(operators, &k->arena, &calls, d);
    if (st == ST_OK && calls.at.n > 0 && calls.at.n != k->n_fia)
        diag_add(d, SEV_WARN, "perfdb.fia-pairs", (struct where){.path = path},
                 "FIA kernel/operator row count mismatch under %.*s: kernel_rows=%llu, "
                 "operator_rows=%zu; only the common first rows are paired",
                 STR_ARGS(folder), (unsigned long long)k->n_fia, calls.at.n);
    for (size_t i = 0; i < k->fia.n && st == ST_OK; i++) {
        const struct kernel_fia *row = &k->fia.at[i];
        struct fia_meta m = {.input_shapes = row->input_shapes,
                             .output_shapes = row->output_shapes,
                             .profile = arena_str(&k->arena, profile)};
        bool is_paired = row->index < calls.at.n;
        struct str shapes = is_paired ? calls.at.at[row->index] : row->input_shapes;
        st = take_slots(&m, &k->arena, shapes, path, d);
        hash_put(&metas->by_shapes, key_of(m.input_shapes, m.output_shapes), (uint32_t)metas->at.n);
        vec_push(&metas->at, m);
    }
    vec_free(&calls.at);
    return st;
}

const struct fia_meta *fia_meta_find(const struct fia_metas *metas, struct str input_shapes,
                                     struct str output_shapes)
{
    uint32_t at;

    if (!hash_get(&metas->by_shapes, key_of(input_shapes, output_shapes), &at))
        return NULL;
    const struct fia_meta *m = &metas->at.at[at];
    bool is_it =
        str_equal(m->input_shapes, input_shapes) && str_equal(m->output_shapes, output_shapes);
    return is_it ? m : NULL;
}

void fia_meta_free(struct fia_metas *metas)
{
    vec_free(&metas->at);
    hash_free(&metas->by_shapes);
}
