// The data of the page as docs/page-data.md describes it.

export interface Both {
    en: string;
    zh: string;
}

export interface Blob64 {
    at: [number, number, number];
    size: number;
}

export interface Chunk {
    at: [number, number, number];
    n: number;
    widths: number[];
    first: number;
    lane: number;
    end: number;
}

export interface Lane {
    name: string;
    group: number;
    kind: 'stream' | 'comm' | 'thread' | 'pipe' | 'other';
    open: boolean;
    first: number;
    n: number;
    slices: number;
    depth: number;
    busy: number;
}

export interface Group {
    name: string;
    kind: 'device' | 'host' | 'comm' | 'pipe' | 'other';
    open: boolean;
}

export interface Step {
    id: string;
    from: number;
    to: number;
    host?: [number, number] | null; // these not of very many steps
    by?: number[];
    slow?: boolean;
    group?: number;
}

export interface Kernel {
    what: number;
    name: string;
    op: string | null;
    family: number;
    kind: string;
    shapes: string;
    types: string;
    count: number;
    total: number;
    mean: number;
    p95: number;
    max: number;
    wait: number | null;
    per_step: number;
    share: number;
    roof: number | null;
    bound: 'compute' | 'memory' | null;
    headroom: number | null;
    flops: number | null;
    bytes: number | null;
    trend: number[];
    at: [number, number];
}

export interface Layer {
    index: number;
    type: number;
    phase: string;
    from: number;
    to: number;
    busy: number;
    outlier: boolean;
}

export interface Pass {
    name: string;
    partial: boolean;
    from: number;
    to: number;
    busy: number;
    layers: Layer[];
}

export interface Role {
    name: string;
    wall: number;
    share: number;
    kernels: number;
    ops: { name: string; count: number; total: number }[];
}

export interface LayerType {
    name: string;
    phase: string;
    layers: string;
    count: number;
    median: number;
    p90: number;
    roles: Role[];
}

export interface Layers {
    summary: Both;
    passes: Pass[];
    types: LayerType[];
}

export interface Counter {
    name: string;
    role: 'allocated' | 'reserved' | null;
    process: string;
    unit: string;
    n: number;
    t: number[];
    v: number[];
}

// Memory of one allocator: its curves, and what lived at the peak.
export interface MemoryPool {
    name: string;
    curves: Counter[];
    peak: number;
    at: number;
    before: number; // bytes of the peak that lived before the recording
    uses: MemoryUse[];
    held?: { reserved: number; requested: number; rounding: number; inactive: number; fragmented: number; uses: MemoryUse[]; segments_total: number; segments: { bytes: number; blocks: [number, number][] }[] };
}

export interface MemoryUse {
    name: string;
    bytes: number;
    n: number;
}

export interface CommOp {
    name: string;
    group: string;
    count: number;
    bytes: number | null;
    total: number;
    transit: number | null;
    wait: number | null;
    bandwidth: number | null;
}

export interface Link {
    from: number;
    to: number;
    type: string;
    bytes: number | null;
    time: number | null;
    bandwidth: number | null;
}

export interface Set {
    name: string;
    rank: number | null;
    device: string | null;
    hz: number;
    unix: string | null;
    clock?: [number, number]; // ahead of the first rank's: ns at the origin, and ppm
    origin: string;
    to: number;
    simulated: boolean;
    slices: number;
    items: number;
    groups: Group[];
    lanes: Lane[];
    dictionary: Blob64;
    chunks: Chunk[];
    arrows: Chunk[];
    gaps: Chunk[];
    path?: [number, number, number][]; // the critical path of a kernel: lane, from, to; by time
    overview: number[];
    classes: string[];
    steps: Step[];
    step_mean: { n: number; time: number; by: number[] };
    is_pseudo: boolean;
    kernels: Kernel[];
    kernels_total: number;
    layers: Layers | null;
    counters: Counter[];
    memory: MemoryPool[];
    comm: { ops: CommOp[]; links: Link[] } | null;
    device_info: { name: string; source: string; flops: { [type: string]: number }; bandwidth: number | null } | null;
}

export interface DiffClass {
    id: string;
    family: number | null;
    a: number;
    b: number;
    delta: number;
    noise: boolean;
}

export interface DiffKernel {
    name: string;
    a: number;
    b: number;
    delta: number;
    calls: [number, number];
    noise: boolean;
    what: [number, number];
}

export interface Diff {
    time: [number, number];
    delta: number;
    relative: number;
    noise: boolean;
    probability: number | null;
    classes: DiffClass[];
    kernels: DiffKernel[];
    lanes: [number, number][];
    steps: [number, number][];
}

export type Words = Both | string;
export type Unit = 'text' | 'name' | 'code' | 'count' | 'ticks' | 'ns' | 'share' | 'change' | 'bytes' | 'bandwidth' | 'flops' | 'plain';

interface AnyPart {
    title: Words | null;
    text: Words | null;
}

export interface Bar {
    label: Words;
    note: Words | null;
    value: number;
    before: number | null;
    family: number; // -1: none, -2: hatched
    link: string | null;
}

export interface BarsPart extends AnyPart {
    type: 'bars';
    unit: Unit;
    most: number;
    stack: boolean;
    saved: boolean;
    bars: Bar[];
}

export interface TablePart extends AnyPart {
    type: 'table';
    columns: { head: Both; unit: Unit; bar: boolean }[];
    rows: (Words | number | null)[][];
    links: string[];
}

export interface Point {
    name: Words;
    x: number;
    y: number;
    size: number;
    family: number;
    row: number | null;
}

export interface ChartPart extends AnyPart {
    type: 'chart';
    square: boolean;
    xUnit: Unit;
    yUnit: Unit;
    xLabel: Both;
    yLabel: Both;
    points: Point[];
    curves: { label: Words; points: [number, number][] }[];
}

export interface MapPart extends AnyPart {
    type: 'map';
    name: Words;
    size: number;
    until: number;
    boxes: { name: Words; from: number; to: number; at: number; size: number; family: number; row: number | null }[];
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
    links: string[];
}

// row, lower half, from, to, family (-2: hatched), place in the names
export type Span = [number, number, number, number, number, number];

export interface LanesPart extends AnyPart {
    type: 'lanes';
    rows: Words[];
    rowsMarked: number[];
    until: number;
    names: Words[];
    spans: Span[];
    path: Span[];
    legend: { label: Both; family: number }[];
    first: number[];
}

export type Part = BarsPart | TablePart | ChartPart | MapPart | GridPart | LanesPart;

// A view of a result that is no capture.
export interface Panel {
    id: string;
    title: Both;
    parts: Part[];
}

export interface Model {
    format: string;
    strata: string;
    kind: 'capture' | 'compare' | 'ranks' | 'incore' | 'gpu' | 'database';
    title: string;
    facts: Both[];
    missing: Both[];
    thinned: Both | null;
    lead: number; // place of the set that the first screen is about
    view?: string; // shown at first
    redacted: boolean;
    words: { [id: string]: Both };
    sets: Set[];
    diff: Diff | null;
    panels: Panel[];
}

export const KINDS = [
    'compute', 'comm', 'comm_part', 'aicpu', 'copy', 'wait', 'control', 'host_op', 'python', 'annotation', 'runtime',
    'queue', 'gc', 'os', 'step', 'instr', 'other', 'memory',
];

export const CAUSES = [
    'device_latency', 'device_dependency', 'sync', 'allocator', 'compile_load', 'copy_staging', 'launch', 'cpu_operator', 'input',
    'python', 'untraced', 'start_up', 'unknown',
];

export const STATES = ['queued', 'drained', 'host_slower', 'unlinked'];
export const ARROWS = ['launch', 'queue', 'backward', 'flag', 'other'];

// Distinct (name, family, kind, shapes, types); `what` of a slice is a place in these columns.
export interface Dictionary {
    texts: string[];
    name: number[];
    family: number[];
    kind: number[];
    shapes: number[];
    types: number[];
}

const NOT_BUSY = ['wait', 'control', 'annotation', 'step'].map((kind) => KINDS.indexOf(kind));

// Waits, control slices and named ranges take no time of the device.
export const isBusyKind = (kind: number): boolean => !NOT_BUSY.includes(kind);
