/*
 * A recorder that throws all records away: what CUPTI alone costs, for trace-cost. BARE_RECORDS is
 * a list of letters: k kernels, copies and fills, a API calls and the rest of the standard set;
 * to try what an option costs: z buffers that are cleared by us, l launch attributes, h times in
 * the host's memory, s one buffer for all threads.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 8 << 20, PAGE = 4096 };

static CUptiResult (*flush_all)(uint32_t);
static int clears;

static void requested(uint8_t **buffer, size_t *bytes, size_t *most)
{
    *bytes = BUFFER_BYTES;
    *most = 0;
    *buffer = aligned_alloc(PAGE, BUFFER_BYTES);
    if (*buffer != NULL && clears)
        memset(*buffer, 0, BUFFER_BYTES);
}

static void completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t n)
{
    (void)context, (void)stream, (void)bytes, (void)n;
    free(buffer);
}

static void at_exit(void)
{
    flush_all(1);
}

int InitializeInjection(void)
{
    static const CUpti_ActivityKind least[] = {
        CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
    static const CUpti_ActivityKind usual[] = {CUPTI_ACTIVITY_KIND_RUNTIME,
                                               CUPTI_ACTIVITY_KIND_DRIVER,
                                               CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                               CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                               CUPTI_ACTIVITY_KIND_OVERHEAD,
                                               CUPTI_ACTIVITY_KIND_MARKER,
                                               CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
    const char *letters = getenv("BARE_RECORDS");
    void *cupti = dlopen("libcupti.so.13", RTLD_NOW);
    CUptiResult (*enable)(CUpti_ActivityKind) = NULL;
    CUptiResult (*callbacks)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
    CUptiResult (*set)(CUpti_ActivityAttribute, size_t *, void *);
    CUptiResult (*attributes)(uint8_t);

    if (cupti == NULL)
        cupti = dlopen("libcupti.so", RTLD_NOW);
    if (letters == NULL || cupti == NULL)
        return 1;
    *(void **)&flush_all = dlsym(cupti, "cuptiActivityFlushAll");
    *(void **)&enable = dlsym(cupti, "cuptiActivityEnable");
    *(void **)&callbacks = dlsym(cupti, "cuptiActivityRegisterCallbacks");
    *(void **)&set = dlsym(cupti, "cuptiActivitySetAttribute");
    *(void **)&attributes = dlsym(cupti, "cuptiActivityEnableLaunchAttributes");
    if (strchr(letters, 'z') != NULL) {
        uint8_t yes = 1;
        size_t bytes = sizeof(yes);
        clears = 1;
        set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &yes);
    }
    if (strchr(letters, 'l') != NULL)
        attributes(1);
    if (strchr(letters, 'h') != NULL) {
        uint8_t yes = 1;
        size_t bytes = sizeof(yes);
        set(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, &bytes, &yes);
    }
    if (strchr(letters, 's') != NULL) {
        uint8_t no = 0;
        size_t bytes = sizeof(no);
        set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes, &no);
    }
    callbacks(requested, completed);
    for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++)
        enable(least[i]);
    for (size_t i = 0; strchr(letters, 'a') != NULL && i < sizeof(usual) / sizeof(usual[0]); i++)
        enable(usual[i]);
    atexit(at_exit);
    return 1;
}
