/*
 * Values that are made once. See once.h.
 */
#include "base/run/once.h"

#include <pthread.h>
#include <string.h>

#include "base/run/job.h"
#include "base/run/mem.h"
#include "base/tables/hash.h"

struct once_entry {
    uint64_t hash;
    const void *value;
    size_t n;
    char key[];
};

/* At most half full, so that a search ends soon. */
enum { SLOTS = 2 * ONCE_ROOM };

struct once {
    pthread_mutex_t lock; /* of making and adding */
    size_t n;
    struct once_entry *slots[SLOTS]; /* read without the lock: an entry is complete when stored */
};

struct once *once_new(void)
{
    struct once *o = mem_grow(NULL, sizeof(*o), 1);

    memset(o, 0, sizeof(*o));
    pthread_mutex_init(&o->lock, NULL);
    return o;
}

void once_free(struct once *o)
{
    if (o == NULL)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        mem_free(o->slots[i]);
    pthread_mutex_destroy(&o->lock);
    mem_free(o);
}

/* The value, else NULL and the free place of the key. */
static const void *once_find(struct once *o, uint64_t hash, struct str key, size_t *place)
{
    const struct once_entry *e;
    size_t i = hash % SLOTS;

    for (; (e = __atomic_load_n(&o->slots[i], __ATOMIC_ACQUIRE)) != NULL; i = (i + 1) % SLOTS)
        if (e->hash == hash && str_equal((struct str){e->key, e->n}, key))
            return e->value;
    *place = i;
    return NULL;
}

struct making {
    struct once *o;
    uint64_t hash;
    struct str key;
    const void *(*make)(void *ctx, struct str key);
    void *ctx;
    const void *value;
};

static void make_value(void *ctx)
{
    struct making *m = ctx;
    size_t place;

    m->value = once_find(m->o, m->hash, m->key, &place);
    if (m->value != NULL)
        return;
    m->value = m->make(m->ctx, m->key);
    if (m->value == NULL || m->o->n == ONCE_ROOM)
        return;
    struct once_entry *e = mem_grow(NULL, sizeof(*e) + m->key.n, 1);
    *e = (struct once_entry){m->hash, m->value, m->key.n};
    if (m->key.n > 0)
        memcpy(e->key, m->key.at, m->key.n);
    __atomic_store_n(&m->o->slots[place], e, __ATOMIC_RELEASE);
    m->o->n++;
}

const void *once_get(struct once *o, struct str key, const void *(*make)(void *ctx, struct str key),
                     void *ctx)
{
    struct making m = {o, hash_bytes(key), key, make, ctx, NULL};
    size_t place;
    const void *value = once_find(o, m.hash, key, &place);

    if (value != NULL)
        return value;
    pthread_mutex_lock(&o->lock);
    bool is_done = job_try(make_value, &m);
    pthread_mutex_unlock(&o->lock);
    if (!is_done)
        job_out_of_memory();
    return m.value;
}
