/*
 * Compiled GPU modules: their contents, and the output of tools. See cubin.h.
 */
#include "driver/cubin.h"

#include <gelf.h>
#include <libelf.h>

#include "base/run/proc.h"
#include "base/tables/vec.h"

/* Attributes of .nv.info: one byte of form, one of code, then a value of two bytes, or (form 4) the
 * length of what follows. Those of the whole module name the symbol first. */
enum {
    MACHINE_CUDA = 190,
    OTHER_ENTRY = 0x10, /* of a symbol: a kernel, not a function that kernels call */
    FORM_SIZED = 4,
    ATTR_FRAME = 0x11,
    ATTR_REGISTERS = 0x2f,
    ATTR_BARRIERS = 0x4c,
    RESERVED = 1024, /* shared memory that modules for cc 9.0 and later begin with */
};

struct reading {
    Elf *elf;
    struct arena *arena;
    VEC_OF(struct cubin_function) functions;
    bool has_reserved;
    struct cubin *out;
};

static struct str section_name(const struct reading *r, const GElf_Shdr *head)
{
    size_t names;
    const char *name =
        elf_getshdrstrndx(r->elf, &names) == 0 ? elf_strptr(r->elf, names, head->sh_name) : NULL;

    return str_of(name);
}

/* The bytes as they are in the file; none for sections without. */
static struct str section_bytes(Elf_Scn *scn, const GElf_Shdr *head)
{
    Elf_Data *data = head->sh_type != SHT_NOBITS ? elf_rawdata(scn, NULL) : NULL;

    return data != NULL && data->d_buf != NULL ? (struct str){data->d_buf, data->d_size}
                                               : (struct str){"", 0};
}

static uint32_t number_at(struct str bytes, size_t at, size_t n)
{
    uint32_t value = 0;

    for (size_t i = 0; i < n && at + i < bytes.n; i++)
        value |= (uint32_t)(uint8_t)bytes.at[at + i] << 8 * i;
    return value;
}

/* ---- kernels ---- */

static void read_symbols(struct reading *r, Elf_Scn *scn, const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t n = head->sh_entsize > 0 ? head->sh_size / head->sh_entsize : 0;

    for (size_t i = 0; data != NULL && i < n && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            return;
        const char *name = elf_strptr(r->elf, head->sh_link, symbol.st_name);
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || (symbol.st_other & OTHER_ENTRY) == 0 ||
            name == NULL || name[0] == '\0' || r->functions.n >= CUBIN_FUNCTIONS)
            continue;
        vec_push(&r->functions, ((struct cubin_function){.name = arena_str(r->arena, str_of(name)),
                                                         .symbol = i,
                                                         .code_bytes = symbol.st_size,
                                                         .registers = -1,
                                                         .frame_bytes = -1,
                                                         .barriers = -1,
                                                         .shared_bytes = -1}));
    }
}

static struct cubin_function *by_name(struct reading *r, struct str name)
{
    for (size_t i = 0; i < r->functions.n; i++)
        if (str_equal(r->functions.at[i].name, name))
            return &r->functions.at[i];
    return NULL;
}

static struct cubin_function *by_symbol(struct reading *r, uint32_t symbol)
{
    struct cubin_function *at = r->functions.at;
    size_t i;

    vec_bisect(i, r->functions.n, k, at[k].symbol < symbol);
    return i < r->functions.n && at[i].symbol == symbol ? &at[i] : NULL;
}

/* `own` is the kernel whose section this is; NULL: that of the module. */
static void read_info(struct reading *r, struct str bytes, struct cubin_function *own)
{
    for (size_t at = 0; at + 4 <= bytes.n;) {
        uint8_t form = (uint8_t)bytes.at[at], code = (uint8_t)bytes.at[at + 1];
        size_t value = number_at(bytes, at + 2, 2);
        at += 4;
        if (form == FORM_SIZED) {
            struct cubin_function *f =
                own == NULL && value >= 8 ? by_symbol(r, number_at(bytes, at, 4)) : NULL;
            if (f != NULL && code == ATTR_REGISTERS)
                f->registers = number_at(bytes, at + 4, 4);
            if (f != NULL && code == ATTR_FRAME)
                f->frame_bytes = number_at(bytes, at + 4, 4);
            at += value;
        } else if (own != NULL && code == ATTR_BARRIERS) {
            own->barriers = (int64_t)(value & 0xff);
        }
    }
}

static struct str after(struct str name, struct str prefix)
{
    return str_starts(name, prefix) ? str_part(name, prefix.n, name.n) : (struct str){"", 0};
}

/* ---- PTX ---- */

/* Lines end with NUL bytes; what stands before the first directive is padding. */
static void read_ptx(struct reading *r, struct str bytes)
{
    size_t begin = str_find(bytes, S(".version"));

    if (begin >= bytes.n || bytes.n > CUBIN_PTX_BYTES || r->out->ptx.n > 0)
        return;
    struct str text = arena_str(r->arena, str_part(bytes, begin, bytes.n));
    char *at = (char *)text.at;
    for (size_t i = 0; i < text.n; i++)
        if (at[i] == '\0')
            at[i] = '\n';
    while (text.n > 1 && at[text.n - 1] == '\n' && at[text.n - 2] == '\n')
        text.n--;
    r->out->ptx = text;
}

/* ---- all ---- */

static void read_section(struct reading *r, Elf_Scn *scn, const GElf_Shdr *head)
{
    struct str name = section_name(r, head), kernel;
    struct cubin_function *f;

    if (after(name, S(".text.")).n > 0) {
        r->out->code_bytes += head->sh_size;
    } else if (str_equal(name, S(".nv.info"))) {
        read_info(r, section_bytes(scn, head), NULL);
    } else if ((kernel = after(name, S(".nv.info."))).n > 0 && (f = by_name(r, kernel)) != NULL) {
        read_info(r, section_bytes(scn, head), f);
        if (f->barriers < 0)
            f->barriers = 0; /* only present if there are some */
    } else if ((kernel = after(name, S(".nv.shared."))).n > 0 && (f = by_name(r, kernel)) != NULL) {
        uint64_t kept = r->has_reserved ? RESERVED : 0;
        f->shared_bytes = head->sh_size >= kept && head->sh_size <= INT32_MAX
                              ? (int64_t)(head->sh_size - kept)
                              : -1;
    } else if (str_equal(name, S(".nv_debug_ptx_txt"))) {
        read_ptx(r, section_bytes(scn, head));
    }
}

/* Symbols first: the other sections speak of them. */
static void read_sections(struct reading *r)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr head;

    while ((scn = elf_nextscn(r->elf, scn)) != NULL) {
        if (gelf_getshdr(scn, &head) == NULL)
            continue;
        if (head.sh_type == SHT_SYMTAB && r->functions.n == 0)
            read_symbols(r, scn, &head);
        r->has_reserved |= str_equal(section_name(r, &head), S(".nv.shared.reserved.0"));
    }
    for (scn = NULL; (scn = elf_nextscn(r->elf, scn)) != NULL;)
        if (gelf_getshdr(scn, &head) != NULL)
            read_section(r, scn, &head);
    for (size_t i = 0; i < r->functions.n; i++) /* a kernel without has no section for it */
        if (r->functions.at[i].shared_bytes < 0)
            r->functions.at[i].shared_bytes = 0;
}

enum status cubin_read(struct arena *arena, const char *path, struct str bytes, struct cubin *out,
                       struct diag *d)
{
    struct reading r = {.arena = arena, .out = out};
    GElf_Ehdr head;

    *out = (struct cubin){.ptx = {"", 0}};
    /* libelf writes to its memory when a file has the other byte order; ours is read-only. */
    bool is_ours = bytes.n >= EI_NIDENT && memcmp(bytes.at, ELFMAG, SELFMAG) == 0 &&
                   bytes.at[EI_CLASS] == ELFCLASS64 && bytes.at[EI_DATA] == ELFDATA2LSB;
    if (is_ours && elf_version(EV_CURRENT) != EV_NONE)
        r.elf = elf_memory((char *)(uintptr_t)bytes.at, bytes.n);
    if (r.elf == NULL || elf_kind(r.elf) != ELF_K_ELF || gelf_getehdr(r.elf, &head) == NULL ||
        head.e_machine != MACHINE_CUDA) {
        if (r.elf != NULL)
            elf_end(r.elf);
        return diag_fail(d, ST_FORMAT, "cubin.not-elf", (struct where){.path = path},
                         "not a compiled GPU module (ELF)");
    }
    read_sections(&r);
    struct cubin_function *kept = ARENA_ARRAY(arena, struct cubin_function, r.functions.n);
    if (r.functions.n > 0)
        memcpy(kept, r.functions.at, r.functions.n * sizeof(*kept));
    out->functions = kept;
    out->n = r.functions.n;
    vec_free(&r.functions);
    elf_end(r.elf);
    return ST_OK;
}

const struct cubin_function *cubin_find(const struct cubin *c, struct str name)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_equal(c->functions[i].name, name))
            return &c->functions[i];
    return NULL;
}

/* ---- tools ---- */

enum { LIMIT_MS = 60000, WORDS = 8 };

static const size_t keep_most = (size_t)256 << 20;

const char *const *nvdisasm_argv(struct arena *arena, const char *program, const char *path,
                                 const struct cubin *c, const struct cubin_function *f)
{
    const char **words = ARENA_ARRAY(arena, const char *, WORDS);
    size_t n = 0;

    words[n++] = program;
    words[n++] = "-g"; /* source lines */
    words[n++] = "-c"; /* sections with code only */
    if (c->code_bytes > CUBIN_CODE_MOST) {
        words[n++] = "-fun";
        words[n++] = arena_printf(arena, "%zu", f->symbol);
    }
    words[n++] = path;
    return words;
}

static enum status cubin_run(struct arena *arena, const char *const *argv, struct str *out,
                             struct diag *d)
{
    struct proc_result p;

    *out = S("");
    TRY(proc_run(&(struct proc_spec){.argv = argv, .limit_ms = LIMIT_MS, .keep_max = keep_most},
                 arena, &p, d));
    if (p.out.n == 0)
        return diag_fail(d, ST_TOOL, "tool.no-output", (struct where){0}, "%s printed nothing",
                         argv[0]);
    *out = p.out;
    return ST_OK;
}

enum status cubin_nvdisasm(struct arena *arena, const char *program, const char *path,
                           const struct cubin *c, const struct cubin_function *f, struct str *out,
                           struct diag *d)
{
    return cubin_run(arena, nvdisasm_argv(arena, program, path, c, f), out, d);
}

enum status cubin_cuobjdump(struct arena *arena, const char *program, const char *path,
                            struct str *out, struct diag *d)
{
    const char *const argv[] = {program, "-ptx", path, NULL};

    return cubin_run(arena, argv, out, d);
}
