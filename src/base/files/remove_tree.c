/* With system calls alone, so that it works when memory has run out. */
#include "base/files/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/run/job.h"

enum { DEPTH = 64, BUFFER = 4096 };

static void empty(int folder, int depth);

static bool remove_entry(int folder, const char *name, int depth)
{
    if (unlinkat(folder, name, 0) == 0)
        return true;
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return false;
    if (depth > 0)
        empty(inner, depth - 1);
    close(inner);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Again from the start while something goes: entries may be passed over while others are removed.
 */
static void empty(int folder, int depth)
{
    _Alignas(struct dirent64) char buffer[BUFFER];
    size_t removed;

    do {
        long n = lseek(folder, 0, SEEK_SET) == 0;
        removed = 0;
        while (n > 0) {
            n = syscall(SYS_getdents64, folder, buffer, sizeof(buffer));
            for (long at = 0; at < n;) {
                const struct dirent64 *entry = (const struct dirent64 *)(buffer + at);
                at += entry->d_reclen;
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                    removed += remove_entry(folder, entry->d_name, depth);
            }
        }
    } while (removed > 0);
}

void remove_tree(const char *path)
{
    remove_entry(AT_FDCWD, path, DEPTH);
}

static void tree_release(void *path, size_t n)
{
    (void)n;
    remove_tree(path);
}

void remove_tree_hold(const char *path)
{
    job_hold(tree_release, (void *)(uintptr_t)path, 0);
}

void remove_tree_drop(const char *path)
{
    job_drop(tree_release, path);
}

const char *remove_tree_temporary(struct arena *arena)
{
    const char *root = getenv("TMPDIR");
    char *path = arena_cstr(arena, arena_format(arena, "%s/strata-XXXXXX",
                                                root != NULL && root[0] != '\0' ? root : "/tmp"));

    return mkdtemp(path);
}
