// Rows: the slices of a lane split by depth so that each row is disjoint and sorted, with prefix sums by
// family and an index grid. Built once, in the worker; a frame then costs the same whatever the slice count.

export const FAMILIES = 8;
const BLOCK = 8;
const MAX_CELLS = 16384;
const MAX_DEPTH = 512;

// Bundles stand for several short slices: `busy` ns by family instead of one family for the whole length.
export interface Bundles {
    more: Uint32Array; // slices beside the first, by bundle
    busy: Float64Array; // 8 to a bundle
}

// Items in lane order, sorted by (start, -duration). Times are integer nanoseconds since the origin.
export interface Columns {
    start: Float64Array;
    end: Float64Array;
    what: Uint32Array;
    step: Uint32Array; // place in the steps + 1, 0: none
    wait: Float64Array | null;
    bundle: Int32Array | null; // place in the bundles, -1: a slice
    bundles: Bundles | null;
}

export interface Row {
    lane: number;
    depth: number;
    start: Float64Array;
    end: Float64Array;
    what: Uint32Array;
    family: Uint8Array;
    index: Uint32Array; // position in the lane
    bundle: Int32Array | null;
    bundles: Bundles | null;
    sums: Float64Array; // busy ns by family before slice 8 b, at 8 b
    grid: Uint32Array; // first slice that ends after the cell's start
    cell: number; // ns a cell
    families: Uint8Array; // those that occur
}

export function makeRow(lane: number, depth: number, n: number, bundles: Bundles | null = null): Row {
    return {
        lane,
        depth,
        start: new Float64Array(n),
        end: new Float64Array(n),
        what: new Uint32Array(n),
        family: new Uint8Array(n),
        index: new Uint32Array(n),
        bundle: bundles ? new Int32Array(n) : null,
        bundles,
        sums: new Float64Array(0),
        grid: new Uint32Array(0),
        cell: 1,
        families: new Uint8Array(0),
    };
}

// Adds the busy ns of item i within [t0, t1). A bundle that is cut gives its part in proportion.
export function addPart(row: Row, i: number, t0: number, t1: number, into: Float64Array): void {
    const from = Math.max(row.start[i], t0);
    const to = Math.min(row.end[i], t1);
    if (to <= from) return;
    const b = row.bundle ? row.bundle[i] : -1;
    if (b < 0) {
        into[row.family[i]] += to - from;
        return;
    }
    const part = (to - from) / (row.end[i] - row.start[i]);
    for (let f = 0; f < FAMILIES; f++) into[f] += (row.bundles as Bundles).busy[b * FAMILIES + f] * part;
}

function addAll(row: Row, i: number, into: Float64Array): void {
    if (row.bundle) addPart(row, i, -Infinity, Infinity, into);
    else into[row.family[i]] += row.end[i] - row.start[i];
}

function buildSums(row: Row): void {
    const n = row.start.length;
    row.sums = new Float64Array((Math.floor(n / BLOCK) + 1) * FAMILIES);
    const running = new Float64Array(FAMILIES);
    for (let i = 0; i <= n; i++) {
        if (i % BLOCK === 0) row.sums.set(running, (i / BLOCK) * FAMILIES);
        if (i < n) addAll(row, i, running);
    }
    const seen = new Set<number>(row.family);
    running.forEach((ns, f) => ns > 0 && seen.add(f));
    row.families = Uint8Array.from(seen).sort();
}

function buildGrid(row: Row, length: number): void {
    const n = row.start.length;
    let cells = 1;
    while (cells < MAX_CELLS && cells * 4 < n) cells *= 2;
    row.cell = Math.max(1, Math.ceil((length + 1) / cells));
    row.grid = new Uint32Array(cells + 1);
    for (let c = 0, i = 0; c <= cells; c++) {
        while (i < n && row.end[i] <= c * row.cell) i++;
        row.grid[c] = i;
    }
}

// `length` is the time of the set's end.
export function finishRow(row: Row, length: number): Row {
    buildSums(row);
    buildGrid(row, length);
    return row;
}

// The depth of each item: how many earlier ones are still open when it starts. Deeper than the limit: not drawn.
function depthsOf(columns: Columns): { depth: Uint16Array; counts: number[] } {
    const n = columns.start.length;
    const depth = new Uint16Array(n);
    const open: number[] = [];
    const counts: number[] = [];
    for (let i = 0; i < n; i++) {
        while (open.length > 0 && open[open.length - 1] <= columns.start[i]) open.pop();
        const d = Math.min(open.length, MAX_DEPTH);
        depth[i] = d;
        counts[d] = (counts[d] ?? 0) + 1;
        if (d < MAX_DEPTH) open.push(columns.end[i]);
    }
    return { depth, counts: counts.slice(0, MAX_DEPTH) };
}

export function buildRows(lane: number, columns: Columns, familyOf: Uint8Array, length: number): Row[] {
    const { depth, counts } = depthsOf(columns);
    const rows = counts.map((n, d) => makeRow(lane, d, n, columns.bundles));
    const filled = new Uint32Array(rows.length);
    for (let i = 0; i < depth.length; i++) {
        const row = rows[depth[i]];
        if (!row) continue;
        const k = filled[depth[i]]++;
        row.start[k] = columns.start[i];
        row.end[k] = columns.end[i];
        row.what[k] = columns.what[i];
        row.family[k] = familyOf[columns.what[i]];
        row.index[k] = i;
        if (row.bundle) row.bundle[k] = (columns.bundle as Int32Array)[i];
    }
    return rows.map((row) => finishRow(row, length));
}

// The part of a row whose items satisfy `keep`, as a row of its own.
export function subRow(row: Row, keep: (k: number) => boolean, length: number): Row {
    const picked: number[] = [];
    for (let k = 0; k < row.start.length; k++) if (keep(k)) picked.push(k);
    const out = makeRow(row.lane, row.depth, picked.length, row.bundles);
    picked.forEach((k, i) => {
        out.start[i] = row.start[k];
        out.end[i] = row.end[k];
        out.what[i] = row.what[k];
        out.family[i] = row.family[k];
        out.index[i] = row.index[k];
        if (out.bundle && row.bundle) out.bundle[i] = row.bundle[k];
    });
    return finishRow(out, length);
}

// Items of a lane by start.
export interface Spans {
    start: Float64Array;
    end: Float64Array;
    what: Uint32Array;
}

// The lanes that have items left, as a heap by the start of their next one.
class Merge {
    private readonly heap: number[] = [];
    private readonly at: Uint32Array;

    constructor(private readonly lanes: Spans[]) {
        this.at = new Uint32Array(lanes.length);
        lanes.forEach((lane, l) => {
            if (lane.start.length > 0) this.heap.push(l);
        });
        for (let k = this.heap.length >> 1; k >= 0; k--) this.sink(k);
    }

    private isBefore(a: number, b: number): boolean {
        const difference = this.lanes[a].start[this.at[a]] - this.lanes[b].start[this.at[b]];
        return difference < 0 || (difference === 0 && a < b);
    }

    private sink(k: number): void {
        const { heap } = this;
        for (;;) {
            let least = k;
            for (let child = 2 * k + 1; child <= 2 * k + 2; child++) if (child < heap.length && this.isBefore(heap[child], heap[least])) least = child;
            if (least === k) return;
            [heap[k], heap[least]] = [heap[least], heap[k]];
            k = least;
        }
    }

    // Calls `act` for every item of every lane, by start.
    each(act: (lane: Spans, k: number) => void): void {
        const { heap, lanes, at } = this;
        while (heap.length > 0) {
            const l = heap[0];
            act(lanes[l], at[l]++);
            if (at[l] >= lanes[l].start.length) {
                const last = heap.pop() as number;
                if (heap.length > 0) heap[0] = last;
            }
            this.sink(0);
        }
    }
}

// One row for several lanes: the union of their busy time, each moment in the family of the item that began first.
export function unionRow(lanes: Spans[], familyOf: Uint8Array, isBusy: Uint8Array, length: number): Row {
    const most = lanes.reduce((n, lane) => n + lane.start.length, 0);
    const row = makeRow(-1, 0, most);
    let reached = -Infinity;
    let n = 0;
    new Merge(lanes).each((lane, k) => {
        if (lane.end[k] <= reached || !isBusy[lane.what[k]]) return;
        row.start[n] = Math.max(lane.start[k], reached);
        row.end[n] = reached = lane.end[k];
        row.family[n++] = familyOf[lane.what[k]];
    });
    const cut = { ...row, start: row.start.slice(0, n), end: row.end.slice(0, n), family: row.family.slice(0, n), what: row.what.slice(0, n), index: row.index.slice(0, n) };
    return finishRow(cut, length);
}

// A row of buckets, each with its share by family in parts of 255: what is painted before the items are there.
export function bucketRow(shares: Uint8Array[], length: number): Row {
    const buckets = shares[0].length / FAMILIES;
    const bundles: Bundles = { more: new Uint32Array(buckets), busy: new Float64Array(buckets * FAMILIES) };
    const row = makeRow(-1, 0, buckets, bundles);
    const width = length / buckets;
    for (let b = 0; b < buckets; b++) {
        row.start[b] = b * width;
        row.end[b] = (b + 1) * width;
        (row.bundle as Int32Array)[b] = b;
        const busy = bundles.busy.subarray(b * FAMILIES, (b + 1) * FAMILIES);
        for (const share of shares) for (let f = 0; f < FAMILIES; f++) busy[f] += (share[f * buckets + b] / 255) * width;
        const sum = busy.reduce((x, y) => x + y, 0);
        if (sum > width) busy.forEach((ns, f) => (busy[f] = (ns * width) / sum));
        row.family[b] = busy.indexOf(Math.max(...busy));
    }
    return finishRow(row, length);
}

// The first item that ends after t.
export function firstEndingAfter(row: Row, t: number): number {
    if (t < 0) return 0;
    const cells = row.grid.length - 1;
    const c = Math.floor(t / row.cell);
    let low = row.grid[Math.min(c, cells)];
    let high = c < cells ? row.grid[c + 1] : row.start.length;
    while (low < high) {
        const mid = (low + high) >>> 1;
        if (row.end[mid] <= t) low = mid + 1;
        else high = mid;
    }
    return low;
}

// Adds the busy ns by family of items [from, to) to `into`.
export function addBusy(row: Row, from: number, to: number, into: Float64Array): void {
    const b0 = Math.ceil(from / BLOCK);
    const b1 = Math.floor(to / BLOCK);
    if (b0 >= b1) {
        for (let i = from; i < to; i++) addAll(row, i, into);
        return;
    }
    const { sums, families } = row;
    for (let k = 0; k < families.length; k++) {
        const f = families[k];
        into[f] += sums[b1 * FAMILIES + f] - sums[b0 * FAMILIES + f];
    }
    for (let i = from; i < b0 * BLOCK; i++) addAll(row, i, into);
    for (let i = b1 * BLOCK; i < to; i++) addAll(row, i, into);
}

// Busy ns by family of all items before i.
export function busyBefore(row: Row, i: number, into: Float64Array): void {
    const b = Math.floor(i / BLOCK);
    for (let f = 0; f < FAMILIES; f++) into[f] = row.sums[b * FAMILIES + f];
    for (let k = b * BLOCK; k < i; k++) into[row.family[k]] += row.end[k] - row.start[k];
}

// The same within [t0, t1), where i and j are the first items that end after t0 and t1.
export function busyBetween(row: Row, i: number, j: number, t0: number, t1: number, into: Float64Array): void {
    if (i < j && row.start[i] < t0) addPart(row, i++, t0, t1, into);
    addBusy(row, i, j, into);
    if (j < row.start.length && row.start[j] < t1) addPart(row, j, t0, t1, into);
}

// Adds the busy ns by family within [t0, t1); exact but for bundles that an edge cuts.
export function busyWithin(row: Row, t0: number, t1: number, into: Float64Array): void {
    busyBetween(row, firstEndingAfter(row, t0), firstEndingAfter(row, t1), t0, t1, into);
}
