// Painting one row into pixels: a slice that covers whole columns is drawn as itself, any other column
// shows its exact busy time stacked by family.
import { addPart, busyBefore, busyBetween, FAMILIES, firstEndingAfter, Row } from './rows';

export interface Surface {
    pixels: Uint32Array;
    width: number;
    top: number; // lines above and from `bottom` on are left alone
    bottom: number;
}

// Part of the time axis: x = (t - from) / perPixel, in pixels of the surface from `left`.
export interface Window {
    from: number;
    perPixel: number;
    left: number;
    columns: number; // pixels wide; columns are `coarse` pixels each
    coarse: number;
}

export interface Label {
    x0: number;
    x1: number;
    slice: number;
}

const LABEL_FROM = 48;
const busy = new Float64Array(FAMILIES);

// Sums of neighbouring columns: where one ends the next begins, so each edge is looked up once.
class Edges {
    private before = new Float64Array(FAMILIES);
    private after = new Float64Array(FAMILIES);
    private known = -1; // the item that `before` is for

    constructor(private readonly row: Row) {}

    // Fills `busy` with the time by family within [t0, t1); i and j are the first items that end after t0 and t1.
    column(i: number, j: number, t0: number, t1: number): void {
        const { row } = this;
        if (row.bundle) {
            busy.fill(0);
            busyBetween(row, i, j, t0, t1, busy);
            return;
        }
        if (this.known !== i) busyBefore(row, i, this.before);
        if (j === i) busy.fill(0);
        else {
            busyBefore(row, j, this.after);
            for (let f = 0; f < FAMILIES; f++) busy[f] = this.after[f] - this.before[f];
            if (row.start[i] < t0) busy[row.family[i]] -= t0 - row.start[i];
            [this.before, this.after] = [this.after, this.before];
        }
        this.known = j;
        if (j < row.start.length && row.start[j] < t1) busy[row.family[j]] += t1 - Math.max(row.start[j], t0);
    }
}

export function fillSpan(s: Surface, x0: number, x1: number, y: number, h: number, ink: number): void {
    const { pixels, width } = s;
    const last = Math.min(y + h, s.bottom) * width;
    let at = Math.max(y, s.top) * width;
    if (x1 - x0 === 1) for (at += x0; at < last; at += width) pixels[at] = ink;
    else if (x1 - x0 >= 16) for (; at < last; at += width) pixels.fill(ink, at + x0, at + x1);
    else for (; at < last; at += width) for (let x = x0; x < x1; x++) pixels[at + x] = ink;
}

// Stacks families from the bottom; heights are rounded with the remainder carried, any work shows a pixel.
function fillColumn(s: Surface, x0: number, x1: number, y: number, h: number, perHeight: number, inks: Uint32Array, families: Uint8Array): void {
    let sum = 0;
    let bottom = y + h;
    for (let k = 0; k < families.length; k++) {
        const f = families[k];
        if (busy[f] <= 0) continue;
        sum += busy[f];
        let top = y + h - Math.round(sum * perHeight);
        if (top === y + h) top = y + h - 1;
        if (top < y) top = y;
        fillSpan(s, x0, x1, top, bottom - top, inks[f]);
        if (top < bottom) bottom = top;
    }
}

// `edge` are the inks of the separator at the end of a wide span. Returns spans wide enough for a name.
export function paintRow(
    s: Surface, w: Window, row: Row, y: number, h: number, inks: Uint32Array, edge: Uint32Array,
): Label[] {
    const labels: Label[] = [];
    const edges = new Edges(row);
    const n = row.start.length;
    const step = w.perPixel * w.coarse;
    const right = w.left + w.columns;
    let x = 0;
    const columns = Math.ceil(w.columns / w.coarse);
    let i = firstEndingAfter(row, w.from);
    while (x < columns && i < n) {
        const t0 = w.from + x * step;
        const t1 = t0 + step;
        const begin = row.start[i];
        const end = row.end[i];
        if (begin >= t1) {
            x = Math.max(x + 1, Math.floor((begin - w.from) / step));
            continue;
        }
        const x0 = w.left + x * w.coarse;
        if (begin <= t0 && end >= t1) {
            const past = Math.min(columns, Math.max(x + 1, Math.floor((end - w.from) / step)));
            const x1 = Math.min(right, w.left + past * w.coarse);
            const isBundle = row.bundle !== null && row.bundle[i] >= 0;
            const isEnd = past < columns && x1 - x0 >= 3;
            if (isBundle) {
                busy.fill(0);
                addPart(row, i, t0, t1, busy);
                fillColumn(s, x0, x1, y, h, h / step, inks, row.families);
            } else {
                fillSpan(s, x0, isEnd ? x1 - 1 : x1, y, h, inks[row.family[i]]);
                if (isEnd) fillSpan(s, x1 - 1, x1, y, h, edge[row.family[i]]);
            }
            if (x1 - x0 >= LABEL_FROM) labels.push({ x0, x1, slice: i });
            x = past;
            if (end <= w.from + x * step) i++;
            continue;
        }
        const j = firstEndingAfter(row, t1);
        edges.column(i, j, t0, t1);
        if (i < j) busy[row.family[i]] += Number.MIN_VALUE; // items of no length still show
        fillColumn(s, x0, Math.min(right, x0 + w.coarse), y, h, h / step, inks, row.families);
        x++;
        i = j;
    }
    return labels;
}
