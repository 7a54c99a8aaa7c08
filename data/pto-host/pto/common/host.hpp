// The way from an instruction to the host: one call with operands as plain structs.
#ifndef STRATA_PTO_HOST_HPP
#define STRATA_PTO_HOST_HPP

#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

#include <pto/common/element.hpp>
#include <strata/pto_host.h>

namespace strata_pto
{

inline const strata_pto_host *host = nullptr;

// Where the kernel calls: the default argument of every instruction.
struct place : strata_pto_place {
    place(const char *in = __builtin_FILE(), int at = __builtin_LINE())
    {
        file = in;
        line = at;
    }
};

// Is it a pointer into on-chip memory?
__attribute__((no_sanitize("thread"))) inline bool is_on_chip(uintptr_t at)
{
    return host && host->chip && (at - host->chip) >> STRATA_PTO_CHIP_BITS == 0;
}

// Where a tile is: an address on the chip, or a pointer to it.
template <class A> inline int64_t chip_address(A at)
{
    return is_on_chip(static_cast<uintptr_t>(at))
               ? static_cast<int64_t>(static_cast<uint32_t>(at))
               : static_cast<int64_t>(at);
}

__attribute__((no_sanitize("thread"))) inline void touch(const void *at, int64_t n, int is_store)
{
    const uintptr_t to = reinterpret_cast<uintptr_t>(at);

    if (host && (to - host->gm_begin < host->gm_bytes || is_on_chip(to)))
        host->access(host->core, at, n, is_store);
}

// The layouts that the dialect has; others are rejected where they are used. Scales that lie as a
// plain matrix are one: `is_plain` when the view has two dimensions.
template <class L> constexpr int32_t layout_of(L layout, bool is_plain)
{
    return layout == L::ND                                ? STRATA_PTO_ND
           : layout == L::DN                              ? STRATA_PTO_DN
           : layout == L::NZ                              ? STRATA_PTO_NZ
           : layout == L::MX_A_ZZ                         ? STRATA_PTO_MX_A
           : layout == L::MX_B_NN                         ? STRATA_PTO_MX_B
           : !is_plain                                    ? -1
           : layout == L::MX_A_ND || layout == L::MX_B_ND ? STRATA_PTO_ND
           : layout == L::MX_A_DN || layout == L::MX_B_DN ? STRATA_PTO_DN
                                                          : -1;
}

// A view of global memory as the host sees it.
template <class T> strata_pto_view view_of(const T &view)
{
    strata_pto_view v{};
    v.data = (void *)view.data();
    v.dtype = dtype_of<typename T::RawDType>::value;
    for (int i = 0; i < 5; i++) {
        v.shape[i] = view.GetShape(i);
        v.stride[i] = view.GetStride(i);
    }
    v.layout = layout_of(T::layout, v.shape[0] == 1 && v.shape[1] == 1 && v.shape[2] == 1);
    return v;
}

// One instruction: its operands in the order of the dialect's text, then run().
class instruction
{
  public:
    instruction(const char *op, const place &at)
    {
        call_.op = op;
        call_.place = at;
    }

    template <class T> instruction &out(const T &x)
    {
        outs_[call_.n_outs++] = described(x);
        return *this;
    }
    template <class T> instruction &in(const T &x)
    {
        ins_[call_.n_ins++] = described(x);
        return *this;
    }
    template <class E, class Number> instruction &value(Number x)
    {
        return bits(dtype_of<E>::value, bits_of<E>(x));
    }
    template <class Number> instruction &index(Number x)
    {
        return bits(STRATA_PTO_INDEX, static_cast<uint64_t>(static_cast<int64_t>(x)));
    }
    instruction &bits(int32_t dtype, uint64_t value)
    {
        strata_pto_operand &o = ins_[call_.n_ins++];
        o.kind = STRATA_PTO_VALUE;
        o.dtype = dtype;
        o.u.bits = value;
        return *this;
    }
    instruction &result(int32_t dtype, uint64_t *to)
    {
        strata_pto_operand &o = outs_[call_.n_outs++];
        o.kind = STRATA_PTO_RESULT;
        o.dtype = dtype;
        o.u.result = to;
        return *this;
    }
    template <class Value> instruction &attr(const char *key, Value value)
    {
        attrs_[call_.n_attrs].key = key;
        attrs_[call_.n_attrs++].value = static_cast<int64_t>(value);
        return *this;
    }
    void run()
    {
        call_.outs = outs_;
        call_.ins = ins_;
        call_.attrs = attrs_;
        host->call(host->core, &call_);
    }

  private:
    template <class T>
    auto described(const T &tile) -> decltype(tile.described(), strata_pto_operand())
    {
        strata_pto_operand o{};
        o.kind = STRATA_PTO_TILE;
        o.u.tile = tile.described();
        return o;
    }
    template <class T>
    auto described(const T &view) -> decltype(view.GetShape(0), strata_pto_operand())
    {
        strata_pto_operand o{};
        views_[n_views_] = view_of(view);
        o.kind = STRATA_PTO_VIEW;
        o.u.view = &views_[n_views_++];
        return o;
    }

    strata_pto_call call_{};
    strata_pto_operand outs_[4], ins_[8];
    strata_pto_view views_[4];
    strata_pto_attr attrs_[4];
    int n_views_ = 0;
};

// Blocks of a launch, kernel<<<blocks, l2, stream>>>(x).
inline int64_t launched = 0;
template <class N> inline void launch(N blocks)
{
    launched = static_cast<int64_t>(blocks);
}

// An argument slot as a parameter of the kernel: an address, or the bits of a value.
template <class T> inline T parameter(int64_t slot)
{
    if constexpr (std::is_pointer<T>::value) {
        return (T)slot;
    } else if constexpr (std::is_integral<T>::value || std::is_enum<T>::value) {
        return static_cast<T>(slot);
    } else if constexpr (std::is_convertible<float, T>::value) {
        float x;
        __builtin_memcpy(&x, &slot, sizeof(x));
        return T(x);
    } else {
        return T{};
    }
}
template <class R, class... P, std::size_t... I>
inline void enter_with(R (*kernel)(P...), int64_t *args, std::index_sequence<I...>)
{
    (void)kernel(parameter<std::decay_t<P>>(args[I])...);
}
template <class R, class... P> inline void enter_with(R (*kernel)(P...), int64_t *args)
{
    enter_with(kernel, args, std::index_sequence_for<P...>());
}

} // namespace strata_pto

// The compiler calls these before each scalar access (-fsanitize=thread): one to a tensor is an
// instruction of the scalar unit.
#define STRATA_PTO_QUIET __attribute__((used, visibility("hidden"), no_sanitize("thread"))) inline
#define STRATA_PTO_HOOK  extern "C" STRATA_PTO_QUIET
#define STRATA_PTO_ACCESS(NAME, N, IS_STORE)                                                       \
    STRATA_PTO_HOOK void __tsan_##NAME##N(void *at)                                                \
    {                                                                                              \
        strata_pto::touch(at, N, IS_STORE);                                                        \
    }
#define STRATA_PTO_ACCESSES(N)                                                                     \
    STRATA_PTO_ACCESS(read, N, 0)                                                                  \
    STRATA_PTO_ACCESS(write, N, 1)                                                                 \
    STRATA_PTO_ACCESS(unaligned_read, N, 0)                                                        \
    STRATA_PTO_ACCESS(unaligned_write, N, 1)
STRATA_PTO_ACCESSES(1)
STRATA_PTO_ACCESSES(2)
STRATA_PTO_ACCESSES(4)
STRATA_PTO_ACCESSES(8)
STRATA_PTO_ACCESSES(16)
STRATA_PTO_HOOK void __tsan_read_range(void *at, std::size_t n)
{
    strata_pto::touch(at, (int64_t)n, 0);
}
STRATA_PTO_HOOK void __tsan_write_range(void *at, std::size_t n)
{
    strata_pto::touch(at, (int64_t)n, 1);
}
STRATA_PTO_HOOK void *__tsan_memcpy(void *to, const void *from, std::size_t n)
{
    strata_pto::touch(from, (int64_t)n, 0);
    strata_pto::touch(to, (int64_t)n, 1);
    return __builtin_memcpy(to, from, n);
}
STRATA_PTO_HOOK void *__tsan_memmove(void *to, const void *from, std::size_t n)
{
    strata_pto::touch(from, (int64_t)n, 0);
    strata_pto::touch(to, (int64_t)n, 1);
    return __builtin_memmove(to, from, n);
}
STRATA_PTO_HOOK void *__tsan_memset(void *to, int value, std::size_t n)
{
    strata_pto::touch(to, (int64_t)n, 1);
    return __builtin_memset(to, value, n);
}

// Atomic accesses are replaced by calls.
#define STRATA_PTO_ATOMIC(BITS, NAME)                                                              \
    STRATA_PTO_HOOK uint##BITS##_t __tsan_atomic##BITS##_##NAME(volatile void *at,                 \
                                                                uint##BITS##_t value, int)         \
    {                                                                                              \
        strata_pto::touch(const_cast<void *>(at), BITS / 8, 1);                                    \
        return __atomic_##NAME((volatile uint##BITS##_t *)at, value, __ATOMIC_SEQ_CST);            \
    }
#define STRATA_PTO_ATOMICS(BITS)                                                                   \
    STRATA_PTO_ATOMIC(BITS, fetch_add)                                                             \
    STRATA_PTO_ATOMIC(BITS, fetch_sub)                                                             \
    STRATA_PTO_ATOMIC(BITS, fetch_and)                                                             \
    STRATA_PTO_ATOMIC(BITS, fetch_or)                                                              \
    STRATA_PTO_ATOMIC(BITS, fetch_xor)                                                             \
    STRATA_PTO_ATOMIC(BITS, fetch_nand)                                                            \
    STRATA_PTO_HOOK uint##BITS##_t __tsan_atomic##BITS##_exchange(volatile void *at,               \
                                                                  uint##BITS##_t value, int)       \
    {                                                                                              \
        strata_pto::touch(const_cast<void *>(at), BITS / 8, 1);                                    \
        return __atomic_exchange_n((volatile uint##BITS##_t *)at, value, __ATOMIC_SEQ_CST);        \
    }                                                                                              \
    STRATA_PTO_HOOK uint##BITS##_t __tsan_atomic##BITS##_load(const volatile void *at, int)        \
    {                                                                                              \
        strata_pto::touch(const_cast<const void *>(at), BITS / 8, 0);                              \
        return __atomic_load_n((const volatile uint##BITS##_t *)at, __ATOMIC_SEQ_CST);             \
    }                                                                                              \
    STRATA_PTO_HOOK void __tsan_atomic##BITS##_store(volatile void *at, uint##BITS##_t value, int) \
    {                                                                                              \
        strata_pto::touch(const_cast<void *>(at), BITS / 8, 1);                                    \
        __atomic_store_n((volatile uint##BITS##_t *)at, value, __ATOMIC_SEQ_CST);                  \
    }                                                                                              \
    STRATA_PTO_HOOK int __tsan_atomic##BITS##_compare_exchange_strong(                             \
        volatile void *at, void *expected, uint##BITS##_t value, int, int)                         \
    {                                                                                              \
        strata_pto::touch(const_cast<void *>(at), BITS / 8, 1);                                    \
        return __atomic_compare_exchange_n((volatile uint##BITS##_t *)at,                          \
                                           (uint##BITS##_t *)expected, value, false,               \
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
    }                                                                                              \
    STRATA_PTO_HOOK int __tsan_atomic##BITS##_compare_exchange_weak(                               \
        volatile void *at, void *expected, uint##BITS##_t value, int, int)                         \
    {                                                                                              \
        return __tsan_atomic##BITS##_compare_exchange_strong(at, expected, value, 0, 0);           \
    }                                                                                              \
    STRATA_PTO_HOOK uint##BITS##_t __tsan_atomic##BITS##_compare_exchange_val(                     \
        volatile void *at, uint##BITS##_t expected, uint##BITS##_t value, int, int)                \
    {                                                                                              \
        __tsan_atomic##BITS##_compare_exchange_strong(at, &expected, value, 0, 0);                 \
        return expected;                                                                           \
    }
STRATA_PTO_ATOMICS(8)
STRATA_PTO_ATOMICS(16)
STRATA_PTO_ATOMICS(32)
STRATA_PTO_ATOMICS(64)
// What else the compiler may call then is nothing here.
STRATA_PTO_HOOK void __tsan_init() {}
STRATA_PTO_HOOK void __tsan_func_entry(void *) {}
STRATA_PTO_HOOK void __tsan_func_exit() {}
STRATA_PTO_HOOK void __tsan_vptr_update(void **, void *) {}
STRATA_PTO_HOOK void __tsan_vptr_read(void **) {}
STRATA_PTO_HOOK void __tsan_atomic_thread_fence(int) {}
STRATA_PTO_HOOK void __tsan_atomic_signal_fence(int) {}
#undef STRATA_PTO_ATOMICS
#undef STRATA_PTO_ATOMIC
#undef STRATA_PTO_ACCESSES
#undef STRATA_PTO_ACCESS
#undef STRATA_PTO_HOOK
#undef STRATA_PTO_QUIET

extern "C" __attribute__((used, visibility("default"))) inline void
strata_pto_attach(const strata_pto_host *host)
{
    strata_pto::host = host;
}

extern "C" __attribute__((used, visibility("default"))) inline void
strata_pto_enter(void (*entry)(int64_t *), int64_t *args)
{
    const strata_pto_host *host = strata_pto::host;
    const strata_pto_place none{"", 0};
    char text[200];

    try {
        entry(args);
        return;
    } catch (const std::exception &e) {
        snprintf(text, sizeof(text), "the kernel throws: %s", e.what());
    } catch (...) {
        snprintf(text, sizeof(text), "the kernel throws");
    }
    host->stop(host->core, text, none);
}

#endif
