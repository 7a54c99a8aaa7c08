/*
 * gz_isal - ISA-L's inflate, loaded at run time. See gz_isal.h.
 */
#include "base/files/gz_isal.h"

#include <stddef.h>

#ifdef STRATA_HAS_ISAL

#include <dlfcn.h>
#include <isa-l/igzip_lib.h>

#include "base/arena.h"

/* ISA-L up to 2.32.0 adds to the length of the input in 32 bits. */
enum { INPUT_MAX = 1 << 30 };

struct gz_isal {
    void *library;
    void (*init)(struct inflate_state *state);
    int (*inflate)(struct inflate_state *state);
    struct inflate_state state;
};

struct gz_isal *gz_isal_new(void)
{
    void *library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return NULL;
    struct gz_isal *isal = mem_grow(NULL, sizeof(*isal), 1);
    isal->library = library;
    *(void **)&isal->init = dlsym(library, "isal_inflate_init");
    *(void **)&isal->inflate = dlsym(library, "isal_inflate");
    if (isal->init != NULL && isal->inflate != NULL)
        return isal;
    gz_isal_free(isal);
    return NULL;
}

void gz_isal_free(struct gz_isal *isal)
{
    if (isal != NULL)
        dlclose(isal->library);
    mem_free(isal);
}

void gz_isal_reset(struct gz_isal *isal)
{
    isal->init(&isal->state);
    isal->state.crc_flag = ISAL_GZIP;
}

int gz_isal_inflate(struct gz_isal *isal, z_stream *z)
{
    struct inflate_state *s = &isal->state;
    unsigned in = z->avail_in < INPUT_MAX ? z->avail_in : INPUT_MAX, out = z->avail_out;

    s->next_in = (uint8_t *)(uintptr_t)z->next_in;
    s->avail_in = in;
    s->next_out = z->next_out;
    s->avail_out = out;
    int result = isal->inflate(s);
    z->next_in += in - s->avail_in;
    z->avail_in -= in - s->avail_in;
    z->next_out += out - s->avail_out;
    z->avail_out = s->avail_out;
    if (result < 0)
        return Z_DATA_ERROR;
    return s->block_state == ISAL_BLOCK_FINISH ? Z_STREAM_END : Z_OK;
}

#else

struct gz_isal *gz_isal_new(void)
{
    return NULL;
}

void gz_isal_free(struct gz_isal *isal)
{
    (void)isal;
}

void gz_isal_reset(struct gz_isal *isal)
{
    (void)isal;
}

int gz_isal_inflate(struct gz_isal *isal, z_stream *z)
{
    (void)isal;
    (void)z;
    return Z_DATA_ERROR;
}

#endif
