// Attention of any type and size: a block for each query and head, keys by 128.
typedef TI elem;
enum { CHUNK = 128, OWN = 8 }; // keys at a time; values of a thread

typedef attention_of<elem> attention;

extern "C" __global__ void __launch_bounds__(128) attend_plain(attention a, i64 dq, i64 dr, i64 dv, const int *q_first, i64 seqs)
{
    extern __shared__ float query[];
    __shared__ float score[CHUNK];
    i64 token = blockIdx.x / a.heads, head = blockIdx.x % a.heads, kv_head = head / a.group;
    int seq = 0, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    while (seq + 1 < seqs && q_first[seq + 1] <= token) seq++;
    i64 pos = token - q_first[seq], kv_len = a.kv_len[seq], seen = a.is_causal ? kv_len - a.q_len[seq] + pos + 1 : kv_len;
    seen = seen < 0 ? 0 : seen > kv_len ? kv_len : seen;
    i64 n = a.list ? a.top_k : seen;
    for (i64 i = threadIdx.x; i < dq; i += blockDim.x) query[i] = to_f(a.q[(i64)a.q_row[seq] * a.vq.unit + pos * a.vq.pos + head * a.vq.head + i]);
    for (i64 i = threadIdx.x; i < dr; i += blockDim.x) query[dq + i] = to_f(a.qr[(i64)a.q_row[seq] * a.vqr.unit + pos * a.vqr.pos + head * a.vqr.head + i]);
    __syncthreads();
    float o[OWN] = {0, 0, 0, 0, 0, 0, 0, 0}, most = -1e30f, sum = 0;
    for (i64 first = 0; first < n; first += CHUNK) {
        i64 left = n - first < CHUNK ? n - first : CHUNK;
        for (i64 j = warp; j < left; j += 4) {
            i64 p = a.list ? a.list[token * a.top_k + first + j] : first + j;
            float dot = 0;
            bool is_seen = p >= 0 && p < seen;
            if (is_seen) {
                const elem *k = a.k + key_at(a, a.vk, seq, kv_head, p);
                for (i64 i = lane; i < dq; i += 32) dot += query[i] * to_f(k[i]);
                if (dr > 0) {
                    const elem *r = a.kr + key_at(a, a.vkr, seq, kv_head, p);
                    for (i64 i = lane; i < dr; i += 32) dot += query[dq + i] * to_f(r[i]);
                }
            }
            dot = warp_sum(dot);
            if (lane == 0) score[j] = is_seen ? dot * a.scale : -1e30f;
        }
        __syncthreads();
        float m = block_reduce<true>((i64)threadIdx.x < left ? score[threadIdx.x] : -1e30f);
        m = fmaxf(m, most);
        float shrink = expf(most - m), own = 0;
        if ((i64)threadIdx.x < left) {
            own = score[threadIdx.x] <= -1e30f ? 0.f : expf(score[threadIdx.x] - m);
            score[threadIdx.x] = own;
        }
        sum = sum * shrink + block_reduce<false>(own);
        most = m;
        __syncthreads();
        for (int e = 0; e < OWN; e++) o[e] *= shrink;
        for (i64 j = 0; j < left; j++) {
            float p = score[j];
            if (p == 0) continue;
            i64 at = a.list ? a.list[token * a.top_k + first + j] : first + j;
            const elem *v = a.v + key_at(a, a.vv, seq, kv_head, at);
            for (int e = 0; e < OWN && threadIdx.x + e * 128 < dv; e++) o[e] += p * to_f(v[threadIdx.x + e * 128]);
        }
        __syncthreads();
    }
    float lse = most + logf(sum), keep = sum > 0 ? 1.f / sum : 0.f, old = 0;
    i64 at = (i64)a.q_row[seq] * a.vo.unit + pos * a.vo.pos + head * a.vo.head;
    i64 lse_at = (i64)a.q_row[seq] * a.vl.unit + pos * a.vl.pos + head * a.vl.head;
    if (a.is_merging) {
        float before = a.before_lse[lse_at], top = fmaxf(before, lse), all = top + logf(expf(before - top) + expf(lse - top));
        old = expf(before - all);
        keep *= expf(lse - all);
        lse = all;
    }
    for (int e = 0; e < OWN; e++) {
        i64 d = threadIdx.x + e * 128;
        if (d < dv) put(a.out[at + d], o[e] * keep + (a.is_merging ? old * to_f(a.before[at + d]) : 0.f));
    }
    if (a.lse && threadIdx.x == 0) a.lse[lse_at] = lse;
}
