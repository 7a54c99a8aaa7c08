// Operators that work row by row: a block for each.
enum { KEEP = 4 }; // vectors of a row that a thread keeps

// y = x * inverse root mean square * gamma (+ beta), of a sum when there is a second operand.
extern "C" __global__ void rms_norm(const TI *x, const TI *x2, const TB *gamma, const TB *beta, TO *y, float *rstd, TI *sum, i64 n, float eps)
{
    enum { N = vec<TI>::N };
    i64 row = blockIdx.x;
    const TI *a = x + row * n, *b = x2 ? x2 + row * n : 0;
    bool is_wide = n % N == 0 && n <= (i64)blockDim.x * N * KEEP && sizeof(TO) == sizeof(TI) && sizeof(TB) == sizeof(TI);
    vec<TI> keep[KEEP], other[KEEP];
    vec<TB> g[KEEP];
    float squares = 0;
    if (is_wide) {
        // All loads first: they are on their way together.
#pragma unroll
        for (int k = 0; k < KEEP; k++) {
            i64 i = ((i64)k * blockDim.x + threadIdx.x) * N;
            keep[k].all = other[k].all = g[k].all = make_uint4(0, 0, 0, 0);
            if (i < n) keep[k] = load(a + i);
            if (b && i < n) other[k] = load(b + i);
        }
#pragma unroll
        for (int k = 0; k < KEEP; k++) {
            i64 i = ((i64)k * blockDim.x + threadIdx.x) * N;
            if (i < n) g[k] = load(gamma + i);
        }
#pragma unroll
        for (int k = 0; k < KEEP; k++) {
            i64 i = ((i64)k * blockDim.x + threadIdx.x) * N;
#pragma unroll
            for (int e = 0; e < N; e++) {
                float v = to_f(keep[k].at[e]) + (b ? to_f(other[k].at[e]) : 0.f);
                squares += v * v; // of the sum as it is, not as it is stored
                put(keep[k].at[e], v);
            }
            if (b && i < n) *(uint4 *)(sum + row * n + i) = keep[k].all;
        }
    } else {
        for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
            float v = to_f(a[i]) + (b ? to_f(b[i]) : 0.f);
            if (b) put(sum[row * n + i], v);
            squares += v * v;
        }
    }
    float r = rsqrtf(block_reduce<false>(squares) / (float)n + eps);
    if (threadIdx.x == 0) rstd[row] = r;
    if (is_wide) {
#pragma unroll
        for (int k = 0; k < KEEP; k++) {
            i64 i = ((i64)k * blockDim.x + threadIdx.x) * N;
            if (i >= n) break;
            vec<TB> add;
            if (beta) add = load(beta + i);
            vec<TO> out;
#pragma unroll
            for (int e = 0; e < N; e++)
                put(out.at[e], to_f(keep[k].at[e]) * r * to_f(g[k].at[e]) + (beta ? to_f(add.at[e]) : 0.f));
            *(uint4 *)(y + row * n + i) = out.all;
        }
        return;
    }
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        float v = to_f(a[i]) + (b ? to_f(b[i]) : 0.f);
        put(y[row * n + i], v * r * to_f(gamma[i]) + (beta ? to_f(beta[i]) : 0.f));
    }
}

extern "C" __global__ void swiglu(const TI *x, TO *o, i64 rows, i64 n)
{
    enum { N = vec<TI>::N };
    i64 at = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * N;
    if (n % N == 0 && sizeof(TI) == sizeof(TO)) {
        if (at >= rows * n) return;
        i64 row = at / n, i = at % n;
        vec<TI> a = load(x + row * 2 * n + i), b = load(x + row * 2 * n + n + i);
        vec<TO> out;
#pragma unroll
        for (int e = 0; e < N; e++) {
            float v = to_f(a.at[e]);
            put(out.at[e], v * sigmoid(v) * to_f(b.at[e]));
        }
        *(uint4 *)(o + at) = out.all;
        return;
    }
    for (int e = 0; e < N && at + e < rows * n; e++) {
        i64 row = (at + e) / n, i = (at + e) % n;
        float v = to_f(x[row * 2 * n + i]);
        put(o[at + e], v * sigmoid(v) * to_f(x[row * 2 * n + n + i]));
    }
}

extern "C" __global__ void softmax(const TI *x, TO *o, i64 n)
{
    const TI *a = x + blockIdx.x * n;
    float most = -__int_as_float(0x7f800000), sum = 0;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, to_f(a[i]));
    most = block_reduce<true>(most);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) sum += __expf(to_f(a[i]) - most);
    sum = block_reduce<false>(sum);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) put(o[blockIdx.x * n + i], __expf(to_f(a[i]) - most) / sum);
}

extern "C" __global__ void quant(const TI *x, const TB *scale, const TB *offset, TO *o, i64 total, i64 n, i64 scales)
{
    enum { N = vec<TI>::N };
    i64 at = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * N;
    for (int e = 0; e < N && at + e < total; e++) {
        i64 i = scales == 1 ? 0 : (at + e) % n;
        put(o[at + e], to_f(x[at + e]) * to_f(scale[i]) + (offset ? to_f(offset[i]) : 0.f));
    }
}

extern "C" __global__ void dynamic_quant(const TI *x, i8 *o, float *scale, i64 n)
{
    enum { N = vec<TI>::N };
    const TI *a = x + blockIdx.x * n;
    float most = 0;
    bool is_wide = n % N == 0;
    if (is_wide)
        for (i64 i = threadIdx.x * N; i < n; i += blockDim.x * N) {
            vec<TI> v = load(a + i);
#pragma unroll
            for (int e = 0; e < N; e++) most = fmaxf(most, fabsf(to_f(v.at[e])));
        }
    else
        for (i64 i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, fabsf(to_f(a[i])));
    float s = block_reduce<true>(most) / 127.f, inverse = s > 0 ? 1.f / s : 0.f;
    if (threadIdx.x == 0) scale[blockIdx.x] = s;
    if (is_wide)
        for (i64 i = threadIdx.x * N; i < n; i += blockDim.x * N) {
            vec<TI> v = load(a + i);
            i8 out[N];
#pragma unroll
            for (int e = 0; e < N; e++) put(out[e], to_f(v.at[e]) * inverse);
#pragma unroll
            for (int e = 0; e < N; e += 4) *(u32 *)(o + blockIdx.x * n + i + e) = *(u32 *)(out + e);
        }
    else
        for (i64 i = threadIdx.x; i < n; i += blockDim.x) put(o[blockIdx.x * n + i], to_f(a[i]) * inverse);
}

// Even and odd places taken apart, then rotated.
__device__ __forceinline__ float interleaved(const TI *x, const TI *cosine, const TI *sine, i64 i, i64 n)
{
    i64 half = n / 2;
    float own = i < half ? to_f(x[2 * i]) : to_f(x[2 * (i - half) + 1]);
    float other = i < half ? -to_f(x[2 * i + 1]) : to_f(x[2 * (i - half)]);
    return own * to_f(cosine[i]) + other * to_f(sine[i]);
}

extern "C" __global__ void rope(const TI *x, const TI *cosine, const TI *sine, TO *o, i64 total, i64 heads, i64 length, i64 angles, i64 n)
{
    for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < total; at += (i64)gridDim.x * blockDim.x) {
        i64 row = at / n, s = row % length, b = row / length / heads;
        i64 angle = (b * angles + (angles > 1 ? s : 0)) * n;
        put(o[at], interleaved(x + row * n, cosine + angle, sine + angle, at % n, n));
    }
}

extern "C" __global__ void kv_cache(const TI *kv, const TI *gamma, const TI *cosine, const TI *sine, const i64 *index, TO *k_cache, TO *c_cache, TO *k, TO *c, i64 n, i64 rotary, float eps)
{
    i64 row = blockIdx.x, place = index[row];
    const TI *a = kv + row * (n + rotary);
    float squares = 0;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) squares += to_f(a[i]) * to_f(a[i]);
    float r = rsqrtf(block_reduce<false>(squares) / (float)n + eps);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        TO v;
        put(v, to_f(a[i]) * r * to_f(gamma[i]));
        c_cache[place * n + i] = c[row * n + i] = v;
    }
    for (i64 i = threadIdx.x; i < rotary; i += blockDim.x) {
        TO v;
        put(v, interleaved(a + n, cosine + row * rotary, sine + row * rotary, i, rotary));
        k_cache[place * rotary + i] = k[row * rotary + i] = v;
    }
}

template <class A, class B> struct same_type { enum { IS = 0 }; };
template <class A> struct same_type<A, A> { enum { IS = 1 }; };

// Heads of 128 that are rotated whole, in 16 bits: 16 threads have one head, each eight of its elements.
__device__ __forceinline__ void rotate_head(const TI *from, const TI *w, const TI *turn, TO *to, int part, bool is_there, float eps)
{
    enum { EACH = sizeof(TI) == 2 ? 8 : 1 };
    vec<TI> x = load(from + part * 8), weight = load(w + part * 8), cosine = load(turn + (part & 7) * 8), sine = load(turn + 64 + (part & 7) * 8);
    float own[EACH], squares = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        own[e] = to_f(x.at[e]);
        squares += own[e] * own[e];
    }
#pragma unroll
    for (int d = 8; d > 0; d >>= 1) squares += __shfl_xor_sync(FULL, squares, d);
    float r = rsqrtf(squares / 128.f + eps);
    vec<TO> out;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        own[e] *= r * to_f(weight.at[e]);
        float other = __shfl_xor_sync(FULL, own[e], 8) * to_f(sine.at[e]);
        put(out.at[e], own[e] * to_f(cosine.at[e]) + (part < 8 ? -other : other));
    }
    if (is_there) *(uint4 *)(to + part * 8) = out.all;
}

// A warp for each head of a token, or for two, and the values copied.
extern "C" __global__ void split_qkv(const TI *x, const TI *cache, const i64 *positions, const TI *wq, const TI *wk, TO *q, TO *k, TO *v, i64 nq, i64 nk, i64 head, i64 rotary, float eps)
{
    i64 row = blockIdx.x, width = nq + 2 * nk, half = rotary / 2;
    const TI *a = x + row * width, *turn = cache + positions[row] * rotary;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    i64 heads = (nq + nk) / head;
    if (sizeof(TI) == 2 && same_type<TI, TO>::IS && head == 128 && rotary == 128) {
        for (i64 first = warp * 2; first < heads; first += warps * 2) {
            i64 own = first + (lane >> 4), h = own < heads ? own : heads - 1;
            bool is_q = h * head < nq;
            rotate_head(a + h * head, is_q ? wq : wk, turn, is_q ? q + row * nq + h * head : k + row * nk + h * head - nq, lane & 15, own < heads, eps);
        }
        const uint4 *from = (const uint4 *)(a + nq + nk);
        uint4 *to = (uint4 *)(v + row * nk);
        for (i64 i = threadIdx.x; i < nk / 8; i += blockDim.x) to[i] = from[i];
        return;
    }
    for (i64 h = warp; h < heads; h += warps) {
        const TI *from = a + h * head;
        bool is_q = h * head < nq;
        const TI *w = is_q ? wq : wk;
        TO *to = is_q ? q + row * nq + h * head : k + row * nk + h * head - nq;
        float squares = 0;
        for (i64 i = lane; i < head; i += 32) squares += to_f(from[i]) * to_f(from[i]);
        float r = rsqrtf(warp_sum(squares) / (float)head + eps);
        for (i64 i = lane; i < head; i += 32) {
            float own = to_f(from[i]) * r * to_f(w[i]);
            if (i < rotary) {
                i64 j = i < half ? i + half : i - half, t = i < half ? i : j;
                float other = to_f(from[j]) * r * to_f(w[j]);
                float cosine = to_f(turn[t]), sine = to_f(turn[half + t]);
                own = i < half ? own * cosine - other * sine : own * cosine + other * sine;
            }
            put(to[i], own);
        }
    }
    for (i64 i = threadIdx.x; i < nk; i += blockDim.x) put(v[row * nk + i], to_f(a[nq + nk + i]));
}
