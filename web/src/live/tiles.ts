// Tiles: parts of lanes as `strata view` sends them (docs/view.md), put together to rows of what the timeline shows.
import { Bundles, buildRows, Columns, FAMILIES, finishRow, makeRow, Row } from '../rows';

const MAGIC = 0x31545453; // "STT1"
const HEAD = 32;
export const BUCKETS = 512;
const FULL = 65535;
const UNTIL_END = 0xffffffff;

export interface Tile {
    kind: 'empty' | 'columns' | 'slices';
    lane: number;
    level: number;
    from: number;
    to: number;
    shares: (Uint16Array | null)[]; // by family
    counts: Uint16Array;
    index: Uint32Array;
    start: Float64Array;
    end: Float64Array;
    what: Uint32Array;
    bytes: number;
}

const KINDS = ['empty', 'columns', 'slices'] as const;

function bodyOf(tile: Tile, view: DataView, at: number, n: number, mask: number): void {
    const words = (offset: number): Uint32Array => Uint32Array.from({ length: n }, (_, i) => view.getUint32(offset + 4 * i, true));
    const halves = (offset: number): Uint16Array => Uint16Array.from({ length: BUCKETS }, (_, i) => view.getUint16(offset + 2 * i, true));
    if (tile.kind === 'columns') {
        for (let f = 0; f < FAMILIES; f++) {
            if (((mask >> f) & 1) === 0) continue;
            tile.shares[f] = halves(at);
            at += 2 * BUCKETS;
        }
        tile.counts = halves(at);
    } else if (tile.kind === 'slices') {
        tile.index = words(at);
        tile.start = Float64Array.from(words(at + 4 * n), (ns) => tile.from + ns);
        tile.end = Float64Array.from(words(at + 8 * n), (ns, i) => (ns === UNTIL_END ? tile.to : tile.start[i] + ns));
        tile.what = words(at + 12 * n);
    }
}

// All tiles of an answer; throws when it is damaged.
export function readTiles(buffer: ArrayBuffer): Tile[] {
    const view = new DataView(buffer);
    const tiles: Tile[] = [];
    for (let at = 0; at < view.byteLength; ) {
        if (view.getUint32(at, true) !== MAGIC) throw new Error('not a tile');
        const level = view.getUint16(at + 6, true);
        const n = view.getUint32(at + 12, true);
        const from = Number(view.getBigInt64(at + 16, true));
        const bytes = view.getUint32(at + 28, true);
        const none = new Uint32Array(0);
        const tile: Tile = {
            kind: KINDS[view.getUint16(at + 4, true)] ?? 'empty', lane: view.getUint32(at + 8, true), level, from, to: from + BUCKETS * 2 ** level,
            shares: new Array(FAMILIES).fill(null) as null[], counts: new Uint16Array(0), index: none, start: new Float64Array(0), end: new Float64Array(0), what: none, bytes: bytes + HEAD,
        };
        bodyOf(tile, view, at + HEAD, n, view.getUint32(at + 24, true));
        tiles.push(tile);
        at += HEAD + bytes;
    }
    return tiles;
}

// Slices of neighbouring tiles, each once: one that reaches over the border is joined.
function joined(tiles: Tile[]): { columns: Columns; index: number[] } {
    const place = new Map<number, number>();
    const start: number[] = [];
    const end: number[] = [];
    const what: number[] = [];
    const index: number[] = [];
    for (const tile of tiles) for (let i = 0; i < tile.index.length; i++) {
        const known = place.get(tile.index[i]);
        if (known !== undefined) {
            end[known] = Math.max(end[known], tile.end[i]);
            continue;
        }
        place.set(tile.index[i], index.length);
        index.push(tile.index[i]);
        start.push(tile.start[i]);
        end.push(tile.end[i]);
        what.push(tile.what[i]);
    }
    const columns: Columns = {
        start: Float64Array.from(start), end: Float64Array.from(end), what: Uint32Array.from(what), step: new Uint32Array(0), wait: null, bundle: null, bundles: null,
    };
    return { columns, index };
}

// Numbers of slices in rows made of tiles begin here, so that they are not taken for items of the page.
export const DETAIL = 500_000_000;

function sliceRows(tiles: Tile[], lane: number, familyOf: Uint8Array, length: number, isPipe: boolean): Row[] {
    const { columns, index } = joined(tiles);
    const rows = buildRows(lane, columns, familyOf, length, isPipe);
    for (const row of rows) row.index = row.index.map((i) => DETAIL + index[i]);
    return rows;
}

// Buckets as bundles of one row: what they hold by family, with the number of slices that begin in each.
function bucketRows(tiles: Tile[], lane: number, length: number): Row[] {
    const n = tiles.length * BUCKETS;
    const bundles: Bundles = { more: new Uint32Array(n), busy: new Float64Array(n * FAMILIES) };
    const row = makeRow(lane, 0, n, bundles);
    tiles.forEach((tile, k) => {
        const width = 2 ** tile.level;
        for (let b = 0; b < BUCKETS; b++) {
            const at = k * BUCKETS + b;
            row.start[at] = tile.from + b * width;
            row.end[at] = row.start[at] + width;
            (row.bundle as Int32Array)[at] = at;
            bundles.more[at] = Math.max(0, (tile.counts[b] ?? 0) - 1);
            let most = 0;
            for (let f = 0; f < FAMILIES; f++) {
                const busy = ((tile.shares[f]?.[b] ?? 0) / FULL) * width;
                bundles.busy[at * FAMILIES + f] = busy;
                if (busy > most) {
                    most = busy;
                    row.family[at] = f;
                }
            }
        }
    });
    return [finishRow(row, length)];
}

// The rows of a lane over neighbouring tiles; null where the page's own rows show more.
export function rowsOf(tiles: Tile[], lane: number, familyOf: Uint8Array, length: number, isPipe: boolean, depth: number): Row[] | null {
    if (tiles.every((tile) => tile.kind !== 'columns')) return sliceRows(tiles, lane, familyOf, length, isPipe);
    if (depth > 1 || tiles.some((tile) => tile.kind === 'slices')) return null;
    return bucketRows(tiles, lane, length);
}
