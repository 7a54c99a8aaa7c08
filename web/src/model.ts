// The data of the page. Made from src/page/page_data.def by tools/gen-page.

export interface Both {
    en: string;
    zh: string;
}

export type Words = Both | string;
export type Unit = 'text' | 'name' | 'code' | 'count' | 'ticks' | 'ns' | 'share' | 'change' | 'bytes' | 'bandwidth' | 'flops' | 'plain';

// row, lower half, from, to, family (-2: hatched), place in the names
export type Span = [number, number, number, number, number, number];

// Packed bytes: raw DEFLATE.
export interface Blob64 {
    at: [number, number, number]; // element d<n>, offset and length in what its base64 decodes to
    size: number; // bytes when inflated
}

// Items in columns, packed: inflated, columns one after the other; of width w, w planes of n bytes.
export interface Chunk {
    lane: number;
    n: number; // items, at most 65536
    first: number; // start
    end: number; // last end
    widths: number[]; // bytes of each column; 0: all zero
    at: [number, number, number]; // as of a blob
}

// Lanes that are shown together.
export interface Group {
    name: string;
    kind: 'device' | 'host' | 'comm' | 'pipe' | 'other';
    open: boolean; // shown at first
}

// A stream, thread or pipe.
export interface Lane {
    name: string;
    group: number; // place in groups
    kind: 'stream' | 'comm' | 'thread' | 'pipe' | 'other';
    open: boolean; // shown at first
    first: number; // its items: numbers first to first + n - 1 of the set
    n: number;
    slices: number; // that its items stand for
    depth: number; // rows needed
    busy: number; // union of all items
}

// Of more than 4000 steps id, from and to alone.
export interface Step {
    id: string;
    from: number;
    to: number;
    host?: [number, number] | null; // its marks
    by?: number[]; // by class, in the order of classes
    slow?: boolean;
    group?: number; // steps of equal work have one number
}

// Of the steps that count; of all together where they differ.
export interface StepMean {
    n: number;
    time: number;
    by: number[]; // by class
}

// One for each entry of the dictionary that is device work; by time times headroom, then by time.
export interface Kernel {
    what: number; // place in the dictionary
    name: string;
    op: string | null; // the operator that launched it
    family: number;
    kind: string; // one of KINDS
    shapes: string; // 8,1024;1024,4096
    types: string;
    count: number;
    total: number;
    mean: number;
    p95: number;
    max: number;
    wait: number | null;
    per_step: number;
    share: number; // of the sum of the kernels
    roof: number | null; // its time at the roof as a share of its time
    bound: 'compute' | 'memory' | null;
    headroom: number | null; // per step
    flops: number | null; // of a call
    bytes: number | null; // of a call
    trend: number[]; // time by step, at most 32 buckets
    at: [number, number]; // lane and index of the longest one
}

// A layer of a pass through the model.
export interface Layer {
    index: number;
    type: number | null; // place in types
    phase: string;
    from: number;
    to: number;
    busy: number;
    outlier: boolean; // longer than nine in ten of its type
}

// A pass through the model.
export interface Pass {
    name: number;
    partial: boolean;
    from: number;
    to: number;
    busy: number;
    layers: Layer[];
}

// Kernels of one name in a role.
export interface RoleOp {
    name: string;
    count: number;
    total: number;
}

// What a part of a layer is for.
export interface Role {
    name: string;
    wall: number;
    share: number;
    kernels: number;
    ops: RoleOp[];
}

// Layers of equal work.
export interface LayerType {
    name: string; // dense, moe, …
    phase: string;
    layers: string; // 0–2
    count: number;
    median: number;
    p90: number;
    roles: Role[];
}

// The model behind the kernels.
export interface Layers {
    summary: Both;
    passes: Pass[]; // as many as 2000 layers allow
    passes_total: number;
    types: LayerType[];
}

// A curve of at most 2000 points, which keep the least and the largest of each part.
export interface Counter {
    name: string;
    role: 'allocated' | 'reserved' | null;
    process: string;
    unit: string;
    n: number; // samples of the recording
    t: number[];
    v: number[];
}

// What lived at the peak, by what allocated it.
export interface MemoryUse {
    name: string;
    bytes: number;
    n: number; // blocks
}

// Memory that an allocator reserved at once.
export interface MemorySegment {
    bytes: number;
    blocks: [number, number][]; // bytes and place in uses of the snapshot; -1: not in use, -2: used by what is not listed
}

// The allocator at the end, of a memory snapshot; bytes.
export interface MemoryHeld {
    reserved: number;
    requested: number;
    rounding: number;
    inactive: number;
    fragmented: number;
    uses: MemoryUse[];
    segments_total: number;
    segments: MemorySegment[]; // the largest first, as many as 4000 blocks allow
}

// Memory of one allocator.
export interface MemoryPool {
    name: string;
    curves: Counter[];
    peak: number; // bytes
    at: number; // time of the peak
    before: number; // bytes of the peak that lived before the recording
    uses: MemoryUse[]; // what lived at the peak
    held?: MemoryHeld;
}

// Collectives of one name and group; null where not recorded.
export interface CommOp {
    name: string;
    group: string;
    count: number;
    bytes: number | null;
    total: number;
    transit: number | null;
    wait: number | null;
    bandwidth: number | null; // bytes per second
}

// Transfers between two ranks.
export interface Link {
    from: number;
    to: number;
    type: string;
    bytes: number | null;
    time: number | null;
    bandwidth: number | null; // bytes per second
}

// Communication.
export interface Comm {
    ops: CommOp[];
    links: Link[];
}

// What the device can do, for the roofline.
export interface DeviceInfo {
    name: string;
    source: string; // of the numbers
    flops: { [type: string]: number }; // per second
    bandwidth: number | null; // bytes per second
}

// One capture: one of each rank, two of a comparison.
export interface Set {
    name: string;
    rank: number | null;
    device: string | null;
    hz: number;
    unix: string | null; // time of the origin since 1970, ns, as text
    origin: string; // time of the origin on the clock of the files, ticks, as text
    clock?: [number, number]; // ahead of the clock of the first rank at the origin, ns, and its drift, ppm
    to: number; // end of the last slice; the origin is the begin of the first: 0
    simulated: boolean;
    slices: number; // of the capture
    items: number; // in the file, bundles counted once
    groups: Group[];
    lanes: Lane[];
    dictionary: Blob64; // a Dictionary as JSON
    chunks: Chunk[]; // slices
    arrows: Chunk[];
    gaps: Chunk[];
    overview: number[]; // lanes that are in the overview, in its order
    path?: [number, number, number][]; // critical path of a simulated kernel: lane, from, to; by time; at most 20 000 legs
    classes: string[]; // classes of the accounting that occur, in the order of the bar
    steps: Step[];
    step_mean: StepMean;
    is_pseudo: boolean; // no step marks: one window
    kernels: Kernel[]; // at most 1000
    kernels_total: number; // rows before that cut
    device_info: DeviceInfo | null;
    layers: Layers | null;
    counters: Counter[];
    memory: MemoryPool[];
    comm: Comm | null;
}

// Distinct (name, family, kind, shapes, types), by frequency; `what` of a slice is a place in these columns.
export interface Dictionary {
    texts: string[]; // valid UTF-8 without control characters, at most 4 KB each
    name: number[]; // place in texts; 0: none
    family: number[];
    kind: number[]; // place in KINDS
    shapes: number[]; // place in texts
    types: number[]; // place in texts
}

// Per step; the deltas add up to that of the comparison.
export interface DiffClass {
    id: string;
    a: number;
    b: number;
    delta: number;
    noise: boolean;
}

// Per step.
export interface DiffKernel {
    name: string;
    a: number;
    b: number;
    delta: number;
    calls: [number, number];
    noise: boolean;
    what: [number, number]; // its longest one in the dictionaries; -1: none
}

// Two captures compared.
export interface Diff {
    time: [number, number];
    delta: number;
    relative: number;
    matched: boolean; // the steps are of equal work
    noise: boolean;
    probability: number | null; // that equal programs differ so much
    classes: DiffClass[];
    kernels: DiffKernel[];
    lanes: [number, number][]; // pairs, by name and order; -1: no partner
    steps: [number, number][]; // the steps drawn side by side first; then all pairs
}

// What every part of a view has.
export interface AnyPart {
    title: Words | null;
    text: Words | null;
}

export interface Bar {
    label: Words;
    note: Words | null;
    value: number;
    before: number | null;
    family: number; // a colour; -1: none, -2: hatched
    link: string | null;
}

export interface BarsPart extends AnyPart {
    type: 'bars';
    unit: Unit;
    most: number; // full width
    stack: boolean; // parts of one bar
    saved: boolean; // with the change
    bars: Bar[];
}

export interface Column {
    head: Both;
    unit: Unit;
    bar: boolean; // drawn too
}

export interface TablePart extends AnyPart {
    type: 'table';
    columns: Column[];
    rows: (Words | number | null)[][];
    links: string[]; // by row; empty: none
}

export interface Point {
    name: Words;
    x: number;
    y: number;
    size: number;
    family: number;
    row: number | null; // of the first table of the view, as in the address `#v=ID&row=N`
}

export interface Curve {
    label: Words;
    points: [number, number][];
}

// Both axes are logarithmic.
export interface ChartPart extends AnyPart {
    type: 'chart';
    square: boolean; // the same scale
    xUnit: Unit;
    yUnit: Unit;
    xLabel: Both;
    yLabel: Both;
    points: Point[];
    curves: Curve[];
}

export interface Box {
    name: Words;
    from: number;
    to: number;
    at: number; // bytes
    size: number; // bytes
    family: number;
    row: number | null;
}

// Memory over time.
export interface MapPart extends AnyPart {
    type: 'map';
    name: Words;
    size: number; // bytes
    until: number; // end of time
    boxes: Box[];
}

// What the cells of a grid can show.
export interface Metric {
    name: Both;
    unit: Unit;
    ratio: boolean; // 1 is usual
    low: boolean; // the least is the worst
    values: (number | null)[]; // row by row
}

export interface GridPart extends AnyPart {
    type: 'grid';
    rows: Words[];
    rowsMarked: number[];
    columns: Words[];
    columnsMarked: number[];
    metrics: Metric[];
    links: string[]; // row by row; none at all: no cell has one
}

export interface Legend {
    label: Both;
    family: number;
}

// Rows over time.
export interface LanesPart extends AnyPart {
    type: 'lanes';
    rows: Words[];
    rowsMarked: number[];
    until: number;
    names: Words[];
    spans: Span[];
    path: Span[];
    legend: Legend[];
    first: number[]; // rows that the first screen shows
}

// A view of a result that is no capture.
export interface Panel {
    id: string; // path whatif source instructions waits buffers moved metrics pipes; limits roofline stalls hot opportunities kernels; errors coverage tables findings
    title: Both;
    parts: Part[];
}

// The headline.
export interface Verdict {
    id: string;
    text: Both;
    evidence: Both;
    confidence: Both;
    replay_error: number | null;
}

// A card: what would help, each by itself, as `strata diagnose` has it.
export interface Action {
    id: string;
    verb?: 'keep' | 'fix' | 'noise'; // of a comparison
    title: Both;
    evidence: Both;
    saving?: number;
    delta?: number; // of a comparison, in place of saving
    share: number;
    is_upper_bound: boolean;
    saving_bound: string;
    confidence: Both;
    link: string; // where the page shows it
    show: Both;
}

// Step time today and with all actions; savings overlap.
export interface Together {
    from: number;
    to: number;
}

// The whole.
export interface Model {
    format: string; // strata.page/1
    strata: string; // version of the program
    kind: 'capture' | 'compare' | 'ranks' | 'incore' | 'gpu' | 'database';
    title: string;
    facts: Both[]; // date, device, steps, slices: the title line
    verdict: Verdict;
    actions: Action[];
    together: Together | null;
    missing: Both[];
    thinned: Both | null;
    lead: number; // place of the set that the first screen is about
    view?: string; // shown at first
    redacted: boolean;
    words: { [id: string]: Both }; // labels of classes, family.0, state.queued, kind.compute, role.…
    sets: Set[]; // one; two of a comparison (A, B); one for each rank
    diff: Diff | null;
    panels: Panel[]; // views of results that are no captures
}

export type Part = BarsPart | TablePart | ChartPart | MapPart | GridPart | LanesPart;

export const KINDS = ['compute', 'comm', 'comm_part', 'aicpu', 'copy', 'wait', 'control', 'host_op', 'python', 'annotation', 'runtime', 'queue', 'gc', 'os', 'step', 'instr', 'memory', 'other'];

export const CAUSES = ['device_latency', 'device_dependency', 'sync', 'allocator', 'compile_load', 'copy_staging', 'launch', 'cpu_operator', 'input', 'python', 'untraced', 'start_up', 'unknown'];

export const STATES = ['queued', 'drained', 'host_slower', 'unlinked'];

export const ARROWS = ['launch', 'queue', 'backward', 'flag', 'other'];
