// FIFOs between the cube and the vector cores.
#ifndef STRATA_PTO_FIFO_HPP
#define STRATA_PTO_FIFO_HPP

#include <pto/common/pto_tile.hpp>

namespace pto
{

template <int FlagID, uint8_t Dir, int SlotSize, int SlotNum, int LocalSlotNum = 2,
          bool NoSplit = false, bool UnitFlag = false>
struct TPipe {
    static constexpr int id = FlagID;
    struct RingFiFo {
        static constexpr int SLOT_SIZE = SlotSize, SLOT_NUM = SlotNum;
        static constexpr int LOCAL_SLOT_NUM = LocalSlotNum;
    };

    struct End {
        int64_t tile = 0;
        void setEntryOffset(int64_t) {}
        void setTileId(int64_t i) { tile = i; }
        int64_t getTileId() const { return tile; }
        void setAllocateStatus(bool) {}
        void setRecordStatus(bool) {}
        void setWaitStatus(bool) {}
        void setFreeStatus(bool) {}
    } prod, cons;

    template <class P>
    TPipe(P gm, int64_t to_vector, int64_t to_cube, strata_pto::place at = strata_pto::place())
    {
        strata_pto_fifo f{};
        f.id = FlagID;
        f.direction = (Dir & 3) ? Dir & 3 : 2; // the control direction goes to the cube core
        f.slot_size = SlotSize;
        f.slots = SlotNum;
        f.local_slots = LocalSlotNum;
        f.is_whole = NoSplit;
        f.gm = as_pointer(gm);
        f.to_vector = to_vector;
        f.to_cube = to_cube;
        strata_pto::host->fifo(strata_pto::host->core, &f, at);
    }

  private:
    static void *as_pointer(std::nullptr_t) { return nullptr; }
    template <class E> static void *as_pointer(E *p) { return (void *)p; }
    template <class E> static auto as_pointer(const E &view) -> decltype((void *)view.data())
    {
        return (void *)view.data();
    }
};

// A tile, or a view of global memory?
template <class T, class = void> struct is_view : std::false_type {
};
template <class T>
struct is_view<T, std::void_t<decltype(std::declval<T>().GetShape(0))>> : std::true_type {
};

// What a FIFO does with a slot that is a view of global memory; where the slot is.
template <class Pipe, TileSplitAxis Split, class View>
inline typename View::DType *fifo_entry(const char *what, const View &view, strata_pto::place at)
{
    const strata_pto_view v = strata_pto::view_of(view);
    return static_cast<typename View::DType *>(
        strata_pto::host->entry(strata_pto::host->core, what, Pipe::id, &v, (int)Split, at));
}

template <class Pipe, class View, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
inline void TALLOC(Pipe &, View &view, strata_pto::place at = strata_pto::place())
{
    view.SetAddr(fifo_entry<Pipe, Split>("talloc", view, at));
}

template <class Pipe, class T, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
inline void TPUSH(Pipe &pipe, const T &what, strata_pto::place at = strata_pto::place())
{
    if constexpr (is_view<T>::value)
        fifo_entry<Pipe, Split>("tpush", what, at);
    else
        strata_pto::host->push(strata_pto::host->core, Pipe::id, what.described(), (int)Split, at);
    pipe.prod.tile++;
}

template <class Pipe, class T, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
inline void TPOP(Pipe &pipe, T &what, strata_pto::place at = strata_pto::place())
{
    if constexpr (is_view<T>::value)
        what.SetAddr(fifo_entry<Pipe, Split>("tpop", what, at));
    else
        what.set_address(strata_pto::host->pop(strata_pto::host->core, Pipe::id, what.described(),
                                               (int)Split, at));
    pipe.cons.tile++;
}

template <class Pipe, class View, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
inline void TFREE(Pipe &, const View &view, strata_pto::place at = strata_pto::place())
{
    fifo_entry<Pipe, Split>("tfree", view, at);
}

template <class Pipe, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT>
inline void TFREE(Pipe &, strata_pto::place at = strata_pto::place())
{
    strata_pto::host->release(strata_pto::host->core, Pipe::id, (int)Split, at);
}

} // namespace pto

// Kernels that import only the types still call these by their plain names.
template <class> void TPUSH();
template <class> void TPOP();
template <class> void TFREE();

#endif
