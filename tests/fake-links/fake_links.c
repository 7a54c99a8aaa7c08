/*
 * A stand-in for the CUDA driver with NCCL, and for CANN's runtime with HCCL: memory of the host, a
 * time of 250 us between events. Every call of a collective is appended to the file that
 * FAKE_LINKS_LOG names, with the rank; what is out of order is written down as WRONG and fails.
 */
/* What the libraries declare in headers that are not here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 4, MAGIC = 0x1117 };

struct comm {
    int magic, rank, size;
};

static struct comm joined;
static bool is_started, has_device, is_grouped;
static int streams; /* its address is the handle */

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
    const char *path = getenv("FAKE_LINKS_LOG");
    FILE *f = path != NULL ? fopen(path, "ae") : NULL;
    char line[256];
    va_list args;

    if (f == NULL)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fprintf(f, "%d/%d %s\n", joined.rank, joined.size, line); /* one write: ranks share the file */
    fclose(f);
}

static int wrong(const char *what)
{
    note("WRONG: %s", what);
    return 5;
}

static int called(const char *name, size_t n, int type, const void *comm, const void *stream)
{
    if (comm != &joined || joined.magic != MAGIC || stream != &streams)
        return wrong(name);
    note("%s %zu %d", name, n, type);
    return 0;
}

static int join(void **comm, int size, const char *id, int rank)
{
    if (strcmp(id, "the one of rank 0") != 0 || !has_device || rank >= size)
        return wrong("join");
    joined = (struct comm){MAGIC, rank, size};
    *comm = &joined;
    note("join");
    return 0;
}

static int leave(void *comm)
{
    if (comm != &joined || joined.magic != MAGIC)
        return wrong("leave");
    note("leave");
    joined.magic = 0;
    return 0;
}

static int elapsed(float *ms)
{
    *ms = 0.25f;
    return 0;
}

/* ---- the CUDA driver ---- */

int cuInit(unsigned flags)
{
    is_started = flags == 0;
    return 0;
}

int cuDeviceGetCount(int *n)
{
    *n = DEVICES;
    return is_started ? 0 : wrong("count before cuInit");
}

int cuDeviceGet(int *device, int which)
{
    *device = which;
    return which < DEVICES ? 0 : wrong("device");
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &is_started;
    return device < DEVICES ? 0 : wrong("context");
}

int cuCtxSetCurrent(void *context)
{
    has_device = context == &is_started;
    return 0;
}

int cuMemGetInfo_v2(size_t *left, size_t *all)
{
    *left = *all = (size_t)1 << 26;
    return 0;
}

int cuMemAlloc_v2(uint64_t *at, size_t n)
{
    *at = (uint64_t)malloc(n);
    return has_device && *at != 0 ? 0 : 2;
}

int cuMemFree_v2(uint64_t at)
{
    free((void *)at);
    return 0;
}

int cuMemsetD8_v2(uint64_t at, unsigned char value, size_t n)
{
    memset((void *)at, value, n);
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    *stream = &streams;
    return has_device ? 0 : wrong("stream");
}

int cuStreamSynchronize(void *stream)
{
    return stream == &streams ? 0 : wrong("sync");
}

int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = &streams;
    return 0;
}

int cuEventRecord(void *event, void *stream)
{
    return event == &streams && stream == &streams ? 0 : wrong("event");
}

int cuEventElapsedTime(float *ms, void *begin, void *end)
{
    (void)begin;
    (void)end;
    return elapsed(ms);
}

/* ---- NCCL ---- */

struct nccl_id {
    char bytes[128];
};

int ncclGetUniqueId(struct nccl_id *id)
{
    memset(id, 0, sizeof(*id));
    strcpy(id->bytes, "the one of rank 0");
    return 0;
}

int ncclCommInitRank(void **comm, int size, struct nccl_id id, int rank)
{
    return join(comm, size, id.bytes, rank);
}

int ncclCommDestroy(void *comm)
{
    return leave(comm);
}

int ncclAllReduce(const void *from, void *into, size_t n, int type, int op, void *comm,
                  void *stream)
{
    return from != into && op == 0 ? called("AllReduce", n, type, comm, stream) : wrong("operands");
}

int ncclAllGather(const void *from, void *into, size_t n, int type, void *comm, void *stream)
{
    return from != into ? called("AllGather", n, type, comm, stream) : wrong("operands");
}

int ncclReduceScatter(const void *from, void *into, size_t n, int type, int op, void *comm,
                      void *stream)
{
    return from != into && op == 0 ? called("ReduceScatter", n, type, comm, stream)
                                   : wrong("operands");
}

int ncclBroadcast(const void *from, void *into, size_t n, int type, int root, void *comm,
                  void *stream)
{
    return from == into && root == 0 ? called("Broadcast", n, type, comm, stream)
                                     : wrong("operands");
}

int ncclGroupStart(void)
{
    is_grouped = true;
    note("GroupStart");
    return 0;
}

int ncclGroupEnd(void)
{
    bool was = is_grouped;

    is_grouped = false;
    note("GroupEnd");
    return was ? 0 : wrong("GroupEnd");
}

int ncclSend(const void *from, size_t n, int type, int to, void *comm, void *stream)
{
    return from != NULL && to < joined.size ? called("Send", n, type, comm, stream) : wrong("Send");
}

int ncclRecv(void *into, size_t n, int type, int from, void *comm, void *stream)
{
    return into != NULL && from < joined.size ? called("Recv", n, type, comm, stream)
                                              : wrong("Recv");
}

/* ---- CANN's runtime ---- */

int aclInit(const char *path)
{
    is_started = path == NULL;
    return 0;
}

int aclrtGetDeviceCount(uint32_t *n)
{
    *n = DEVICES;
    return 0;
}

int aclrtSetDevice(int32_t device)
{
    has_device = is_started && device < DEVICES;
    return has_device ? 0 : wrong("device");
}

int aclrtGetMemInfo(int kind, size_t *left, size_t *all)
{
    *left = *all = (size_t)1 << 26;
    return kind == 1 ? 0 : wrong("memory of another kind");
}

int aclrtMalloc(void **at, size_t n, int policy)
{
    (void)policy;
    *at = malloc(n);
    return has_device && *at != NULL ? 0 : 2;
}

int aclrtFree(void *at)
{
    free(at);
    return 0;
}

int aclrtMemset(void *at, size_t room, int32_t value, size_t n)
{
    memset(at, value, n);
    return n <= room ? 0 : wrong("memset");
}

int aclrtCreateStream(void **stream)
{
    return cuStreamCreate(stream, 0);
}

int aclrtSynchronizeStream(void *stream)
{
    return cuStreamSynchronize(stream);
}

int aclrtCreateEvent(void **event)
{
    return cuEventCreate(event, 0);
}

int aclrtRecordEvent(void *event, void *stream)
{
    return cuEventRecord(event, stream);
}

int aclrtEventElapsedTime(float *ms, void *begin, void *end)
{
    (void)begin;
    (void)end;
    return elapsed(ms);
}

/* ---- HCCL ---- */

int HcclGetRootInfo(void *id)
{
    memset(id, 0, 4108);
    memcpy(id, "the one of rank 0", sizeof("the one of rank 0"));
    return 0;
}

int HcclCommInitRootInfo(uint32_t size, const void *id, uint32_t rank, void **comm)
{
    return join(comm, (int)size, id, (int)rank);
}

int HcclCommDestroy(void *comm)
{
    return leave(comm);
}

int HcclAllReduce(void *from, void *into, uint64_t n, int type, int op, void *comm, void *stream)
{
    return ncclAllReduce(from, into, n, type, op, comm, stream);
}

int HcclAllGather(void *from, void *into, uint64_t n, int type, void *comm, void *stream)
{
    return ncclAllGather(from, into, n, type, comm, stream);
}

int HcclReduceScatter(void *from, void *into, uint64_t n, int type, int op, void *comm,
                      void *stream)
{
    return ncclReduceScatter(from, into, n, type, op, comm, stream);
}

int HcclAlltoAllV(const void *from, const void *counts, const void *places, int type,
                  const void *into, const void *into_counts, const void *into_places, int into_type,
                  void *comm, void *stream)
{
    const uint64_t *n = counts, *at = places;

    for (int i = 0; i < joined.size; i++)
        if (n[i] != n[0] || at[i] != (uint64_t)i * n[0])
            return wrong("counts of all to all");
    if (from == into || into_counts != counts || into_places != places || into_type != type)
        return wrong("all to all");
    return called("AlltoAllV", n[0], type, comm, stream);
}

int HcclBroadcast(void *at, uint64_t n, int type, uint32_t root, void *comm, void *stream)
{
    return ncclBroadcast(at, at, n, type, (int)root, comm, stream);
}

int HcclSend(void *from, uint64_t n, int type, uint32_t to, void *comm, void *stream)
{
    return ncclSend(from, n, type, (int)to, comm, stream);
}

int HcclRecv(void *into, uint64_t n, int type, uint32_t from, void *comm, void *stream)
{
    return ncclRecv(into, n, type, (int)from, comm, stream);
}
