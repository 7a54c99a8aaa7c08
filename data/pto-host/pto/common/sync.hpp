// Flags between the cube core and its vector cores, as objects.
#ifndef STRATA_PTO_SYNC_HPP
#define STRATA_PTO_SYNC_HPP

#include <pto/pto-inst.hpp>

namespace pto
{

enum class SyncOpType : uint8_t { TSTORE_C2GM, TSTORE_V2GM, TLOAD };
enum CVSyncMode : uint16_t {
    C_ALL_CORE_SYNC = 0,
    V_ALL_CORE_SYNC = 0,
    V_SUBCORES_SYNC = 1,
    CV_CORE_SYNC = 2,
};
enum CVCommFftsEvent : uint16_t {
    CV_COMM_CTRL = 12,
    CV_COMM_RSVD_13,
    CV_COMM_RSVD_14,
    CV_COMM_RSVD_15,
};
constexpr int kCvCommSlotBytes = 512;
constexpr int kCvMaxCores = 25;

// What ffts_cross_core_sync() takes.
inline uint16_t _getFFTSMsg(CVSyncMode mode, uint16_t flag, uint16_t base = 1)
{
    return static_cast<uint16_t>((base & 15) | (mode & 3) << 4 | (flag & 15) << 8);
}

// One flag says that data is there, the next one that its buffer is free again.
template <SyncOpType Producer, SyncOpType Consumer> struct TSync_Custom {
    static constexpr bool is_c2v = Producer == SyncOpType::TSTORE_C2GM;
    static constexpr bool is_v2c = !is_c2v;
    uint16_t flag_id;

    void record(strata_pto::place at = strata_pto::place()) const
    {
        ffts_cross_core_sync(is_c2v ? PIPE_FIX : PIPE_MTE3, _getFFTSMsg(CV_CORE_SYNC, flag_id), at);
    }
    void wait(strata_pto::place at = strata_pto::place()) const { wait_flag_dev(flag_id, at); }
    void allocate(strata_pto::place at = strata_pto::place()) const
    {
        wait_flag_dev(flag_id + 1, at);
    }
    void free(strata_pto::place at = strata_pto::place()) const
    {
        ffts_cross_core_sync(PIPE_MTE2, _getFFTSMsg(CV_CORE_SYNC, flag_id + 1), at);
    }
};

// The slot of a block's cores: one block runs, so it is that of the block.
template <int SlotBytes = kCvCommSlotBytes, int Cores = kCvMaxCores>
inline int TSYNC_CVID(int block, uint8_t *)
{
    return block % Cores;
}

} // namespace pto

#endif
