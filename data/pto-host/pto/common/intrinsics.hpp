// Flags, barriers and the other functions that kernels call without a namespace.
#ifndef STRATA_PTO_INTRINSICS_HPP
#define STRATA_PTO_INTRINSICS_HPP

#include <pto/common/constants.hpp>
#include <pto/common/host.hpp>

template <class Id>
inline void set_flag(pipe_t from, pipe_t to, Id id, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->flag(strata_pto::host->core, 0, from, to, static_cast<int64_t>(id), at);
}
template <class Id>
inline void wait_flag(pipe_t from, pipe_t to, Id id, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->flag(strata_pto::host->core, 1, from, to, static_cast<int64_t>(id), at);
}
inline void pipe_barrier(pipe_t pipe, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->barrier(strata_pto::host->core, pipe, at);
}

// Caches and masks: data is in one memory, only the time is not the same.
template <class P, class... A> inline void dcci(P at, A... kind)
{
    const int64_t kinds[] = {static_cast<int64_t>(kind)..., ENTIRE_DATA_CACHE};
    const bool is_one = kinds[0] == SINGLE_CACHE_LINE && (const void *)at != nullptr;

    strata_pto::host->access(strata_pto::host->core, (const void *)at, is_one ? -1 : 0, 0);
}
template <class A> inline void dsb(A) {}
inline void set_mask_norm() {}
inline void set_mask_count() {}
inline void set_atomic_none() {} // nothing else sets it: TSTORE<AtomicType> says it for itself
template <class A, class B> inline void set_vector_mask(A, B) {}
template <class A> inline void set_ffts_base_addr(A) {}
template <class A> inline void set_padding(A) {}
inline uint64_t get_ctrl()
{
    return 0;
}
template <class A> inline void set_ctrl(A) {}
template <class... A> inline void set_st_atomic_cfg(A...) {}

inline int64_t get_block_idx()
{
    return strata_pto::host->block;
}
inline int64_t get_block_num()
{
    const int64_t given = strata_pto::host->blocks;
    return given > 0 ? given : strata_pto::launched > 0 ? strata_pto::launched : 1;
}
// The same as values.
inline const struct strata_block_idx {
    operator int64_t() const { return get_block_idx(); }
} block_idx;
inline const struct strata_block_num {
    operator int64_t() const { return get_block_num(); }
} block_num;
inline int64_t get_coreid()
{
    return get_block_idx();
}
#ifndef get_subblockid
inline int64_t get_subblockid()
{
    return strata_pto::host->sub_block;
}
#endif
inline int64_t get_subblockdim()
{
    return 2;
}
inline uint64_t get_sys_cnt()
{
    return strata_pto::host->clock(strata_pto::host->core);
}

template <class E> inline E ld_dev(E *p, int64_t offset = 0)
{
    return *(E *)((char *)p + offset);
}
template <class E, class N> inline void st_dev(N value, E *p, int64_t offset = 0)
{
    *(E *)((char *)p + offset) = static_cast<E>(value);
}
template <class E, class N> inline void st_atomic(N value, E *p)
{
    *p += static_cast<E>(value);
}

// One bit of a word; code that is fetched early.
inline uint64_t sbitset0(uint64_t word, int64_t bit)
{
    return word & ~(uint64_t(1) << (bit & 63));
}
inline uint64_t sbitset1(uint64_t word, int64_t bit)
{
    return word | uint64_t(1) << (bit & 63);
}
template <class... A> inline void preload(const A &...) {}

// Between cores.
template <class M>
inline void ffts_cross_core_sync(pipe_t pipe, M message, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->cross(strata_pto::host->core, "sync.set", pipe,
                            static_cast<int64_t>(message) >> 8 & 15, at);
}
template <class Id> inline void wait_flag_dev(Id id, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->cross(strata_pto::host->core, "sync.wait", PIPE_S, static_cast<int64_t>(id),
                            at);
}
template <class Id>
inline void set_intra_block(pipe_t pipe, Id id, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->cross(strata_pto::host->core, "set_intra_block", pipe,
                            static_cast<int64_t>(id), at);
}
template <class Id>
inline void wait_intra_block(pipe_t pipe, Id id, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->cross(strata_pto::host->core, "wait_intra_block", pipe,
                            static_cast<int64_t>(id), at);
}
template <class Id, class M>
inline void get_buf(pipe_t pipe, Id id, M, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->cross(strata_pto::host->core, "get_buf", pipe, static_cast<int64_t>(id), at);
}
template <class Id, class M>
inline void rls_buf(pipe_t pipe, Id id, M, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->cross(strata_pto::host->core, "rls_buf", pipe, static_cast<int64_t>(id), at);
}
inline void trap(strata_pto::place at = strata_pto::place())
{
    strata_pto::host->stop(strata_pto::host->core, "the kernel called trap()", at);
}

#endif
