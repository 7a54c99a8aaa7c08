/*
 * GPU code on its way from the callback into files. See modules.h.
 */
#include "gpu/inject/modules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/write_all.h"

enum { PATH_MOST = 4096 };

static const size_t each_most = (size_t)256 << 20;    /* one module */
static const size_t pending_most = (size_t)256 << 20; /* copied and not written yet */
static const size_t total_most = (size_t)1 << 30;     /* written by this process */

struct module {
    struct module *next;
    size_t bytes;
    unsigned char data[];
};

static struct {
    _Atomic(struct module *) taken; /* newest first */
    _Atomic size_t pending;
    _Atomic uint64_t left_out, left_out_bytes;
    pthread_mutex_t lock; /* of what follows: our thread and the last one may both write */
    size_t written;
} m = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void leave_out(size_t bytes)
{
    atomic_fetch_add(&m.left_out, 1);
    atomic_fetch_add(&m.left_out_bytes, bytes);
}

void modules_keep(const struct cupti_resource_data *loaded)
{
    const struct cupti_module_data *module = loaded->descriptor;
    size_t bytes = module != NULL ? module->bytes : 0;

    if (bytes == 0 || module->cubin == NULL)
        return;
    struct module *copy = NULL;
    bool fits = bytes <= each_most && atomic_fetch_add(&m.pending, bytes) + bytes <= pending_most;
    if (fits)
        copy = malloc(sizeof(*copy) + bytes);
    if (copy == NULL) {
        if (bytes <= each_most)
            atomic_fetch_sub(&m.pending, bytes);
        leave_out(bytes);
        return;
    }
    copy->bytes = bytes;
    memcpy(copy->data, module->cubin, bytes);
    copy->next = atomic_load(&m.taken);
    while (!atomic_compare_exchange_weak(&m.taken, &copy->next, copy))
        ;
}

/* FNV-1a of 64 bits over words of eight bytes, then the bytes that are left and the length. */
uint64_t modules_hash(const void *code, size_t bytes)
{
    const unsigned char *data = code;
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t hash = UINT64_C(0xcbf29ce484222325), word;
    size_t i = 0;

    for (; i + sizeof(word) <= bytes; i += sizeof(word)) {
        memcpy(&word, data + i, sizeof(word));
        hash = (hash ^ word) * prime;
        hash ^= hash >> 32; /* the product alone carries upwards only */
    }
    for (; i < bytes; i++)
        hash = (hash ^ data[i]) * prime;
    return (hash ^ bytes) * prime;
}

/* Under a name of this process until it is whole: others may write the same. */
static bool modules_save(const char *folder, const struct module *module)
{
    char path[PATH_MOST], part[PATH_MOST];
    int n = snprintf(path, sizeof(path), "%s/module-%016llx.cubin", folder,
                     (unsigned long long)modules_hash(module->data, module->bytes));
    int k = snprintf(part, sizeof(part), "%s/module-%ld.part", folder, (long)getpid());

    if (n >= (int)sizeof(path) || k >= (int)sizeof(part))
        return false;
    if (access(path, F_OK) == 0)
        return true;
    if (m.written + module->bytes > total_most)
        return false;
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    bool is_whole = write_all(fd, module->data, module->bytes) == 0;
    is_whole = close(fd) == 0 && is_whole;
    if (!is_whole || rename(part, path) != 0) {
        unlink(part);
        return false;
    }
    m.written += module->bytes;
    return true;
}

void modules_write(struct inject_session *s)
{
    struct module *module = atomic_exchange(&m.taken, NULL);

    pthread_mutex_lock(&m.lock);
    while (module != NULL) {
        struct module *next = module->next;
        if (!modules_save(s->settings.folder, module))
            leave_out(module->bytes);
        atomic_fetch_sub(&m.pending, module->bytes);
        free(module);
        module = next;
    }
    pthread_mutex_unlock(&m.lock);
}

void modules_report(struct inject_session *s)
{
    char text[96];

    if (atomic_load(&m.left_out) == 0)
        return;
    snprintf(text, sizeof(text), "%llu modules with %llu bytes were not saved",
             (unsigned long long)atomic_load(&m.left_out),
             (unsigned long long)atomic_load(&m.left_out_bytes));
    session_note(s, "modules", 0, text);
}
