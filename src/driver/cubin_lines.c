/*
 * The line table of a module. See cubin.h.
 */
#include "driver/cubin.h"

#include <gelf.h>
#include <libelf.h>

#include "base/tables/vec.h"

/* Operations of the line program. */
enum {
    OP_EXTENDED,
    OP_COPY,
    OP_ADVANCE_PC,
    OP_ADVANCE_LINE,
    OP_SET_FILE,
    OP_SET_COLUMN,
    OP_CONST_ADD_PC = 8,
    OP_FIXED_ADVANCE,
    EXTENDED_END = 1,
    EXTENDED_ADDRESS = 2,
    EXTENDED_INLINED = 0x90, /* of NVIDIA: the row of the call, and the function's name */
    CALLS_MOST = 64,         /* around one instruction */
};

/* Bytes that are read one after the other. What lies behind the end is 0 and sets `is_bad`. */
struct reader {
    struct str all;
    size_t at, end;
    bool is_bad;
};

static uint64_t lines_number(struct reader *r, size_t n)
{
    uint64_t value = 0;

    if (r->end - r->at < n) {
        r->is_bad = true;
        r->at = r->end;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t)(uint8_t)r->all.at[r->at++] << 8 * i;
    return value;
}

static uint64_t leb(struct reader *r, bool is_signed)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;

    while ((byte & 0x80) != 0 && !r->is_bad) {
        byte = lines_number(r, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    }
    if (is_signed && shift < 64 && (byte & 0x40) != 0)
        value |= UINT64_MAX << shift;
    return value;
}

static struct str name(struct reader *r)
{
    struct str rest = str_part(r->all, r->at, r->end - r->at);
    size_t n = str_find_char(rest, '\0');

    r->is_bad |= n >= rest.n;
    r->at += n < rest.n ? n + 1 : rest.n;
    return str_part(rest, 0, n);
}

/* ---- the module ---- */

struct module {
    Elf *elf;
    struct str lines;  /* .debug_line */
    Elf_Data *places;  /* .rela.debug_line: which function an address belongs to */
    Elf_Data *symbols; /* of the places */
    size_t symbol_names, n_places;
};

static void read_section(struct module *m, Elf_Scn *scn, size_t names)
{
    GElf_Shdr head, table;
    const char *title =
        gelf_getshdr(scn, &head) != NULL ? elf_strptr(m->elf, names, head.sh_name) : NULL;
    struct str is = str_of(title);

    if (str_equal(is, S(".debug_line")) && head.sh_type != SHT_NOBITS) {
        Elf_Data *data = elf_rawdata(scn, NULL);
        if (data != NULL && data->d_buf != NULL)
            m->lines = (struct str){data->d_buf, data->d_size};
    } else if (str_equal(is, S(".rela.debug_line")) && head.sh_type == SHT_RELA) {
        Elf_Scn *symbols = elf_getscn(m->elf, head.sh_link);
        if (symbols == NULL || gelf_getshdr(symbols, &table) == NULL || head.sh_entsize == 0)
            return;
        m->places = elf_getdata(scn, NULL);
        m->n_places = head.sh_size / head.sh_entsize;
        m->symbols = elf_getdata(symbols, NULL);
        m->symbol_names = table.sh_link;
    }
}

static bool open_module(struct module *m, struct str bytes)
{
    bool is_ours = bytes.n >= EI_NIDENT && memcmp(bytes.at, ELFMAG, SELFMAG) == 0 &&
                   bytes.at[EI_CLASS] == ELFCLASS64 && bytes.at[EI_DATA] == ELFDATA2LSB;
    Elf_Scn *scn = NULL;
    size_t names;

    *m = (struct module){.lines = {"", 0}};
    if (is_ours && elf_version(EV_CURRENT) != EV_NONE)
        m->elf = elf_memory((char *)(uintptr_t)bytes.at, bytes.n);
    if (m->elf == NULL || elf_getshdrstrndx(m->elf, &names) != 0)
        return false;
    while ((scn = elf_nextscn(m->elf, scn)) != NULL)
        read_section(m, scn, names);
    return m->lines.n > 0 && m->places != NULL && m->symbols != NULL;
}

/* Whether the address at this place of the table is the function's. */
static bool is_address_of(const struct module *m, size_t place, struct str function)
{
    GElf_Rela rela;
    GElf_Sym symbol;

    for (size_t i = 0; i < m->n_places && i < INT32_MAX; i++)
        if (gelf_getrela(m->places, (int)i, &rela) != NULL && rela.r_offset == place &&
            GELF_R_SYM(rela.r_info) < INT32_MAX &&
            gelf_getsym(m->symbols, (int)GELF_R_SYM(rela.r_info), &symbol) != NULL)
            return str_equal(str_of(elf_strptr(m->elf, m->symbol_names, symbol.st_name)), function);
    return false;
}

/* ---- one line program ---- */

struct program {
    struct reader r;
    struct arena *arena;
    const struct module *module;
    struct str function;
    unsigned step, op_base, range;
    int base;
    size_t first_file; /* of this program, among all */
    VEC_OF(struct str) files;
    VEC_OF(struct cubin_line) rows;
    uint64_t offset;
    uint64_t file, line, call;
    uint64_t before; /* rows of this sequence, those of other functions too */
    size_t begin;    /* rows that the sequence found */
    bool is_here;    /* the sequence is the function's */
};

static void begin_sequence(struct program *p)
{
    p->offset = p->call = p->before = 0;
    p->file = p->line = 1;
    p->is_here = false;
    p->begin = p->rows.n;
}

static void lines_add_row(struct program *p)
{
    if (!p->is_here || p->rows.n >= CUBIN_LINE_ROWS)
        return;
    uint64_t file = p->first_file + p->file - 1;
    bool is_known = p->file >= 1 && file < p->files.n && p->line <= UINT32_MAX;
    vec_push(&p->rows, ((struct cubin_line){
                           .offset = p->offset,
                           .file = is_known ? (uint32_t)file : 0,
                           .line = is_known ? (uint32_t)p->line : 0,
                           .call = p->call > 0 && p->call <= p->rows.n - p->begin
                                       ? (uint32_t)(p->begin + p->call)
                                       : 0,
                       }));
}

static void extended(struct program *p)
{
    struct reader *r = &p->r;
    uint64_t bytes = leb(r, false);
    size_t end = bytes <= r->end - r->at ? r->at + (size_t)bytes : r->end;

    if (bytes == 0) /* padding */
        return;
    switch (lines_number(r, 1)) {
    case EXTENDED_END:
        begin_sequence(p);
        break;
    case EXTENDED_ADDRESS:
        p->is_here = is_address_of(p->module, r->at, p->function);
        p->offset = lines_number(r, 8);
        break;
    case EXTENDED_INLINED:
        p->call = leb(r, false);
        break;
    default:
        break;
    }
    r->at = end;
}

static void standard(struct program *p, unsigned op, const uint8_t *operands)
{
    struct reader *r = &p->r;

    switch (op) {
    case OP_COPY:
        lines_add_row(p);
        break;
    case OP_ADVANCE_PC:
        p->offset += leb(r, false) * p->step;
        break;
    case OP_ADVANCE_LINE:
        p->line += leb(r, true);
        break;
    case OP_SET_FILE:
        p->file = leb(r, false);
        break;
    case OP_CONST_ADD_PC:
        p->offset += (uint64_t)((255 - p->op_base) / p->range) * p->step;
        break;
    case OP_FIXED_ADVANCE:
        p->offset += lines_number(r, 2);
        break;
    default:
        for (unsigned i = 0; i < operands[op]; i++)
            leb(r, false);
    }
}

static void lines_run(struct program *p, const uint8_t *operands)
{
    begin_sequence(p);
    while (p->r.at < p->r.end && !p->r.is_bad) {
        unsigned op = (unsigned)lines_number(&p->r, 1);
        if (op == OP_EXTENDED) {
            extended(p);
        } else if (op < p->op_base) {
            standard(p, op, operands);
        } else {
            op -= p->op_base;
            p->offset += (uint64_t)(op / p->range) * p->step;
            p->line += (uint64_t)(p->base + (int)(op % p->range));
            lines_add_row(p);
        }
    }
}

static void read_files(struct program *p)
{
    VEC_OF(struct str) folders = {0};
    struct reader *r = &p->r;
    struct str text;

    p->first_file = p->files.n;
    while ((text = name(r)).n > 0 && !r->is_bad)
        vec_push(&folders, text);
    while ((text = name(r)).n > 0 && !r->is_bad) {
        uint64_t folder = leb(r, false);
        leb(r, false); /* time */
        leb(r, false); /* size */
        if (folder > 0 && folder <= folders.n && text.at[0] != '/')
            text = arena_format(p->arena, "%.*s/%.*s", STR_ARGS(folders.at[folder - 1]),
                                STR_ARGS(text));
        else
            text = arena_str(p->arena, text);
        vec_push(&p->files, text);
    }
    vec_free(&folders);
}

/* One program of the section; false when there is no further one. */
static bool read_program(struct program *p)
{
    struct reader *r = &p->r;
    uint8_t operands[256] = {0};

    r->end = r->all.n;
    uint64_t bytes = lines_number(r, 4);
    if (r->is_bad || bytes > r->end - r->at)
        return false;
    size_t next = r->at + (size_t)bytes;
    r->end = next;
    uint64_t version = lines_number(r, 2), head = lines_number(r, 4);
    size_t code = head <= r->end - r->at ? r->at + (size_t)head : r->end;
    p->step = (unsigned)lines_number(r, 1);
    if (version >= 4)
        lines_number(r, 1); /* operations of one instruction */
    lines_number(r, 1);     /* whether rows are statements */
    int base = (int)(lines_number(r, 1) & 0xff);
    p->base = base < 128 ? base : base - 256;
    p->range = (unsigned)lines_number(r, 1);
    p->op_base = (unsigned)lines_number(r, 1);
    for (unsigned i = 1; i < p->op_base; i++)
        operands[i] = (uint8_t)lines_number(r, 1);
    if (version >= 2 && version <= 4 && p->range > 0 && p->op_base > 0 && !r->is_bad) {
        read_files(p);
        r->at = code;
        lines_run(p, operands);
    }
    r->at = next;
    r->is_bad = false;
    return true;
}

bool cubin_lines_read(struct arena *arena, struct str bytes, struct str function,
                      struct cubin_lines *out)
{
    struct module m;
    struct program p = {.arena = arena, .module = &m, .function = function};

    *out = (struct cubin_lines){0};
    if (open_module(&m, bytes)) {
        p.r.all = m.lines;
        while (read_program(&p))
            ;
    }
    out->n = p.rows.n;
    out->n_files = p.files.n;
    out->rows = ARENA_ARRAY(arena, struct cubin_line, p.rows.n + 1);
    out->files = ARENA_ARRAY(arena, struct str, p.files.n + 1);
    if (p.rows.n > 0)
        memcpy(out->rows, p.rows.at, p.rows.n * sizeof(*out->rows));
    if (p.files.n > 0)
        memcpy(out->files, p.files.at, p.files.n * sizeof(*out->files));
    vec_free(&p.rows);
    vec_free(&p.files);
    if (m.elf != NULL)
        elf_end(m.elf);
    return out->n > 0;
}

/* ---- looking up ---- */

static bool is_toolkit(struct str path)
{
    return str_find(path, S("/include/")) < path.n &&
           (str_find(path, S("/cuda")) < path.n || str_find(path, S("/targets/")) < path.n);
}

const struct cubin_line *cubin_lines_find(const struct cubin_lines *l, uint64_t offset)
{
    const struct cubin_line *best = NULL;

    for (size_t i = 0; i < l->n; i++)
        if (l->rows[i].offset <= offset && (best == NULL || l->rows[i].offset >= best->offset))
            best = &l->rows[i];
    for (int i = 0;
         best != NULL && i < CALLS_MOST && best->call > 0 && is_toolkit(l->files[best->file]); i++)
        best = &l->rows[best->call - 1];
    return best != NULL && best->line > 0 ? best : NULL;
}
