// Where things are on the canvas, in CSS pixels.
import { Row } from '../rows';
import { Axis } from './axis';
import { Track } from './tracks';

export const AXIS_HEIGHT = 38;
export const BOX = 14; // check box of a lane

export interface Placed {
    track: Track;
    top: number;
    isPinned: boolean;
}

export interface Layout {
    width: number;
    height: number;
    gutter: number;
    split: number; // below the axis and the pinned tracks: the scrolled zone
    placed: Placed[];
    contentHeight: number; // of the scrolled zone
}

export function layOut(pinned: Track[], tracks: Track[], width: number, height: number, scroll: number): Layout {
    const gutter = width < 700 ? 112 : 216;
    const placed: Placed[] = [];
    let y = AXIS_HEIGHT;
    for (const track of pinned) {
        placed.push({ track, top: y, isPinned: true });
        y += track.height;
    }
    const split = pinned.length > 0 ? Math.min(y + 4, height) : AXIS_HEIGHT;
    y = split - scroll;
    for (const track of tracks) {
        if (y + track.height > split && y < height) placed.push({ track, top: y, isPinned: false });
        y += track.height;
    }
    return { width, height, gutter, split, placed, contentHeight: y - split + scroll };
}

export function trackAt(layout: Layout, y: number): Placed | null {
    if (y < AXIS_HEIGHT) return null;
    const isAbove = y < layout.split;
    return layout.placed.find((p) => p.isPinned === isAbove && y >= p.top && y < p.top + p.track.height) ?? null;
}

export function rowAt(placed: Placed, y: number): Row | null {
    return placed.track.rows[Math.floor((y - placed.top) / placed.track.rowHeight)] ?? null;
}

// The item within 2 px of x in a row, or -1.
export function itemAt(row: Row, axis: Axis, zero: number, x: number): number {
    const t = axis.t(x) + zero;
    const reach = 2 * axis.perPixel;
    let low = 0;
    let high = row.start.length;
    while (low < high) {
        const mid = (low + high) >>> 1;
        if (row.start[mid] <= t) low = mid + 1;
        else high = mid;
    }
    const before = low - 1;
    if (before >= 0 && row.end[before] > t) return before;
    const fromBefore = before >= 0 ? t - row.end[before] : Infinity;
    const toNext = low < row.start.length ? row.start[low] - t : Infinity;
    if (Math.min(fromBefore, toNext) > reach) return -1;
    return fromBefore <= toNext ? before : low;
}
