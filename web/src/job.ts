// What the worker does: unpack a set into lanes with rows, gaps and arrows. Runs on the page without a Worker.
import { isBusyKind } from './kinds';
import { Blob64, Chunk, Dictionary, Model, Set } from './model';
import { Bundles, buildRows, Columns, FAMILIES, Row, Spans, unionRow } from './rows';
import { bytesOf, fromPlanes, inflate, unzigzag } from './unpack';

export interface LaneData {
    set: number;
    lane: number;
    columns: Columns;
    rows: Row[];
}

// Columns of docs/page-data.md; items are numbers of the set, -1: none.
export interface Gaps {
    start: Float64Array;
    end: Float64Array;
    cause: Uint8Array;
    step: Uint32Array;
    number: Uint32Array;
    state: Uint8Array;
    ends: Int32Array;
    launch: Int32Array;
    filler: Int32Array;
    drain: Int32Array;
    task: Int32Array;
}

export interface Arrows {
    to: Uint32Array;
    from: Uint32Array;
    kind: Uint8Array;
}

export type Part =
    | { part: 'dictionary'; set: number; dictionary: Dictionary }
    | { part: 'lane'; data: LaneData }
    | { part: 'group'; set: number; group: number; row: Row }
    | { part: 'gaps'; set: number; gaps: Gaps }
    | { part: 'arrows'; set: number; arrows: Arrows }
    | { part: 'error'; text: string }
    | { part: 'done' };

export type Emit = (part: Part, transfer: ArrayBuffer[]) => void;

export interface UnpackJob {
    job: 'unpack';
    elements: string[];
    sets: Pick<Set, 'to' | 'dictionary' | 'chunks' | 'arrows' | 'gaps' | 'lanes'>[];
}

export const unpackJob = (model: Model, elements: string[]): UnpackJob => ({
    job: 'unpack',
    elements,
    sets: model.sets.map(({ to, dictionary, chunks, arrows, gaps, lanes }) => ({ to, dictionary, chunks, arrows, gaps, lanes })),
});

type Reader = (at: [number, number, number], size: number) => Promise<Uint8Array>;

function reader(elements: string[]): Reader {
    const decoded: (Uint8Array | undefined)[] = [];
    return ([element, offset, length], size) => {
        const bytes = (decoded[element] ??= bytesOf(elements[element] ?? ''));
        return inflate(bytes.subarray(offset, offset + length), size);
    };
}

// Sums deltas in place: each value becomes the sum of itself and all before it.
function summed(values: Float64Array): Float64Array {
    for (let i = 1; i < values.length; i++) values[i] += values[i - 1];
    return values;
}

async function columnsOf(read: Reader, chunk: Chunk): Promise<Float64Array[]> {
    const width = chunk.widths.reduce((a, b) => a + b, 0);
    if (chunk.widths.some((w) => w < 0 || w > 7) || chunk.n > 65536) throw new Error('a chunk has wrong widths');
    const bytes = await read(chunk.at, chunk.n * width);
    let offset = 0;
    return chunk.widths.map((w) => {
        const column = fromPlanes(bytes, offset, chunk.n, w);
        offset += chunk.n * w;
        return column;
    });
}

// Starts and ends from the columns gap (signed) and dur of a chunk.
function times(gap: Float64Array, dur: Float64Array, first: number, start: Float64Array, end: Float64Array, at: number): void {
    let before = first;
    unzigzag(gap);
    for (let i = 0; i < gap.length; i++) {
        start[at + i] = before + gap[i];
        before = start[at + i] + dur[i];
        end[at + i] = before;
    }
}

class LaneBuilder {
    readonly columns: Columns;
    private at = 0;
    private readonly more: number[] = [];
    private readonly busy: number[] = [];

    constructor(n: number, private readonly familyOf: Uint8Array) {
        this.columns = {
            start: new Float64Array(n),
            end: new Float64Array(n),
            what: new Uint32Array(n),
            step: new Uint32Array(n),
            wait: null,
            bundle: null,
            bundles: null,
        };
    }

    add(chunk: Chunk, parts: Float64Array[]): void {
        const c = this.columns;
        const [gap, dur, what, step, wait, more, slack] = parts;
        if (this.at + chunk.n > c.start.length) throw new Error('a lane has more items than it says');
        times(gap, dur, chunk.first, c.start, c.end, this.at);
        c.what.set(what, this.at);
        c.step.set(summed(unzigzag(step)), this.at);
        if (wait && chunk.widths[4] > 0) (c.wait ??= new Float64Array(c.start.length)).set(wait, this.at);
        if (more && chunk.widths[5] > 0) this.addBundles(chunk.n, dur, more, slack, parts.slice(7));
        this.at += chunk.n;
    }

    private addBundles(n: number, dur: Float64Array, more: Float64Array, slack: Float64Array, families: Float64Array[]): void {
        const bundle = (this.columns.bundle ??= new Int32Array(this.columns.start.length).fill(-1));
        for (let i = 0; i < n; i++) {
            if (more[i] === 0) continue;
            bundle[this.at + i] = this.more.length;
            this.more.push(more[i]);
            const busy = Array.from({ length: FAMILIES }, (_, f) => families[f]?.[i] ?? 0);
            const rest = dur[i] - slack[i] - busy.reduce((a, b) => a + b, 0);
            busy[this.familyOf[this.columns.what[this.at + i]]] += rest;
            this.busy.push(...busy);
        }
    }

    finish(): Columns {
        if (this.at !== this.columns.start.length) throw new Error('a lane has fewer items than it says');
        if (this.columns.bundle) {
            const bundles: Bundles = { more: Uint32Array.from(this.more), busy: Float64Array.from(this.busy) };
            this.columns.bundles = bundles;
        }
        return this.columns;
    }
}

async function unpackLane(read: Reader, n: number, chunks: Chunk[], familyOf: Uint8Array): Promise<Columns> {
    const builder = new LaneBuilder(n, familyOf);
    for (const chunk of chunks) builder.add(chunk, await columnsOf(read, chunk));
    return builder.finish();
}

async function unpackGaps(read: Reader, chunks: Chunk[]): Promise<Gaps> {
    const n = chunks.reduce((sum, chunk) => sum + chunk.n, 0);
    const items = (): Int32Array => new Int32Array(n).fill(-1);
    const gaps: Gaps = {
        start: new Float64Array(n),
        end: new Float64Array(n),
        cause: new Uint8Array(n),
        step: new Uint32Array(n),
        number: new Uint32Array(n),
        state: new Uint8Array(n),
        ends: items(),
        launch: items(),
        filler: items(),
        drain: items(),
        task: items(),
    };
    let at = 0;
    for (const chunk of chunks) {
        const [gap, dur, cause, step, number, state, ...links] = await columnsOf(read, chunk);
        times(gap, dur, chunk.first, gaps.start, gaps.end, at);
        gaps.cause.set(cause, at);
        gaps.step.set(summed(unzigzag(step)), at);
        gaps.number.set(summed(unzigzag(number)), at);
        gaps.state.set(state, at);
        [gaps.ends, gaps.launch, gaps.filler, gaps.drain, gaps.task].forEach((into, k) => {
            if (links[k]) into.set(summed(unzigzag(links[k])).map((v) => v - 1), at);
        });
        at += chunk.n;
    }
    return gaps;
}

async function unpackArrows(read: Reader, chunks: Chunk[]): Promise<Arrows> {
    const n = chunks.reduce((sum, chunk) => sum + chunk.n, 0);
    const arrows = { to: new Uint32Array(n), from: new Uint32Array(n), kind: new Uint8Array(n) };
    let at = 0;
    for (const chunk of chunks) {
        const [to, from, kind] = await columnsOf(read, chunk);
        arrows.to.set(summed(to), at);
        arrows.from.set(summed(unzigzag(from)), at);
        arrows.kind.set(kind, at);
        at += chunk.n;
    }
    return arrows;
}

async function unpackDictionary(read: Reader, blob: Blob64): Promise<Dictionary> {
    return JSON.parse(new TextDecoder().decode(await read(blob.at, blob.size))) as Dictionary;
}

function buffersOf(rows: Row[], more: (ArrayBufferView | null)[] = []): ArrayBuffer[] {
    const arrays = [...more];
    for (const r of rows) arrays.push(r.start, r.end, r.what, r.family, r.index, r.bundle, r.sums, r.grid, r.families);
    return arrays.filter((a): a is ArrayBufferView => a !== null).map((a) => a.buffer as ArrayBuffer);
}

// A damaged part costs itself only.
async function guarded(emit: Emit, work: () => Promise<void>): Promise<void> {
    try {
        await work();
    } catch (error) {
        emit({ part: 'error', text: (error as Error).message }, []);
    }
}

// Lanes by group, those with open lanes first: a group's own row comes when its lanes are there.
function groupOrder(lanes: Set['lanes']): number[][] {
    const groups = new Map<number, number[]>();
    lanes.forEach((lane, i) => groups.set(lane.group, [...(groups.get(lane.group) ?? []), i]));
    const isOpen = (group: number[]): boolean => group.some((lane) => lanes[lane].open);
    return [...groups.values()].sort((a, b) => Number(isOpen(b)) - Number(isOpen(a)));
}

async function unpackSet(read: Reader, job: UnpackJob, k: number, emit: Emit): Promise<void> {
    const set = job.sets[k];
    const dictionary = await unpackDictionary(read, set.dictionary);
    emit({ part: 'dictionary', set: k, dictionary }, []);
    const familyOf = Uint8Array.from(dictionary.family);
    const isBusy = Uint8Array.from(dictionary.kind, (kind) => Number(isBusyKind(kind)));
    const chunks: Chunk[][] = set.lanes.map(() => []);
    for (const chunk of set.chunks) chunks[chunk.lane]?.push(chunk);
    for (const group of groupOrder(set.lanes)) {
        const spans: Spans[] = [];
        for (const lane of group) await guarded(emit, async () => {
            const columns = await unpackLane(read, set.lanes[lane].n, chunks[lane], familyOf);
            const rows = buildRows(lane, columns, familyOf, set.to, set.lanes[lane].kind === 'pipe');
            if (set.lanes[lane].kind !== 'other') spans.push(columns);
            // Rows hold the times; the columns keep what rows do not.
            const none = new Float64Array(0);
            const rest = { ...columns, start: none, end: none, what: new Uint32Array(0), bundle: null };
            emit({ part: 'lane', data: { set: k, lane, columns: rest, rows } }, buffersOf(rows, [rest.step, rest.wait]));
        });
        const row = unionRow(spans, familyOf, isBusy, set.to);
        emit({ part: 'group', set: k, group: set.lanes[group[0]].group, row }, buffersOf([row]));
    }
    await guarded(emit, async () => emit({ part: 'gaps', set: k, gaps: await unpackGaps(read, set.gaps) }, []));
    await guarded(emit, async () => emit({ part: 'arrows', set: k, arrows: await unpackArrows(read, set.arrows) }, []));
}

export async function unpack(job: UnpackJob, emit: Emit): Promise<void> {
    const read = reader(job.elements);
    for (let k = 0; k < job.sets.length; k++) await guarded(emit, () => unpackSet(read, job, k, emit));
    emit({ part: 'done' }, []);
}
