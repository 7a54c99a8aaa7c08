// What an orchestration calls, for recording it: each submission becomes one call of the host.
#ifndef STRATA_PTO_ORCHESTRATION_API_H
#define STRATA_PTO_ORCHESTRATION_API_H

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strata/scene_host.h>

#include "tensor.h"

namespace strata_scene
{
inline const strata_scene_host *host = nullptr;

[[noreturn]] inline void stop(const char *reason, const char *file, int line)
{
    host->stop(host->scene, reason, file, line);
    std::abort();
}
[[noreturn]] inline void stop_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
inline void stop_at(const char *file, int line, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    stop(text, file, line);
}
} // namespace strata_scene

#define always_assert(condition)                                                                   \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : strata_scene::stop("the orchestration asserts: " #condition, __FILE__, __LINE__))
#define debug_assert(condition) ((void)sizeof(condition))
#ifndef likely
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

// ---- tensors ----

inline ChipTensor make_tensor_external(void *at, const uint32_t shape[], uint32_t n,
                                       DataType dtype = DataType::FLOAT32, bool manual = false,
                                       int32_t version = 0, AddressSpace space = AddressSpace::HOST)
{
    ChipTensor t{};
    t.set_shape(shape, n);
    t.dtype = dtype;
    t.version = version;
    t.address_space = space;
    t.owner_task_id = PTO2TaskId::invalid();
    t.buffer = {reinterpret_cast<uint64_t>(at), t.nbytes()};
    return t.derived(manual);
}
inline ChipTensor make_tensor_strided(void *at, const uint32_t shape[], const uint32_t strides[],
                                      uint32_t n, DataType dtype = DataType::FLOAT32,
                                      bool manual = false, int32_t version = 0,
                                      AddressSpace space = AddressSpace::HOST)
{
    ChipTensor t = make_tensor_external(at, shape, n, dtype, manual, version, space);
    for (uint32_t i = 0; i < t.ndims; i++)
        t.strides[i] = strides[i];
    t.derived(manual);
    t.buffer.size = t.extent_elem_cache * get_element_size(dtype);
    return t;
}

// A tensor that the runtime will allocate.
struct TensorCreateInfo {
    uint64_t initial_value = 0;
    bool has_initial_value = false;
    uint64_t start_offset = 0;
    int32_t version = 0;
    uint32_t ndims = 0;
    DataType dtype = DataType::FLOAT32;
    bool manual_dep = false, is_contiguous = true;
    uint32_t shapes[MAX_TENSOR_DIMS] = {};

    TensorCreateInfo() = default;
    TensorCreateInfo(const uint32_t shape[], uint32_t n, DataType type = DataType::FLOAT32,
                     bool manual = false)
        : ndims(n < MAX_TENSOR_DIMS ? n : MAX_TENSOR_DIMS), dtype(type), manual_dep(manual)
    {
        for (uint32_t i = 0; i < ndims; i++)
            shapes[i] = shape[i];
    }
    template <class T = uint64_t> void set_initial_value(T value)
    {
        has_initial_value = true;
        initial_value = to_u64(value);
    }
    uint64_t buffer_size_bytes() const
    {
        uint64_t n = get_element_size(dtype);
        for (uint32_t i = 0; i < ndims; i++)
            n *= shapes[i];
        return n;
    }
    void copy(const TensorCreateInfo &other) { *this = other; }
};

// A tensor of that shape in memory that is there already.
inline void init_tensor_from_create_info(ChipTensor &out, const TensorCreateInfo &info, void *at,
                                         uint64_t bytes)
{
    out = make_tensor_external(at, info.shapes, info.ndims, info.dtype, info.manual_dep);
    out.buffer.size = bytes;
}

enum class TensorArgType : int32_t { INPUT, OUTPUT, INOUT, OUTPUT_EXISTING, NO_DEP };

// ---- what a task is given ----

struct MixedKernels {
    int32_t aic_kernel_id = -1, aiv0_kernel_id = -1, aiv1_kernel_id = -1;
};
constexpr int32_t INVALID_KERNEL_ID = -1;

// How many blocks, by the name of each runtime.
class PTO2LaunchSpec
{
  public:
#ifndef STRATA_SCENE_CORE_NUM // a source that looks which of the two there is finds one
    template <class N> void set_block_num(N n)
    {
        blocks_ = static_cast<int32_t>(n);
    }
    int32_t block_num() const
    {
        return blocks_;
    }
#endif
#ifndef STRATA_SCENE_BLOCK_NUM
    template <class N> void set_core_num(N n)
    {
        blocks_ = static_cast<int32_t>(n);
    }
    int32_t core_num() const
    {
        return blocks_;
    }
#endif
    int32_t blocks() const
    {
        return blocks_;
    }
    void set_require_sync_start(bool on = true)
    {
        is_sync_start_ = on;
    }
    bool require_sync_start() const
    {
        return is_sync_start_;
    }

  private:
    int32_t blocks_ = 1;
    bool is_sync_start_ = false;
};

enum class PredicateOp : uint8_t { NONE, EQ, NE, GT, LT, GE, LE };

struct CorePredicateOperand {
    const ChipTensor *tensor = nullptr;
    uint32_t ndims = 0;
    uint32_t indices[MAX_TENSOR_DIMS] = {};
};
struct CoreTaskPredicate {
    CorePredicateOperand operand;
    PredicateOp op = PredicateOp::NONE;
    int64_t target = 0;
};

enum DepFlags : uint8_t { DEP_NONE = 0, DEP_WAIT = 1, DEP_RETAIN = 2 };
constexpr DepFlags operator|(DepFlags a, DepFlags b)
{
    return static_cast<DepFlags>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr DepFlags operator&(DepFlags a, DepFlags b)
{
    return static_cast<DepFlags>(static_cast<int>(a) & static_cast<int>(b));
}

// An argument that is a tensor; it can be taken for the tensor itself.
struct TensorRef : ChipTensor {
    const ChipTensor &ref() const { return *this; }
};

constexpr int MAX_TENSOR_ARGS = 32, MAX_SCALAR_ARGS = 16;

template <size_t MaxTensors, size_t MaxScalars> class Arg
{
  public:
    PTO2LaunchSpec launch_spec;
    bool has_error = false;
    const char *error_msg = nullptr;

    template <class... T> void add_input(const T &...t) { (add(t, TensorArgType::INPUT), ...); }
    template <class... T> void add_inout(const T &...t) { (add(t, TensorArgType::INOUT), ...); }
    template <class... T> void add_no_dep(const T &...t) { (add(t, TensorArgType::NO_DEP), ...); }
    template <class... T> void add_output(const T &...t)
    {
        (add(t, std::is_same<T, TensorCreateInfo>::value ? TensorArgType::OUTPUT
                                                         : TensorArgType::OUTPUT_EXISTING),
         ...);
    }
    template <class... T> void add_scalar(T... value) { (push(to_u64(value)), ...); }
    void add_scalars(const uint64_t *values, int n)
    {
        for (int i = 0; i < n; i++)
            push(values[i]);
    }
    void add_scalars_i32(const int32_t *values, int n)
    {
        for (int i = 0; i < n; i++)
            push(static_cast<uint32_t>(values[i]));
    }
    void copy_scalars_from(const Arg &from, int at, int n)
    {
        for (int i = 0; i < n && static_cast<size_t>(at + i) < from.scalars_.size(); i++)
            push(from.scalars_[static_cast<size_t>(at + i)]);
    }

    void set_dependencies(const PTO2TaskId *ids, uint32_t n) { after_.assign(ids, ids + n); }
    void set_dependencies_with_kinds(const PTO2TaskId *ids, const DepFlags *, uint32_t n)
    {
        after_.assign(ids, ids + n);
    }
    uint32_t explicit_dep_count() const { return static_cast<uint32_t>(after_.size()); }
    PTO2TaskId explicit_dep(uint32_t i) const { return after_[i]; }
    const PTO2TaskId *explicit_deps_data() const { return after_.data(); }

    void set_allow_early_resolve(bool on = true) { is_early_ = on; }
    bool allow_early_resolve() const { return is_early_; }
    void set_predicate(const CoreTaskPredicate &predicate) { predicate_ = predicate; }
    const CoreTaskPredicate &predicate() const { return predicate_; }
    void set_task_timing_slot(int32_t slot) { timing_slot_ = slot; }
    int32_t task_timing_slot() const { return timing_slot_; }
    template <class... T> void dump(T &&...) {}

    void set_error(const char *what)
    {
        error_msg = has_error ? error_msg : what;
        has_error = true;
    }
    void clear()
    {
        tensors_.clear();
        scalars_.clear();
        after_.clear();
        is_early_ = false;
        predicate_ = {};
        timing_slot_ = -1;
    }
    void reset()
    {
        clear();
        has_error = false;
        error_msg = nullptr;
    }

    int32_t tensor_count() const { return static_cast<int32_t>(tensors_.size()); }
    int32_t scalar_count() const { return static_cast<int32_t>(scalars_.size()); }
    const TensorRef &tensor(int32_t i) const { return tensors_.at(static_cast<size_t>(i)).tensor; }
    TensorArgType tag(int32_t i) const { return tensors_.at(static_cast<size_t>(i)).tag; }
    uint64_t scalar(int32_t i) const { return scalars_.at(static_cast<size_t>(i)); }
    const uint64_t *scalars() const { return scalars_.data(); }
    const uint64_t *scalar_data() const { return scalars_.data(); }

    // For the functions that submit.
    struct entry {
        TensorRef tensor;
        TensorArgType tag;
        const TensorCreateInfo *made; // of a new one
    };
    const std::deque<entry> &entries() const { return tensors_; }
    void add_argument(const ChipTensor &t) { add(t, TensorArgType::INPUT); }

  private:
    void add(const ChipTensor &t, TensorArgType tag)
    {
        if (tensors_.size() >= MaxTensors)
            return set_error("too many tensors");
        entry e{{}, tag, nullptr};
        static_cast<ChipTensor &>(e.tensor) = t;
        tensors_.push_back(e);
    }
    void add(const TensorCreateInfo &t, TensorArgType)
    {
        if (tensors_.size() >= MaxTensors)
            return set_error("too many tensors");
        tensors_.push_back(entry{{}, TensorArgType::OUTPUT, &t});
    }
    void push(uint64_t bits)
    {
        if (scalars_.size() >= MaxScalars)
            return set_error("too many scalars");
        scalars_.push_back(bits);
    }

    std::deque<entry> tensors_;
    std::vector<uint64_t> scalars_;
    std::vector<PTO2TaskId> after_;
    bool is_early_ = false;
    CoreTaskPredicate predicate_;
    int32_t timing_slot_ = -1;
};

using CoreTaskArgs = Arg<MAX_TENSOR_ARGS, MAX_SCALAR_ARGS>;
using GraphTaskArgs = Arg<1024, 1024>;
using ChipTaskArgs = Arg<1024, 1024>; // those of the orchestration itself
using ChipStorageTaskArgs = ChipTaskArgs;

struct PTO2OrchestrationConfig {
    int expected_arg_count;
};

// ---- what comes back ----

class TaskOutputTensors
{
  public:
    bool empty() const { return outputs_.empty(); }
    uint32_t size() const { return static_cast<uint32_t>(outputs_.size()); }
    const ChipTensor &get_ref(uint32_t i) const
    {
        return i < outputs_.size() ? *outputs_[i] : *outputs_.at(i);
    }
    PTO2TaskId task_id() const { return id_; }
    void set_task_id(PTO2TaskId id) { id_ = id; }
    void materialize_output(const ChipTensor &t) { outputs_.push_back(&t); }

  private:
    PTO2TaskId id_ = PTO2TaskId::invalid();
    std::vector<const ChipTensor *> outputs_;
};

enum class PTO2ScopeMode : uint8_t { AUTO, MANUAL };

namespace strata_scene
{
// Where an orchestration submits: the default argument of every function that does.
struct place {
    const char *file;
    int line;
    place(const char *in = __builtin_FILE(), int at = __builtin_LINE()) : file(in), line(at) {}
};

// Tensors that tasks made: they live as long as the recording.
inline std::deque<ChipTensor> made;
// Scopes that are open, and how many were when the manual one began, from 1.
inline int scopes = 0, manual_since = 0;

inline strata_scene_tensor described(const ChipTensor &t, TensorArgType tag)
{
    strata_scene_tensor d{};
    d.role = static_cast<int32_t>(tag);
    d.dtype = static_cast<uint8_t>(t.dtype);
    d.is_manual = t.manual_dep;
    d.rank = t.ndims;
    for (uint32_t i = 0; i < t.ndims && i < MAX_TENSOR_DIMS; i++) {
        d.shape[i] = t.shapes[i];
        d.strides[i] = t.strides[i];
    }
    d.address = t.buffer.addr;
    d.bytes = t.buffer.size;
    d.start = t.start_offset;
    d.creator = t.owner_task_id.raw;
    return d;
}

inline strata_scene_tensor described(const TensorCreateInfo &info)
{
    ChipTensor t = make_tensor_external(nullptr, info.shapes, info.ndims, info.dtype,
                                        info.manual_dep, info.version);
    strata_scene_tensor d = described(t, TensorArgType::OUTPUT);
    d.initial = info.has_initial_value ? info.initial_value : 0;
    return d;
}

template <class A>
inline TaskOutputTensors submit(strata_scene_kind kind, const MixedKernels &kernels, const A &args,
                                const place &at)
{
    std::vector<strata_scene_tensor> tensors;
    std::vector<uint64_t> after;
    TaskOutputTensors out;
    strata_scene_task task{};

    if (args.has_error)
        stop_at(at.file, at.line, "a task has %s",
                args.error_msg ? args.error_msg : "wrong arguments");
    for (const auto &e : args.entries())
        tensors.push_back(e.made ? described(*e.made) : described(e.tensor, e.tag));
    for (uint32_t i = 0; i < args.explicit_dep_count(); i++)
        if (args.explicit_dep(i).is_valid())
            after.push_back(args.explicit_dep(i).raw);
    task.kind = kind;
    task.kernels[0] = kernels.aic_kernel_id;
    task.kernels[1] = kernels.aiv0_kernel_id;
    task.kernels[2] = kernels.aiv1_kernel_id;
    task.blocks = args.launch_spec.blocks();
    task.is_early = args.allow_early_resolve();
    task.is_sync_start = args.launch_spec.require_sync_start();
    task.is_manual_scope = manual_since > 0;
    task.n_tensors = static_cast<int32_t>(tensors.size());
    task.n_scalars = args.scalar_count();
    task.n_after = static_cast<int32_t>(after.size());
    task.tensors = tensors.data();
    task.scalars = args.scalar_data();
    task.after = after.data();
    task.file = at.file;
    task.line = at.line;
    const CoreTaskPredicate &p = args.predicate();
    if (p.op != PredicateOp::NONE && p.operand.tensor) {
        const ChipTensor &t = *p.operand.tensor;
        task.predicate.op = static_cast<int32_t>(p.op);
        task.predicate.dtype = static_cast<uint8_t>(t.dtype);
        task.predicate.address =
            t.buffer.addr +
            t.compute_flat_offset(p.operand.indices, p.operand.ndims) * get_element_size(t.dtype);
        task.predicate.target = p.target;
    }
    const uint64_t id = host->submit(host->scene, &task);
    out.set_task_id(PTO2TaskId{id});
    size_t n = 0;
    for (const auto &e : args.entries()) {
        const strata_scene_tensor &d = tensors[n++];
        if (!e.made)
            continue;
        made.push_back(make_tensor_external(reinterpret_cast<void *>(d.address), e.made->shapes,
                                            e.made->ndims, e.made->dtype, e.made->manual_dep));
        made.back().buffer.size = d.bytes;
        made.back().owner_task_id = PTO2TaskId{id};
        out.materialize_output(made.back());
    }
    return out;
}

inline void scope_begin(PTO2ScopeMode mode)
{
    scopes++;
    if (mode == PTO2ScopeMode::MANUAL && manual_since == 0)
        manual_since = scopes;
}
inline void scope_end()
{
    if (manual_since == scopes)
        manual_since = 0;
    scopes--;
}
} // namespace strata_scene

// ---- submitting ----

inline TaskOutputTensors rt_submit_task(const MixedKernels &kernels, const CoreTaskArgs &args,
                                        strata_scene::place at = strata_scene::place())
{
    return strata_scene::submit(STRATA_SCENE_TASK, kernels, args, at);
}
inline TaskOutputTensors rt_submit_aic_task(int32_t kernel, const CoreTaskArgs &args,
                                            strata_scene::place at = strata_scene::place())
{
    return rt_submit_task(MixedKernels{kernel, -1, -1}, args, at);
}
inline TaskOutputTensors rt_submit_aiv_task(int32_t kernel, const CoreTaskArgs &args,
                                            strata_scene::place at = strata_scene::place())
{
    return rt_submit_task(MixedKernels{-1, kernel, -1}, args, at);
}
inline TaskOutputTensors rt_submit_dummy_task(const CoreTaskArgs &args,
                                              strata_scene::place at = strata_scene::place())
{
    return strata_scene::submit(STRATA_SCENE_DUMMY, MixedKernels{}, args, at);
}

inline TaskOutputTensors alloc_tensors(const CoreTaskArgs &args,
                                       strata_scene::place at = strata_scene::place())
{
    return strata_scene::submit(STRATA_SCENE_ALLOC, MixedKernels{}, args, at);
}
inline TaskOutputTensors alloc_tensors(const TensorCreateInfo infos[], uint32_t n,
                                       strata_scene::place at = strata_scene::place())
{
    CoreTaskArgs args;
    for (uint32_t i = 0; i < n; i++)
        args.add_output(infos[i]);
    return alloc_tensors(args, at);
}
template <class... More>
inline TaskOutputTensors alloc_tensors(const TensorCreateInfo &first, const More &...more)
{
    CoreTaskArgs args;
    args.add_output(first);
    (args.add_output(more), ...);
    return alloc_tensors(args);
}

// Arguments that keep the tasks they come after themselves.
template <size_t Most = 16> class CoreTaskArgsWithDeps : public CoreTaskArgs
{
  public:
    template <class... Ids> void add_dep(Ids... ids)
    {
        (ids_.push_back(ids), ...);
        set_dependencies(ids_.data(), static_cast<uint32_t>(ids_.size()));
    }
    template <class... Ids> void add_dep_wait(Ids... ids) { add_dep(ids...); }
    void reset()
    {
        ids_.clear();
        CoreTaskArgs::reset();
    }
    CoreTaskArgs &finalize_for_submit() { return *this; }

  private:
    std::vector<PTO2TaskId> ids_;
};

// ---- graphs: their tasks are submitted each time ----

struct GraphSubmitResult {
    bool submitted = true;
};
using GraphScopeResult = GraphSubmitResult;
using GraphFunction = void (*)(const GraphTaskArgs &);

inline GraphSubmitResult rt_submit_graph(GraphFunction body, const GraphTaskArgs &args)
{
    body(args);
    return {};
}
inline GraphSubmitResult rt_submit_graph(uint64_t, GraphFunction body, const GraphTaskArgs &args)
{
    body(args);
    return {};
}
template <class... Config>
inline GraphSubmitResult rt_submit_graph(uint64_t, void (*body)(const GraphTaskArgs &, Config...),
                                         const GraphTaskArgs &args, Config... config)
{
    body(args, config...);
    return {};
}
template <class... Config>
inline GraphSubmitResult rt_submit_graph(void (*body)(const GraphTaskArgs &, Config...),
                                         const GraphTaskArgs &args, Config... config)
{
    body(args, config...);
    return {};
}
inline void rt_graph_commit() {}

// ---- scopes ----

inline void rt_scope_begin(PTO2ScopeMode mode = PTO2ScopeMode::AUTO)
{
    strata_scene::scope_begin(mode);
}
inline void rt_scope_end()
{
    strata_scene::scope_end();
}
class PTO2ScopeGuard
{
  public:
    explicit PTO2ScopeGuard(PTO2ScopeMode mode = PTO2ScopeMode::AUTO, const char * = "", int = 0)
    {
        strata_scene::scope_begin(mode);
    }
    ~PTO2ScopeGuard() { strata_scene::scope_end(); }
    PTO2ScopeGuard(const PTO2ScopeGuard &) = delete;
    PTO2ScopeGuard &operator=(const PTO2ScopeGuard &) = delete;
};
#define STRATA_SCENE_JOIN_(a, b) a##b
#define STRATA_SCENE_JOIN(a, b)  STRATA_SCENE_JOIN_(a, b)
#define PTO2_SCOPE_GUARD(...)                                                                      \
    [[maybe_unused]] PTO2ScopeGuard STRATA_SCENE_JOIN(strata_scope_, __COUNTER__)                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define PTO2_SCOPE(...)                                                                            \
    if (PTO2ScopeGuard STRATA_SCENE_JOIN(strata_scope_, __COUNTER__){__VA_ARGS__}; true)

// ---- the runtime ----

// A value of a tensor; those that tasks would write are still zero.
template <class T = uint64_t>
inline T get_tensor_data(const ChipTensor &t, uint32_t n, const uint32_t index[])
{
    const uint64_t size = get_element_size(t.dtype);
    const char *at = t.data_as<char>() + t.compute_flat_offset(index, n) * size;
    uint64_t bits = 0;
    strata_scene::host->read(strata_scene::host->scene, reinterpret_cast<uint64_t>(at), size);
    std::memcpy(&bits, at, size);
    return from_u64<T>(bits);
}
template <class T = uint64_t>
inline void set_tensor_data(const ChipTensor &t, uint32_t n, const uint32_t index[], T value)
{
    const uint64_t bits = to_u64(value), size = get_element_size(t.dtype);
    std::memcpy(t.data_as<char>() + t.compute_flat_offset(index, n) * size, &bits, size);
}

inline int32_t rt_available_cluster_count()
{
    return strata_scene::host->clusters;
}
inline int32_t rt_available_aiv_count()
{
    return strata_scene::host->vectors;
}
inline bool rt_is_fatal()
{
    return false;
}
inline void rt_orchestration_done() {}

enum {
    PTO2_ERROR_NONE = 0,
    PTO2_ERROR_EXPLICIT_ORCH_FATAL,
    PTO2_ERROR_INVALID_ARGS,
    PTO2_ERROR_SCOPE_DEADLOCK,
    PTO2_ERROR_HEAP_RING_DEADLOCK,
    PTO2_ERROR_FLOW_CONTROL_DEADLOCK,
    PTO2_ERROR_DEP_POOL_OVERFLOW,
    PTO2_ERROR_TENSOR_WAIT_TIMEOUT,
    PTO2_ERROR_SCHEDULER_TIMEOUT,
    PTO2_ERROR_REQUIRE_SYNC_START_INVALID,
};
#define rt_report_fatal(code, ...) strata_scene::stop_at(__FILE__, __LINE__, "" __VA_ARGS__)

#define LOG_ERROR(...)  ((void)0)
#define LOG_WARN(...)   ((void)0)
#define LOG_TIMING(...) ((void)0)
#define LOG_INFO(...)   ((void)0)
#define LOG_DEBUG(...)  ((void)0)
#ifndef SPIN_WAIT_HINT
#define SPIN_WAIT_HINT() ((void)0)
#endif

struct PTO2Runtime;
inline void framework_bind_runtime(PTO2Runtime *) {}
inline PTO2Runtime *framework_current_runtime()
{
    return nullptr;
}
inline PTO2Runtime *current_runtime()
{
    return nullptr;
}

// ---- the way in ----

extern "C" __attribute__((used, visibility("default"))) inline void
strata_scene_attach(const strata_scene_host *host)
{
    strata_scene::host = host;
}

extern "C" __attribute__((used, visibility("default"))) inline void
strata_scene_enter(void *entry, const strata_scene_args *given)
{
    ChipTaskArgs args;
    char text[300];

    strata_scene::scopes = 1; // the runtime opens one around the entry
    for (int32_t i = 0; i < given->n_tensors; i++) {
        const strata_scene_tensor &d = given->tensors[i];
        ChipTensor t = make_tensor_strided(reinterpret_cast<void *>(d.address), d.shape, d.strides,
                                           d.rank, static_cast<DataType>(d.dtype));
        t.start_offset = d.start;
        t.buffer.size = d.bytes;
        args.add_argument(t);
    }
    for (int32_t i = 0; i < given->n_scalars; i++)
        args.add_scalar(given->scalars[i]);
    try {
        reinterpret_cast<void (*)(const ChipTaskArgs &)>(entry)(args);
        return;
    } catch (const std::exception &e) {
        snprintf(text, sizeof(text), "the orchestration throws: %s", e.what());
    } catch (...) {
        snprintf(text, sizeof(text), "the orchestration throws");
    }
    strata_scene::stop(text, "", 0);
}

#endif
