// What is unpacked so far: lanes with rows, dictionaries, gaps and arrows of every set.
import { Arrows, Gaps, LaneData, Part } from './job';
import { Dictionary, Model } from './model';
import { DETAIL } from './live/tiles';
import { bucketRow, FAMILIES, Row } from './rows';

export interface Place {
    row: Row;
    k: number; // position in the row
}

// Rows of a lane from the capture itself, for a part of the time.
export interface Detail {
    from: number;
    to: number;
    rows: Row[];
}

export class Store {
    readonly dictionaries: (Dictionary | undefined)[] = [];
    readonly gaps: (Gaps | undefined)[] = [];
    readonly arrows: (Arrows | undefined)[] = [];
    readonly errors: string[] = [];
    isDone = false;
    private readonly laneData: (LaneData | undefined)[][];
    private readonly groupRows: (Row | undefined)[][];
    private readonly laneBuckets: (Row | undefined)[][]; // of the overview
    private readonly details: Map<number, Detail>[];
    private readonly names: string[][] = [];
    private readonly listeners: (() => void)[] = [];
    private readonly detailListeners: (() => void)[] = [];

    constructor(readonly model: Model) {
        this.laneData = model.sets.map(() => []);
        this.groupRows = model.sets.map(() => []);
        this.laneBuckets = model.sets.map(() => []);
        this.details = model.sets.map(() => new Map<number, Detail>());
    }

    // Shares by lane, 8 families after each other, of the lanes in the overview of each set.
    takeOverview(bytes: Uint8Array): void {
        const lanes = this.model.sets.reduce((n, set) => n + set.overview.length, 0);
        const size = lanes > 0 ? bytes.length / lanes : 0;
        if (size === 0 || size % FAMILIES !== 0) return;
        let at = 0;
        this.model.sets.forEach((set, k) => {
            const byGroup = new Map<number, Uint8Array[]>();
            for (const lane of set.overview) {
                const shares = bytes.subarray(at, (at += size));
                const group = set.lanes[lane]?.group ?? -1;
                byGroup.set(group, [...(byGroup.get(group) ?? []), shares]);
                this.laneBuckets[k][lane] = bucketRow([shares], set.to);
            }
            for (const [group, shares] of byGroup) this.groupRows[k][group] ??= bucketRow(shares, set.to);
        });
        for (const act of [...this.listeners]) act();
    }

    onPart(act: () => void): void {
        this.listeners.push(act);
    }

    // Called when details of some lanes came.
    onDetail(act: () => void): void {
        this.detailListeners.push(act);
    }

    tellDetail(): void {
        for (const act of [...this.detailListeners]) act();
    }

    off(): void {
        this.detailListeners.length = 0;
        this.listeners.length = 0;
    }

    take(part: Part): void {
        if (part.part === 'dictionary') {
            const d = part.dictionary;
            this.dictionaries[part.set] = d;
            this.names[part.set] = d.name.map((text) => d.texts[text]);
        } else if (part.part === 'lane') this.laneData[part.data.set][part.data.lane] = part.data;
        else if (part.part === 'group') this.groupRows[part.set][part.group] = part.row;
        else if (part.part === 'gaps') this.gaps[part.set] = part.gaps;
        else if (part.part === 'arrows') this.arrows[part.set] = part.arrows;
        else if (part.part === 'error') this.errors.push(part.text);
        else this.isDone = true;
        for (const act of [...this.listeners]) act();
    }

    lane(set: number, lane: number): LaneData | undefined {
        return this.laneData[set]?.[lane];
    }

    // What is drawn: details where they are there, else what the page holds.
    rows(set: number, lane: number): Row[] {
        return this.details[set]?.get(lane)?.rows ?? this.lane(set, lane)?.rows ?? [];
    }

    hasDetail(set: number, lane: number): boolean {
        return this.details[set].has(lane);
    }

    setDetail(set: number, lane: number, detail: Detail): void {
        this.details[set].set(lane, detail);
    }

    // Drops the details that `isOut` tells; true when there were some.
    dropDetails(isOut: (set: number, from: number, to: number) => boolean): boolean {
        let isAny = false;
        this.details.forEach((lanes, set) => lanes.forEach((detail, lane) => {
            if (!isOut(set, detail.from, detail.to)) return;
            lanes.delete(lane);
            isAny = true;
        }));
        return isAny;
    }

    // A lane of the overview.
    buckets(set: number, lane: number): Row | null {
        return this.laneBuckets[set]?.[lane] ?? null;
    }

    // The union of a group's lanes.
    group(set: number, group: number): Row | null {
        return this.groupRows[set]?.[group] ?? null;
    }

    name(set: number, what: number): string {
        return this.names[set]?.[what] ?? '';
    }

    namesOf(set: number): string[] {
        return this.names[set] ?? [];
    }

    text(set: number, column: 'shapes' | 'types', what: number): string {
        const d = this.dictionaries[set];
        return d ? d.texts[d[column][what]] ?? '' : '';
    }

    kind(set: number, what: number): number {
        return this.dictionaries[set]?.kind[what] ?? 0;
    }

    // Where item `index` of a lane is drawn.
    place(set: number, lane: number, index: number): Place | null {
        for (const row of index >= DETAIL ? this.rows(set, lane) : this.lane(set, lane)?.rows ?? []) {
            let low = 0;
            let high = row.index.length;
            while (low < high) {
                const mid = (low + high) >>> 1;
                if (row.index[mid] < index) low = mid + 1;
                else high = mid;
            }
            if (row.index[low] === index) return { row, k: low };
        }
        return null;
    }

    // Lane and index of an item number of the set.
    item(set: number, item: number): { lane: number; index: number } | null {
        const lanes = this.model.sets[set].lanes;
        const lane = lanes.findIndex((l) => item >= l.first && item < l.first + l.n);
        return lane < 0 ? null : { lane, index: item - lanes[lane].first };
    }

    step(set: number, lane: number, index: number): number {
        if (index < DETAIL) return (this.lane(set, lane)?.columns.step[index] ?? 0) - 1;
        const at = this.place(set, lane, index);
        return at ? this.model.sets[set].steps.findIndex((step) => at.row.start[at.k] >= step.from && at.row.start[at.k] < step.to) : -1;
    }
}
