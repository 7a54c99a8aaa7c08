/*
 * insight - the files of one kernel as the operator simulator leaves them and MindStudio Insight
 * opens them, from a capture. This page is for whoever fills such a capture.
 *
 *     simulator/visualize_data.bin                          timeline_insight (timeline.h)
 *     simulator/trace.json                                  insight_write_trace()
 *     simulator/<core>/trace.json                           insight_write_core_trace()
 *     simulator/<core>/<core>_instr_exe.csv                 insight_write_instr_exe()
 *     simulator/<core>/<core>_code_exe.csv                  insight_write_code_exe()
 *
 * insight_folder_write() writes them all.
 *
 * What is read of the capture
 *
 *   lanes     kind LANE_PIPE, device -1, one for each pipe of each core.
 *             process: the core, "core<N>.cubecore<M>", "core<N>.veccore<M>" or "core<N>"; the
 *             viewer's order of cores comes from these numbers.
 *             name: the pipe, one of SCALAR FLOWCTRL MTE1 CUBE FIXP MTE2 VECTOR MTE3 CACHEMISS
 *             SCALARLDST ALL USERMARK EVENT RVECEX RVECLP RVECST RVECLD PUSHQ RVECSU WARP_<n>.
 *             Colour and place follow from it; another name is drawn last, in grey. Instructions
 *             of a pipe may overlap: do not spread them over lanes.
 *   slices    name: the instruction ("MMAD", "MOV_SRC_TO_DST_ALIGN", "VADD").
 *             begin, dur: ticks of cap->clock. A simulator counts cycles: set clock.hz to the core
 *             clock (1 850 000 000); microseconds are made of it once, on writing.
 *             kind: SLICE_INSTR; SLICE_CONTROL for SET_FLAG, set_event, SET_INTRA_BLOCK;
 *             SLICE_WAIT for WAIT_FLAG, wait_event, WAIT_INTRA_BLOCK; SLICE_ANNOTATION on USERMARK;
 *             SLICE_OTHER on CACHEMISS and for cache_time and ccu_time.
 *             BAR and SET_FLAG are one cycle long and end where they end.
 *   attrs     in the set (shared by all runs of an instruction):
 *               pc_addr        text "0x10d0d040": lower case, no leading zeros needed. Without it
 *                              an instruction is drawn but is in no table.
 *               code           text "a.cpp:7", a call stack joined by newlines, innermost first
 *               vector_lanes_permille  whole number: lanes of a vector instruction that are used
 *               ub_conflict_cycles     whole number: lost in each run to conflicts of UB banks
 *             own (of one run):
 *               detail         text without blanks: "Src:OUT,Dst:UB,". Of flags
 *                              "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0,": producer, consumer, number
 *               process_bytes  whole number, bytes from or to global memory; leave 0 out
 *               group_id       text; joins cache_time and ccu_time with their instruction
 *             others are written as they are.
 *   flows     FLOW_FLAG from the slice that sets a flag to the slice that waits for it.
 *   series    process "MTE Throughput", name GM_TO_UB GM_TO_L1 GM_TO_TOTAL UB_TO_GM L1_TO_GM
 *             TOTAL_TO_GM, unit "throughput(MB/s)": drawn as counters. A sample at 0 is not shown.
 *   documents BIN_SOURCE with path and text for each source file: then lines get numbers too
 *             (API_FILE), for runs whose `code` has that path. Tables that are there (API_INSTR,
 *             API_FILE) are written as they are, when the whole capture is; else they are made of
 *             the slices. Other blocks are carried along.
 *   facts     kind "incore"; device_name: the chip ("Ascend910B1"), whose clock turns nanoseconds
 *             into the cycles of tables when clock.hz is not a core clock.
 *   origin    ORIGIN_SIMULATED.
 */
#ifndef STRATA_RENDER_INSIGHT_H
#define STRATA_RENDER_INSIGHT_H

#include "base/diag.h"
#include "render/timelines/timeline.h"

/* The cores of a cut: processes of its pipes, in the order they are drawn. `out` lives in `arena`.
 * Gives how many. */
size_t insight_cores(const struct cut *cut, struct arena *arena, strid **out);

/* All of these give false when the sink failed or the user interrupted. */
bool insight_write_trace(const struct cut *cut, const struct timeline_options *options,
                         struct sink out);
bool insight_write_core_trace(const struct cut *cut, strid core, struct sink out);
bool insight_write_instr_exe(const struct cut *cut, strid core, struct sink out);
bool insight_write_code_exe(const struct cut *cut, strid core, struct sink out);

/* A part of the text that insight_pieces() writes. */
struct insight_part {
    uint32_t at, n; /* from the event's `at` */
};

/* An event of the trace: a slice, a flag (whose two ends are one here), or a sample. */
struct insight_event {
    enum { INSIGHT_SLICE, INSIGHT_FLAG, INSIGHT_SAMPLE } type;
    struct str core, pipe, name;                                  /* of a sample nothing */
    struct str detail;                                            /* of a flag */
    double begin, end;                                            /* microseconds, as in the text */
    double length;                                                /* of a slice */
    uint64_t at, n;                                               /* its pieces in the text */
    struct insight_part name_text, begin_text, length_text, args; /* of a slice: JSON */
};

/* Hands out the events of trace.json in its order. What a reader of it would copy is written to
 * `out`, and nothing else. */
void insight_pieces(const struct cut *cut, struct sink out,
                    void (*take)(void *ctx, const struct insight_event *e), void *ctx);

/* Makes a new folder OPPROF_<YYYYMMDDHHMMSS>_<16 letters> below `root`. The letters follow from
 * `seed` (the kernel's text, options, workload), the time from now_text(); a folder that is there
 * is not used again: the next free second is. */
enum status insight_folder_make(const char *root, struct str seed, struct arena *arena,
                                struct diag *d, const char **out);

/* A file that stands beside the trace, made with it: what the writer knows besides. */
struct insight_beside {
    const char *name; /* NULL: none */
    struct str text;
};

/* Writes the files into `folder`, which is made. A core whose name is no name for a folder is
 * warned of and gets no files of its own. `wrote` is filled in order, also on failure; vec_free()
 * it. */
enum status insight_folder_write(const struct capture *cap, const char *folder,
                                 struct insight_beside beside, struct arena *arena, struct diag *d,
                                 struct words *wrote);

/* The table of instructions as JSON (API_INSTR); nothing when there is none. */
void insight_write_table(const struct cut *cut, struct sink out);

#endif
