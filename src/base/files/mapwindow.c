/* Maps windows and counts their users; the last one unmaps. */
#include "base/files/mapwindow.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/run/job.h"

static void unmap(void *at, size_t n)
{
    munmap(at, n);
}

/* A window from the page of `offset` on. */
static struct mapwindow *open_window(int fd, uint64_t offset, size_t n)
{
    uint64_t from = offset - offset % (uint64_t)sysconf(_SC_PAGESIZE);
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || offset >= (uint64_t)st.st_size ||
        n > (uint64_t)st.st_size - offset)
        return NULL;
    uint64_t left = (uint64_t)st.st_size - from, want = offset - from + n;
    want = want < MAPWINDOW_BYTES ? MAPWINDOW_BYTES : want;
    size_t size = (size_t)(left < want ? left : want);
    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, (off_t)from);
    if (at == MAP_FAILED)
        return NULL;
    job_hold(unmap, at, size);
    struct mapwindow *w = mem_grow(NULL, sizeof(*w), 1);
    *w = (struct mapwindow){.text = {at, size}, .offset = from, .users = 1};
    return w;
}

struct mapwindow *mapwindow_acquire(struct mapwindow **current, int fd, uint64_t offset, size_t n)
{
    const struct mapwindow *w = *current;
    bool has_bytes = w != NULL && offset >= w->offset && offset - w->offset <= w->text.n &&
                     n <= w->text.n - (size_t)(offset - w->offset);

    if (!has_bytes) {
        struct mapwindow *next = open_window(fd, offset, n);
        if (next == NULL)
            return NULL;
        mapwindow_leave(current);
        *current = next;
    }
    (*current)->users++;
    return *current;
}

struct str mapwindow_part(const struct mapwindow *w, uint64_t offset, size_t n)
{
    return str_part(w->text, (size_t)(offset - w->offset), n);
}

void mapwindow_leave(struct mapwindow **w)
{
    if (*w != NULL && --(*w)->users == 0) {
        job_drop(unmap, (*w)->text.at);
        munmap((void *)(uintptr_t)(*w)->text.at, (*w)->text.n);
        mem_free(*w);
    }
    *w = NULL;
}
