/* bf16 by hand and the tensor-core instructions, so that no header of the toolkit is needed. */
typedef unsigned short bf16;

__device__ __forceinline__ float to_float(bf16 x)
{
    return __uint_as_float((unsigned)x << 16);
}

__device__ __forceinline__ bf16 to_bf16(float x)
{
    unsigned u = __float_as_uint(x);
    return (bf16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* Two floats as one register of bf16: `low` in the lower half. */
__device__ __forceinline__ unsigned pack_bf16(float low, float high)
{
    unsigned packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

__device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void copy_async(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

__device__ __forceinline__ void copies_commit(void)
{
    asm volatile("cp.async.commit_group;");
}

template <int left> __device__ __forceinline__ void copies_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(left));
}

__device__ __forceinline__ void load_matrix(unsigned r[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}

__device__ __forceinline__ void load_matrix_turned(unsigned r[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}

/* d += a (16 x 16) * b (16 x 8). */
__device__ __forceinline__ void multiply(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
