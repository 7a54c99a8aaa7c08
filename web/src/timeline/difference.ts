// The running difference of a comparison: how much later B starts the same work than A, both from their zero.
import { Row } from '../rows';
import { Range } from '../state';
import { Theme } from '../theme';
import { signed, time } from '../units';
import type { Frame } from './draw';
import { Placed } from './layout';

const LOOK_AHEAD = 32;

export interface Difference {
    t: number[]; // aligned time in B
    ns: number[]; // B - A
    onlyA: number[]; // items without a partner
    onlyB: number[];
}

function inside(row: Row, range: Range): number[] {
    const items: number[] = [];
    for (let k = 0; k < row.start.length; k++) if (row.start[k] >= range.from && row.start[k] < range.to) items.push(k);
    return items;
}

type SameName = (i: number, j: number) => boolean;

// The nearest pair of equal names from (i, j) on, as steps in A and B.
function nextMatch(i: number, j: number, isSame: SameName): [number, number] | null {
    for (let sum = 0; sum <= LOOK_AHEAD; sum++) {
        for (let p = 0; p <= sum; p++) if (isSame(i + p, j + sum - p)) return [p, sum - p];
    }
    return null;
}

// Walks both rows in order; at a mismatch the nearest equal name within a few items continues the walk.
export function difference(
    a: Row, b: Row, inA: Range, inB: Range, nameA: (k: number) => string, nameB: (k: number) => string,
): Difference {
    const listA = inside(a, inA);
    const listB = inside(b, inB);
    const out: Difference = { t: [], ns: [], onlyA: [], onlyB: [] };
    const isSame: SameName = (i, j) => i < listA.length && j < listB.length && nameA(listA[i]) === nameB(listB[j]);
    let i = 0;
    let j = 0;
    while (i < listA.length && j < listB.length) {
        const match = nextMatch(i, j, isSame);
        const [di, dj] = match ?? [1, 1];
        out.onlyA.push(...listA.slice(i, i + di));
        out.onlyB.push(...listB.slice(j, j + dj));
        i += di;
        j += dj;
        if (!match) continue;
        const t = b.start[listB[j]] - inB.from;
        out.t.push(t);
        out.ns.push(t - (a.start[listA[i]] - inA.from));
        i++;
        j++;
    }
    out.onlyA.push(...listA.slice(i));
    out.onlyB.push(...listB.slice(j));
    return out;
}

// A line around zero; below zero B is ahead.
export function drawDifference(
    c: CanvasRenderingContext2D, frame: Frame, theme: Theme, { track, top }: Placed, d: Difference,
): void {
    const { axis, layout } = frame;
    const height = track.rowHeight - 1;
    const most = d.ns.reduce((m, v) => Math.max(m, Math.abs(v)), 1);
    const y = (ns: number): number => top + height / 2 - (ns / most) * (height / 2 - 3);
    c.save();
    c.beginPath();
    c.rect(layout.gutter, top, layout.width - layout.gutter, height);
    c.clip();
    c.fillStyle = theme.line;
    c.fillRect(layout.gutter, top + height / 2, layout.width, 1);
    c.strokeStyle = theme.text;
    c.lineWidth = 1.5;
    c.beginPath();
    d.t.forEach((t, i) => {
        c.lineTo(layout.gutter + axis.x(t), y(d.ns[Math.max(i - 1, 0)]));
        c.lineTo(layout.gutter + axis.x(t), y(d.ns[i]));
    });
    c.stroke();
    const last = d.t.length - 1;
    if (last >= 0) {
        const text = signed(time(d.ns[last]));
        const x = Math.min(layout.gutter + axis.x(d.t[last]) + 6, layout.width - c.measureText(text).width - 6);
        c.fillStyle = theme.groundCss;
        c.fillRect(x - 3, top + 2, c.measureText(text).width + 6, 16);
        c.fillStyle = theme.text;
        c.fillText(text, x, top + 14);
    }
    c.restore();
}
