// Just enough of ACL to check and run generated host programs on any machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
typedef int aclError;
typedef uint16_t aclFloat16;
typedef void *aclrtStream;
enum { ACL_SUCCESS = 0 };
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST };
enum aclrtMemcpyKind { ACL_MEMCPY_HOST_TO_DEVICE };
inline aclError aclInit(const char *)
{
    return getenv("STUB_FAIL") != nullptr ? 500000 : 0;
}
inline aclError aclFinalize()
{
    return 0;
}
inline const char *aclGetRecentErrMsg()
{
    return nullptr;
}
inline aclError aclrtSetDevice(int)
{
    return 0;
}
inline aclError aclrtResetDevice(int)
{
    return 0;
}
inline aclError aclrtCreateStream(aclrtStream *s)
{
    return *s = malloc(1), 0;
}
inline aclError aclrtDestroyStream(aclrtStream s)
{
    return free(s), 0;
}
inline aclError aclrtSynchronizeStream(aclrtStream)
{
    return 0;
}
inline aclError aclrtMalloc(void **p, size_t n, aclrtMemMallocPolicy)
{
    return *p = malloc(n), *p == nullptr;
}
inline aclError aclrtMallocHost(void **p, size_t n)
{
    return *p = malloc(n), *p == nullptr;
}
inline aclError aclrtFree(void *p)
{
    return free(p), 0;
}
inline aclError aclrtFreeHost(void *p)
{
    return free(p), 0;
}
inline aclError aclrtMemset(void *p, size_t, int v, size_t n)
{
    return memset(p, v, n), 0;
}
inline aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t n, aclrtMemcpyKind)
{
    return n > room ? 1 : (memcpy(to, from, n), 0);
}
