// Statistics of a time range over whole items, exact to the nanosecond. A generator, so that it can run in pieces.
import { CAUSES } from './model';
import { addPart, FAMILIES, firstEndingAfter, Row } from './rows';
import { Store } from './store';

export interface Sum {
    what: number;
    set: number;
    count: number;
    sum: number; // ns within the range
}

export interface Stats {
    from: number;
    to: number;
    busy: number; // union
    sum: number;
    count: number;
    byWhat: Sum[]; // largest first
    byFamily: number[];
    idle: { cause: string; ns: number }[]; // largest first
    isRounded: boolean; // a bundle was cut at an edge
}

// Rows of one set with the range in its own time.
export interface Part {
    set: number;
    rows: Row[];
    from: number;
    to: number;
    hasGaps: boolean; // the first device is among the rows
}

function unionOf(starts: number[], ends: number[]): number {
    const from = Float64Array.from(starts).sort();
    const to = Float64Array.from(ends).sort();
    let busy = 0;
    for (let i = 0, open = 0, j = 0, begin = 0; j < to.length; ) {
        if (i < from.length && from[i] <= to[j]) {
            if (open++ === 0) begin = from[i];
            i++;
        } else {
            if (--open === 0) busy += to[j] - begin;
            j++;
        }
    }
    return busy;
}

class Tally {
    readonly sums = new Map<string, Sum>();
    readonly families = new Float64Array(FAMILIES);
    readonly starts: number[] = [];
    readonly ends: number[] = [];
    isRounded = false;

    constructor(private readonly store: Store, private readonly isBusy: (set: number, what: number) => boolean) {}

    add(part: Part, row: Row, k: number): void {
        const from = Math.max(row.start[k], part.from);
        const to = Math.min(row.end[k], part.to);
        const bundle = row.bundle ? row.bundle[k] : -1;
        const isCut = from > row.start[k] || to < row.end[k];
        if (bundle >= 0 && isCut) this.isRounded = true;
        const before = this.total();
        if (this.isBusy(part.set, row.what[k])) {
            this.starts.push(from - part.from);
            this.ends.push(to - part.from);
            addPart(row, k, part.from, part.to, this.families);
        }
        const key = part.set + ' ' + this.store.name(part.set, row.what[k]);
        const sum = this.sums.get(key) ?? { what: row.what[k], set: part.set, count: 0, sum: 0 };
        sum.count += bundle >= 0 && row.bundles ? row.bundles.more[bundle] + 1 : 1;
        sum.sum += bundle >= 0 ? this.total() - before : to - from;
        this.sums.set(key, sum);
    }

    private total(): number {
        return this.families.reduce((a, b) => a + b, 0);
    }
}

function idleBy(store: Store, parts: Part[]): Stats['idle'] {
    const by = new Map<string, number>();
    for (const part of parts) {
        const gaps = store.gaps[part.set];
        if (!gaps || !part.hasGaps) continue;
        for (let i = 0; i < gaps.start.length; i++) {
            const ns = Math.min(gaps.end[i], part.to) - Math.max(gaps.start[i], part.from);
            if (ns > 0) by.set(CAUSES[gaps.cause[i]], (by.get(CAUSES[gaps.cause[i]]) ?? 0) + ns);
        }
    }
    return [...by].map(([cause, ns]) => ({ cause, ns })).sort((a, b) => b.ns - a.ns);
}

export function* rangeStats(
    store: Store, parts: Part[], isBusy: (set: number, what: number) => boolean,
): Generator<void, Stats> {
    const tally = new Tally(store, isBusy);
    for (const part of parts) {
        for (const row of part.rows) {
            for (let k = firstEndingAfter(row, part.from); k < row.start.length && row.start[k] < part.to; k++) {
                tally.add(part, row, k);
                if (k % 1024 === 0) yield;
            }
        }
    }
    const byWhat = [...tally.sums.values()].sort((a, b) => b.sum - a.sum);
    return {
        from: parts[0]?.from ?? 0,
        to: parts[0]?.to ?? 0,
        busy: unionOf(tally.starts, tally.ends),
        sum: byWhat.reduce((a, b) => a + b.sum, 0),
        count: byWhat.reduce((a, b) => a + b.count, 0),
        byWhat,
        byFamily: [...tally.families],
        idle: idleBy(store, parts),
        isRounded: tally.isRounded,
    };
}
