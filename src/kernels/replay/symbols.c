/*
 * Dynamic symbols of a library, demangled as far as kernels need it.
 */
#include "kernels/replay/symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/run/job.h"
#include "base/text/char.h"
#include "base/text/text.h"

/* ---- demangling: the part of the Itanium C++ ABI that kernel entries use ---- */

enum { NAMES_MAX = 64, DEPTH_MAX = 32, PLAIN_MAX = 4096 };

struct reader {
    struct arena *arena;
    struct str rest;
    struct str known[NAMES_MAX]; /* what S_, S0_ .. stand for */
    size_t n_known;
    int depth;
};

static char peek(const struct reader *r)
{
    return r->rest.n > 0 ? r->rest.at[0] : '\0';
}

static void skip(struct reader *r, size_t n)
{
    r->rest = str_part(r->rest, n, r->rest.n);
}

static bool symbols_take(struct reader *r, struct str text)
{
    if (!str_starts(r->rest, text))
        return false;
    skip(r, text.n);
    return true;
}

/* <length><that many bytes> */
static bool read_word(struct reader *r, struct str *out)
{
    size_t n = 0;

    if (!char_is_digit(peek(r)))
        return false;
    while (char_is_digit(peek(r)) && n < LIMIT_CODE_TEXT) {
        n = n * 10 + (size_t)(peek(r) - '0');
        skip(r, 1);
    }
    if (n == 0 || n > r->rest.n)
        return false;
    *out = str_part(r->rest, 0, n);
    skip(r, n);
    return true;
}

static void remember(struct reader *r, struct str text)
{
    if (r->n_known < NAMES_MAX)
        r->known[r->n_known++] = text;
}

/* <word>.. E, behind an N. S_ may mean the name of a function without its last word, and a type. */
static bool read_nested(struct reader *r, bool is_type, struct str *out)
{
    struct str word, all = {"", 0};

    symbols_take(r, S("K"));
    while (read_word(r, &word)) {
        if (all.n > 0 && !is_type)
            remember(r, all);
        all =
            all.n > 0 ? arena_format(r->arena, "%.*s::%.*s", STR_ARGS(all), STR_ARGS(word)) : word;
        if (all.n > PLAIN_MAX)
            return false;
        if (is_type)
            remember(r, all);
    }
    *out = all;
    return all.n > 0 && symbols_take(r, S("E"));
}

static const struct builtin {
    struct str code, name;
} builtins[] = {
    {S_INIT("v"), S_INIT("void")},
    {S_INIT("b"), S_INIT("bool")},
    {S_INIT("c"), S_INIT("char")},
    {S_INIT("a"), S_INIT("signed char")},
    {S_INIT("h"), S_INIT("unsigned char")},
    {S_INIT("s"), S_INIT("short")},
    {S_INIT("t"), S_INIT("unsigned short")},
    {S_INIT("i"), S_INIT("int")},
    {S_INIT("j"), S_INIT("unsigned int")},
    {S_INIT("l"), S_INIT("long")},
    {S_INIT("m"), S_INIT("unsigned long")},
    {S_INIT("x"), S_INIT("long long")},
    {S_INIT("y"), S_INIT("unsigned long long")},
    {S_INIT("f"), S_INIT("float")},
    {S_INIT("d"), S_INIT("double")},
    {S_INIT("e"), S_INIT("long double")},
    {S_INIT("Dh"), S_INIT("half")},
    {S_INIT("DF16_"), S_INIT("_Float16")},
    {S_INIT("DF16b"), S_INIT("std::bfloat16_t")},
    {S_INIT("Dn"), S_INIT("decltype(nullptr)")},
    {S_INIT("z"), S_INIT("...")},
};

/* S_ is the first name, S0_ the second, S1_ .. follow. */
static bool read_known(struct reader *r, struct str *out)
{
    size_t k = 0;

    skip(r, 1);
    if (char_is_digit(peek(r)) || (peek(r) >= 'A' && peek(r) <= 'Z')) {
        char c = peek(r);
        k = (char_is_digit(c) ? (size_t)(c - '0') : (size_t)(c - 'A') + 10) + 1;
        skip(r, 1);
    }
    if (!symbols_take(r, S("_")) || k >= r->n_known)
        return false;
    *out = r->known[k];
    return true;
}

static bool read_type(struct reader *r, struct str *out);

/* The type that follows, with `after` behind its text. */
static bool read_derived(struct reader *r, const char *after, struct str *out)
{
    struct str inner;

    if (!read_type(r, &inner) || inner.n > PLAIN_MAX)
        return false;
    *out = arena_format(r->arena, "%.*s%s", STR_ARGS(inner), after);
    remember(r, *out);
    return true;
}

static bool read_type_here(struct reader *r, struct str *out)
{
    struct str word;

    if (symbols_take(r, S("P")))
        return read_derived(r, "*", out);
    if (symbols_take(r, S("R")))
        return read_derived(r, "&", out);
    if (symbols_take(r, S("O")))
        return read_derived(r, "&&", out);
    if (symbols_take(r, S("K")))
        return read_derived(r, " const", out);
    if (symbols_take(r, S("V")))
        return read_derived(r, " volatile", out);
    if (symbols_take(r, S("U"))) /* a vendor's qualifier: an address space */
        return read_word(r, &word) &&
               read_derived(r, arena_printf(r->arena, " %.*s", STR_ARGS(word)), out);
    if (peek(r) == 'S' && !str_starts(r->rest, S("St")))
        return read_known(r, out);
    if (symbols_take(r, S("N")))
        return read_nested(r, true, out);
    if (char_is_digit(peek(r))) {
        if (!read_word(r, out))
            return false;
        remember(r, *out);
        return true;
    }
    if (symbols_take(r, S("u"))) /* a vendor's own type */
        return read_word(r, out);
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++)
        if (symbols_take(r, builtins[i].code)) {
            *out = builtins[i].name;
            return true;
        }
    return false;
}

static bool read_type(struct reader *r, struct str *out)
{
    bool is_read = r->depth < DEPTH_MAX;

    r->depth++;
    is_read = is_read && read_type_here(r, out);
    r->depth--;
    return is_read;
}

struct str symbol_demangle(struct arena *arena, struct str name)
{
    struct reader r = {.arena = arena, .rest = name};
    struct str plain, type, all = {"", 0};

    if (!symbols_take(&r, S("_Z")))
        return name;
    if (symbols_take(&r, S("N"))) {
        if (!read_nested(&r, false, &plain))
            return name;
    } else {
        symbols_take(&r, S("L")); /* internal linkage */
        if (!read_word(&r, &plain))
            return name;
    }
    if (r.rest.n == 0)
        return plain;
    if (str_equal(r.rest, S("v")))
        return arena_format(arena, "%.*s()", STR_ARGS(plain));
    while (r.rest.n > 0) {
        if (peek(&r) == '.' && all.n > 0) /* a clone of the compiler: ".cold" */
            break;
        if (!read_type(&r, &type) || all.n + type.n > PLAIN_MAX)
            return arena_format(arena, "%.*s(...)", STR_ARGS(plain));
        all = all.n > 0 ? arena_format(arena, "%.*s, %.*s", STR_ARGS(all), STR_ARGS(type)) : type;
    }
    return arena_format(arena, "%.*s(%.*s)", STR_ARGS(plain), STR_ARGS(all));
}

/* ---- the dynamic table ---- */

/* What nm marks T or W: global code, and weak symbols that are not data. */
static bool is_function(Elf *elf, const GElf_Sym *sym)
{
    GElf_Shdr shdr;
    int bind = GELF_ST_BIND(sym->st_info), type = GELF_ST_TYPE(sym->st_info);

    if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE || type == STT_GNU_IFUNC)
        return false;
    if (bind == STB_WEAK)
        return type != STT_OBJECT;
    Elf_Scn *home = elf_getscn(elf, sym->st_shndx);
    return bind == STB_GLOBAL && home != NULL && gelf_getshdr(home, &shdr) != NULL &&
           (shdr.sh_flags & SHF_EXECINSTR) != 0;
}

static void symbols_read_table(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, struct arena *arena,
                               struct symbol_list *out)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t count = data != NULL && shdr->sh_entsize > 0 ? data->d_size / shdr->sh_entsize : 0;
    VEC_OF(struct symbol) list = {0};

    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Sym sym;
        const char *name;
        if (gelf_getsym(data, (int)i, &sym) == NULL || !is_function(elf, &sym) ||
            (name = elf_strptr(elf, shdr->sh_link, sym.st_name)) == NULL || name[0] == '\0')
            continue;
        struct str kept = arena_str(arena, str_of(name));
        vec_push(&list, ((struct symbol){kept, symbol_demangle(arena, kept)}));
    }
    out->at = ARENA_ARRAY(arena, struct symbol, list.n);
    out->n = list.n;
    if (list.n > 0)
        memcpy(out->at, list.at, list.n * sizeof(*list.at));
    vec_free(&list);
}

enum status symbols_read(struct arena *arena, const char *path, struct symbol_list *out,
                         struct diag *d)
{
    struct where where = {.path = path};
    uint64_t size;
    int fd;

    *out = (struct symbol_list){0};
    TRY(mapfile_descriptor(path, d, &fd, &size));
    Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    enum status st = ST_OK;
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF) {
        st = diag_fail(d, ST_FORMAT, "symbols.not-elf", where, "not a shared library (ELF)");
    } else {
        GElf_Shdr shdr;
        Elf_Scn *scn = NULL;
        while ((scn = elf_nextscn(elf, scn)) != NULL)
            if (gelf_getshdr(scn, &shdr) != NULL && shdr.sh_type == SHT_DYNSYM) {
                symbols_read_table(elf, scn, &shdr, arena, out);
                break;
            }
    }
    if (elf != NULL)
        elf_end(elf);
    job_close(fd);
    return st;
}

enum status symbols_pick(const struct symbol_list *list, const struct str *names, size_t n,
                         const char *path, const struct symbol **out, struct diag *d)
{
    enum { SHOWN_MAX = 20 };
    struct text shown = {0};

    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < list->n; i++) {
            struct str plain = list->at[i].plain, name = names[k];
            if (str_equal(plain, name) || str_equal(list->at[i].name, name) ||
                (str_starts(plain, name) && plain.n > name.n && plain.at[name.n] == '(')) {
                *out = &list->at[i];
                return ST_OK;
            }
        }
    if (list->n == 1) {
        *out = &list->at[0];
        return ST_OK;
    }
    for (size_t i = 0; i < list->n && i < SHOWN_MAX; i++)
        text_format(&shown, "%s%.*s", i > 0 ? ", " : "", STR_ARGS(list->at[i].plain));
    diag_add(d, SEV_ERROR, "symbols.no-kernel", (struct where){.path = path},
             "no symbol for kernel %.*s; candidates: %.*s", n > 0 ? (int)names[0].n : 0,
             n > 0 ? names[0].at : "", STR_ARGS(text_view(&shown)));
    text_free(&shown);
    return ST_NOT_FOUND;
}
