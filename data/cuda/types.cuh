// Element types and small helpers of all kernels. Compiled at run time without any headers, with TI,
// TB and TO as the types of the first operand, the second and the result.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef long long i64;
struct bf16 { u16 x; };
struct f16 { u16 x; };
struct f8 { u8 x; };
struct truth { u8 x; };

__device__ __forceinline__ float to_f(float v) { return v; }
__device__ __forceinline__ float to_f(double v) { return (float)v; }
__device__ __forceinline__ float to_f(i8 v) { return v; }
__device__ __forceinline__ float to_f(u8 v) { return v; }
__device__ __forceinline__ float to_f(i16 v) { return v; }
__device__ __forceinline__ float to_f(int v) { return (float)v; }
__device__ __forceinline__ float to_f(i64 v) { return (float)v; }
__device__ __forceinline__ float to_f(truth v) { return v.x ? 1.f : 0.f; }
__device__ __forceinline__ float to_f(bf16 v) { return __uint_as_float((u32)v.x << 16); }
__device__ __forceinline__ float to_f(f16 v) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v.x)); return f; }
__device__ __forceinline__ float to_f(f8 v)
{
    u32 pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((u16)v.x));
    return to_f(f16{(u16)pair});
}

template <class E> __device__ __forceinline__ i64 to_i(E v) { return (i64)to_f(v); }
__device__ __forceinline__ i64 to_i(int v) { return v; }
__device__ __forceinline__ i64 to_i(i64 v) { return v; }

__device__ __forceinline__ float clamp_round(float v, float least, float most)
{
    float r = rintf(v);
    return r < least ? least : r > most ? most : r;
}
__device__ __forceinline__ void put(float &o, float v) { o = v; }
__device__ __forceinline__ void put(double &o, float v) { o = v; }
__device__ __forceinline__ void put(i8 &o, float v) { o = (i8)clamp_round(v, -128, 127); }
__device__ __forceinline__ void put(u8 &o, float v) { o = (u8)clamp_round(v, 0, 255); }
__device__ __forceinline__ void put(i16 &o, float v) { o = (i16)clamp_round(v, -32768, 32767); }
__device__ __forceinline__ void put(int &o, float v) { o = (int)clamp_round(v, -2147483648.f, 2147483520.f); }
__device__ __forceinline__ void put(i64 &o, float v) { o = (i64)rintf(v); }
__device__ __forceinline__ void put(truth &o, float v) { o.x = v != 0; }
__device__ __forceinline__ void put(bf16 &o, float v) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(o.x) : "f"(v)); }
__device__ __forceinline__ void put(f16 &o, float v) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(o.x) : "f"(v)); }
__device__ __forceinline__ void put(f8 &o, float v)
{
    u16 pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.f), "f"(v));
    o.x = (u8)pair;
}

#ifndef TI
#define TI bf16
#endif
#ifndef TB
#define TB TI
#endif
#ifndef TO
#define TO TI
#endif

// Sixteen bytes of elements.
template <class E> struct vec {
    enum { N = 16 / sizeof(E) };
    union { uint4 all; E at[N]; };
    __device__ __forceinline__ vec() {}
};
template <class E> __device__ __forceinline__ vec<E> load(const E *p)
{
    vec<E> v;
    v.all = *(const uint4 *)p;
    return v;
}

#define FULL 0xffffffffu
__device__ __forceinline__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(FULL, v, d);
    return v;
}
__device__ __forceinline__ float warp_max(float v)
{
    for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(FULL, v, d));
    return v;
}
// Over all threads of a block; every thread gets it.
template <bool IS_MAX> __device__ __forceinline__ float block_reduce(float v)
{
    __shared__ float part[32];
    v = IS_MAX ? warp_max(v) : warp_sum(v);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    int n = (blockDim.x + 31) >> 5;
    v = (int)(threadIdx.x & 31) < n ? part[threadIdx.x & 31] : (IS_MAX ? -__int_as_float(0x7f800000) : 0.f);
    return IS_MAX ? warp_max(v) : warp_sum(v);
}
__device__ __forceinline__ float sigmoid(float v) { return 1.f / (1.f + __expf(-v)); }
__device__ __forceinline__ float exp2_fast(float v) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); return r; }
