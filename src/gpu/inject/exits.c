/*
 * Programs that end by _exit(): what was recorded is saved first. See session.h.
 *
 * The driver loads us when all names are bound, so ours cannot come before libc's. Instead the
 * places where loaded objects keep the address of _exit() get that of our function; those of
 * objects that are loaded later, when we look again. A system call of the program itself goes past
 * us.
 */
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/inject/session.h"

#if defined(__x86_64__)
enum { SLOT_CALLED = R_X86_64_JUMP_SLOT, SLOT_TAKEN = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { SLOT_CALLED = R_AARCH64_JUMP_SLOT, SLOT_TAKEN = R_AARCH64_GLOB_DAT };
#else
enum { SLOT_CALLED = -1, SLOT_TAKEN = -1 };
#endif

static unsigned long long loaded_before; /* objects, when we looked last */

static _Noreturn void leave(int status)
{
    session_save();
    _exit(status);
}

struct dynamic {
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Rela *calls, *others;
    size_t calls_bytes, others_bytes;
};

static struct dynamic read_dynamic(const struct dl_phdr_info *object, const Elf64_Dyn *at)
{
    struct dynamic d = {0};

    for (; at->d_tag != DT_NULL; at++) {
        /* The loader has added the base to addresses of most objects. */
        Elf64_Addr value = at->d_un.d_ptr, base = object->dlpi_addr;
        const void *to = (const void *)(value < base ? value + base : value);
        if (at->d_tag == DT_SYMTAB)
            d.symbols = to;
        else if (at->d_tag == DT_STRTAB)
            d.names = to;
        else if (at->d_tag == DT_JMPREL)
            d.calls = to;
        else if (at->d_tag == DT_PLTRELSZ)
            d.calls_bytes = at->d_un.d_val;
        else if (at->d_tag == DT_RELA)
            d.others = to;
        else if (at->d_tag == DT_RELASZ)
            d.others_bytes = at->d_un.d_val;
    }
    return d;
}

static bool is_in(const struct dl_phdr_info *object, const Elf64_Phdr *part, const void *at)
{
    uintptr_t begin = object->dlpi_addr + part->p_vaddr;

    return (uintptr_t)at >= begin && (uintptr_t)at - begin < part->p_memsz;
}

/* The page is made writable where the loader has protected it. */
static void replace(const struct dl_phdr_info *object, void **slot)
{
    void *const ours = (void *)(uintptr_t)leave;
    uintptr_t page = (uintptr_t)slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    bool is_protected = false;

    for (int i = 0; i < object->dlpi_phnum; i++)
        is_protected |= object->dlpi_phdr[i].p_type == PT_GNU_RELRO &&
                        is_in(object, &object->dlpi_phdr[i], slot);
    size_t bytes = (uintptr_t)(slot + 1) - page;
    if (*slot == ours ||
        (is_protected && mprotect((void *)page, bytes, PROT_READ | PROT_WRITE) != 0))
        return;
    *slot = ours;
    if (is_protected)
        mprotect((void *)page, bytes, PROT_READ);
}

static void patch_slots(const struct dl_phdr_info *object, const struct dynamic *d,
                        const Elf64_Rela *list, size_t bytes)
{
    for (size_t i = 0; list != NULL && i < bytes / sizeof(*list); i++) {
        int type = (int)ELF64_R_TYPE(list[i].r_info);
        if (type != SLOT_CALLED && type != SLOT_TAKEN)
            continue;
        const char *name = d->names + d->symbols[ELF64_R_SYM(list[i].r_info)].st_name;
        if (strcmp(name, "_exit") == 0 || strcmp(name, "_Exit") == 0)
            replace(object, (void **)(object->dlpi_addr + list[i].r_offset));
    }
}

/* dl_iterate_phdr: one object; our own keeps the true function. */
static int patch_object(struct dl_phdr_info *object, size_t size, void *user)
{
    const Elf64_Dyn *dynamic = NULL;
    bool is_ours = false;

    (void)size;
    *(unsigned long long *)user = object->dlpi_adds;
    if (object->dlpi_adds == loaded_before)
        return 1;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const Elf64_Phdr *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_DYNAMIC)
            dynamic = (const void *)(object->dlpi_addr + part->p_vaddr);
        is_ours |=
            part->p_type == PT_LOAD && is_in(object, part, (const void *)(uintptr_t)patch_object);
    }
    if (dynamic == NULL || is_ours)
        return 0;
    struct dynamic d = read_dynamic(object, dynamic);
    if (d.symbols != NULL && d.names != NULL) {
        patch_slots(object, &d, d.calls, d.calls_bytes);
        patch_slots(object, &d, d.others, d.others_bytes);
    }
    return 0;
}

void session_watch_exits(void)
{
    unsigned long long loaded = 0;

    dl_iterate_phdr(patch_object, &loaded);
    loaded_before = loaded;
}
