/*
 * A stand-in for libnvidia-ml.so.1 and for the few questions strata asks libcuda.so.1, with one
 * card that looks like an H200. Tests name it in STRATA_NVML_PATH and STRATA_CUDA_PATH.
 *
 *     FAKE_NVML_LOG        every call that starts, ends or changes something, one a line
 *     FAKE_NVML_STATE      file that holds the locked clock; shared by all processes
 *     FAKE_NVML_SET        result of locking (4: no permission, 3: not supported)
 *     FAKE_NVML_REASONS    clock event reasons besides those of a lock, hexadecimal
 *     FAKE_NVML_PROCESSES  process ids that use the card, with blanks between
 *     FAKE_NVML_DRIFT      the clock stays at this many MHz, whatever is locked
 *     FAKE_NVML_BUSY       percent of the time the card is busy (100)
 *     FAKE_CUDA_INIT       result of cuInit
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static const char uuid_text[] = "GPU-00112233-4455-6677-8899-aabbccddeeff";
static int card;

static int number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);

    return text != NULL && text[0] != 0 ? (int)strtol(text, NULL, 0) : otherwise;
}

static void note(const char *text)
{
    const char *path = getenv("FAKE_NVML_LOG");
    char line[128];

    if (path == NULL)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    int n = snprintf(line, sizeof(line), "%s\n", text);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

static unsigned locked(void)
{
    const char *path = getenv("FAKE_NVML_STATE");
    unsigned mhz = 0;
    FILE *f = path != NULL ? fopen(path, "r") : NULL;

    if (f == NULL)
        return 0;
    if (fscanf(f, "%u", &mhz) != 1)
        mhz = 0;
    fclose(f);
    return mhz;
}

static void set_locked(unsigned mhz)
{
    const char *path = getenv("FAKE_NVML_STATE");
    FILE *f = path != NULL ? fopen(path, "w") : NULL;

    if (f == NULL)
        return;
    fprintf(f, "%u\n", mhz);
    fclose(f);
}

PUBLIC int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    return number("FAKE_NVML_INIT", 0);
}

PUBLIC int nvmlShutdown(void);
int nvmlShutdown(void)
{
    return 0;
}

PUBLIC const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
    return result == 999 ? "Unknown Error" : "some error";
}

PUBLIC int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    snprintf(text, size, "580.0");
    return 0;
}

PUBLIC int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = 1;
    return 0;
}

PUBLIC int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **out);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **out)
{
    *out = &card;
    return i == 0 ? 0 : 2;
}

PUBLIC int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **out);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **out)
{
    *out = &card;
    return strcmp(bus, "0000:3b:00.0") == 0 ? 0 : 6;
}

PUBLIC int nvmlDeviceGetHandleByUUID(const char *uuid, void **out);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **out)
{
    *out = &card;
    return strcmp(uuid, uuid_text) == 0 ? 0 : 6;
}

PUBLIC int nvmlDeviceGetUUID(void *gpu, char *out, unsigned size);
int nvmlDeviceGetUUID(void *gpu, char *out, unsigned size)
{
    snprintf(out, size, "%s", uuid_text);
    return gpu == &card ? 0 : 2;
}

PUBLIC int nvmlDeviceGetName(void *gpu, char *out, unsigned size);
int nvmlDeviceGetName(void *gpu, char *out, unsigned size)
{
    snprintf(out, size, "NVIDIA H200");
    return gpu == &card ? 0 : 2;
}

PUBLIC int nvmlDeviceGetClockInfo(void *gpu, int type, unsigned *mhz);
int nvmlDeviceGetClockInfo(void *gpu, int type, unsigned *mhz)
{
    int drift = number("FAKE_NVML_DRIFT", 0);

    *mhz = type == 2 ? 3201 : drift > 0 ? (unsigned)drift : locked() > 0 ? locked() : 1980;
    return gpu == &card ? 0 : 2;
}

PUBLIC int nvmlDeviceGetMaxClockInfo(void *gpu, int type, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *gpu, int type, unsigned *mhz)
{
    *mhz = type == 2 ? 3201 : 1980;
    return gpu == &card ? 0 : 2;
}

PUBLIC int nvmlDeviceGetSupportedMemoryClocks(void *gpu, unsigned *n, unsigned *mhz);
int nvmlDeviceGetSupportedMemoryClocks(void *gpu, unsigned *n, unsigned *mhz)
{
    if (*n < 2)
        return 7;
    mhz[0] = 3201;
    mhz[1] = 1600;
    *n = 2;
    return gpu == &card ? 0 : 2;
}

PUBLIC int nvmlDeviceGetSupportedGraphicsClocks(void *gpu, unsigned memory, unsigned *n,
                                                unsigned *mhz);
int nvmlDeviceGetSupportedGraphicsClocks(void *gpu, unsigned memory, unsigned *n, unsigned *mhz)
{
    unsigned count = 0;

    for (unsigned step = 1980; step >= 345 && count < *n; step -= 15)
        mhz[count++] = step;
    *n = count;
    return gpu == &card && memory == 3201 ? 0 : 2;
}

PUBLIC int nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *reasons)
{
    *reasons = (unsigned long long)number("FAKE_NVML_REASONS", 0) | (locked() > 0 ? 2 : 0);
    return gpu == &card ? 0 : 2;
}

struct use {
    unsigned gpu, memory;
};

PUBLIC int nvmlDeviceGetUtilizationRates(void *gpu, struct use *out);
int nvmlDeviceGetUtilizationRates(void *gpu, struct use *out)
{
    *out = (struct use){(unsigned)number("FAKE_NVML_BUSY", 100), 10};
    return gpu == &card ? 0 : 2;
}

PUBLIC int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *celsius)
{
    *celsius = 41;
    return gpu == &card && sensor == 0 ? 0 : 2;
}

PUBLIC int nvmlDeviceGetPowerUsage(void *gpu, unsigned *mw);
int nvmlDeviceGetPowerUsage(void *gpu, unsigned *mw)
{
    *mw = 300000;
    return gpu == &card ? 0 : 2;
}

PUBLIC int nvmlDeviceGetEnforcedPowerLimit(void *gpu, unsigned *mw);
int nvmlDeviceGetEnforcedPowerLimit(void *gpu, unsigned *mw)
{
    *mw = 700000;
    return gpu == &card ? 0 : 2;
}

struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};

PUBLIC int nvmlDeviceGetComputeRunningProcesses_v3(void *gpu, unsigned *n, struct process *out);
int nvmlDeviceGetComputeRunningProcesses_v3(void *gpu, unsigned *n, struct process *out)
{
    const char *text = getenv("FAKE_NVML_PROCESSES");
    unsigned count = 0;
    char *end;

    for (; text != NULL && text[0] != 0; text = end, count++) {
        unsigned long pid = strtoul(text, &end, 10);
        if (end == text)
            break;
        if (count < *n)
            out[count] = (struct process){.pid = (unsigned)pid, .memory = 1 << 30};
    }
    int result = count > *n ? 7 : 0;
    *n = count;
    return gpu == &card ? result : 2;
}

PUBLIC int nvmlDeviceSetGpuLockedClocks(void *gpu, unsigned low, unsigned high);
int nvmlDeviceSetGpuLockedClocks(void *gpu, unsigned low, unsigned high)
{
    int result = number("FAKE_NVML_SET", 0);
    char text[64];

    snprintf(text, sizeof(text), "set %u %u = %d", low, high, result);
    note(text);
    if (result == 0)
        set_locked(high);
    return gpu == &card ? result : 2;
}

PUBLIC int nvmlDeviceResetGpuLockedClocks(void *gpu);
int nvmlDeviceResetGpuLockedClocks(void *gpu)
{
    note("reset = 0");
    set_locked(0);
    return gpu == &card ? 0 : 2;
}

PUBLIC int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    return flags == 0 ? number("FAKE_CUDA_INIT", 0) : 1;
}

PUBLIC int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

PUBLIC int cuDeviceGetCount(int *n);
int cuDeviceGetCount(int *n)
{
    *n = 1;
    return 0;
}

PUBLIC int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? 0 : 101;
}

PUBLIC int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "NVIDIA H200");
    return device == 0 ? 0 : 101;
}

PUBLIC int cuDeviceGetUuid_v2(unsigned char *out, int device);
int cuDeviceGetUuid_v2(unsigned char *out, int device)
{
    for (int i = 0; i < 16; i++)
        out[i] = (unsigned char)(i * 0x11);
    return device == 0 ? 0 : 101;
}

PUBLIC int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = (size_t)150 << 30;
    return device == 0 ? 0 : 101;
}

PUBLIC int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const int values[][2] = {{13, 1980000}, {16, 132},      {32, 1}, {36, 3201000},
                                    {37, 6016},    {38, 62914560}, {75, 9}, {76, 0}};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (values[i][0] == attribute) {
            *value = values[i][1];
            return device == 0 ? 0 : 101;
        }
    return 1;
}
