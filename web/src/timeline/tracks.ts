// The list of tracks from top to bottom: groups, their lanes and the idle row, as opened, closed and pinned.
import { App } from '../app';
import { Set } from '../model';
import { Row } from '../rows';

export type TrackKind = 'group' | 'lane' | 'idle' | 'difference';

export interface Track {
    key: string; // "set.g3" or "set.l7"
    kind: TrackKind;
    set: number;
    group: number;
    lane: number;
    label: string;
    isOpen: boolean;
    canOpen: boolean;
    isDevice: boolean;
    rows: Row[];
    picture?: Row | null; // drawn until the rows are there
    rowHeight: number;
    height: number;
}

const ROW = 20;
const HOST_ROW = 16;
const THIN_ROW = 14; // ranges over a device lane
const SPACE = 4;
const HEAD = 26;
const IDLE = 18;
const DIFFERENCE = 48;
const UNFOLDED = 4; // ranks that are shown in full at once

// Whether a group or lane is open: as the file says, turned over by the reader's list.
const isOpen = (byDefault: boolean, key: string, turned: string[]): boolean => byDefault !== turned.includes(key);

export const firstDevice = (set: Set): number => set.groups.findIndex((group) => group.kind === 'device' || group.kind === 'pipe');

export class Tracks {
    private kept: Track[] | null = null;
    private keptPins: Track[] | null = null;
    private stretch = 1;

    constructor(private readonly app: App) {}

    // To be called when groups open or close, lanes arrive or are pinned, or another set is chosen.
    reset(): void {
        this.kept = null;
        this.keptPins = null;
    }

    // Rows are drawn higher where the window has room; 1 is the usual height.
    setStretch(stretch: number): void {
        if (stretch !== this.stretch) this.reset();
        this.stretch = stretch;
    }

    list(): Track[] {
        return (this.kept ??= this.makeList());
    }

    pinned(): Track[] {
        return (this.keptPins ??= this.makePinned());
    }

    private makeList(): Track[] {
        const { model } = this.app;
        if (model.diff) return this.pairs();
        const chosen = this.chosen();
        if (chosen.length > 1 && chosen.length <= UNFOLDED) {
            const all = chosen.flatMap((set) => this.ofSet(set));
            return [...all.filter((track) => track.isDevice), ...all.filter((track) => !track.isDevice)];
        }
        return (chosen.length > 0 ? chosen : model.sets.map((_, set) => set)).flatMap((set) =>
            this.isFolded(set) ? [this.group(set, firstDevice(model.sets[set]), false)] : this.ofSet(set));
    }

    // Ranks that the reader chose.
    private chosen(): number[] {
        const { model, shared } = this.app;
        return shared.state.ranks.filter((set) => model.sets[set]);
    }

    // A rank that is one row: not the selected one, nor one of a few chosen.
    isFolded(set: number): boolean {
        const { model, shared } = this.app;
        const { length } = this.chosen();
        return !model.diff && model.sets.length > 1 && set !== shared.state.set && (length === 0 || length > UNFOLDED);
    }

    private makePinned(): Track[] {
        const { model, shared } = this.app;
        return shared.state.pins.flatMap((pin) => {
            const [set, lane] = pin.split('.').map(Number);
            return model.sets[set]?.lanes[lane] ? [this.lane(set, lane, true)] : [];
        });
    }

    private ofSet(set: number): Track[] {
        const { model, shared } = this.app;
        const s = model.sets[set];
        const device = firstDevice(s);
        return s.groups.flatMap((group, g) => {
            const open = isOpen(group.open, `${set}.g${g}`, shared.state.closed);
            const head = this.group(set, g, open);
            if (!open) return [head];
            const lanes = s.lanes.flatMap((lane, i) => (lane.group === g ? [this.lane(set, i, false)] : []));
            return [head, ...(g === device && s.gaps.length > 0 ? [this.idle(set, g)] : []), ...lanes];
        });
    }

    // A above B, lane by lane; lanes of B alone in the group of that name, or in one of their own. The running difference below the first device's lanes.
    private pairs(): Track[] {
        const { model, shared } = this.app;
        const [a, b] = model.sets;
        const tracks: Track[] = [];
        const device = firstDevice(a);
        const alone = (model.diff?.lanes ?? []).flatMap(([laneA, laneB]) => (laneA < 0 && b.lanes[laneB] ? [laneB] : []));
        const groupOf = (lane: number): number => {
            const { kind, name } = b.groups[b.lanes[lane].group];
            return a.groups.findIndex((group) => group.kind === kind && group.name === name);
        };
        a.groups.forEach((group, g) => {
            const open = isOpen(group.open, `0.g${g}`, shared.state.closed);
            tracks.push(this.group(0, g, open));
            if (!open) return;
            if (g === device) {
                [a, b].forEach((s, set) => {
                    if (s.gaps.length > 0) tracks.push(this.idle(set, firstDevice(s)));
                });
            }
            for (const [laneA, laneB] of model.diff?.lanes ?? []) {
                if (laneA < 0 || a.lanes[laneA]?.group !== g) continue;
                tracks.push(this.lane(0, laneA, false));
                if (b.lanes[laneB]) tracks.push(this.lane(1, laneB, false));
            }
            for (const laneB of alone) if (groupOf(laneB) === g) tracks.push(this.lane(1, laneB, false));
            if (g === device) tracks.push(this.difference(g));
        });
        b.groups.forEach((_, g) => {
            const lanes = alone.filter((lane) => b.lanes[lane].group === g && groupOf(lane) < 0);
            const open = isOpen(b.groups[g].open, `1.g${g}`, shared.state.closed);
            if (lanes.length > 0) tracks.push(this.group(1, g, open), ...(open ? lanes.map((lane) => this.lane(1, lane, false)) : []));
        });
        return tracks;
    }

    private mark(set: number): string {
        const { model } = this.app;
        if (model.diff) return set === 0 ? 'A · ' : 'B · ';
        return '';
    }

    private group(set: number, group: number, open: boolean): Track {
        const { model } = this.app;
        const s = model.sets[set];
        const rank = model.kind === 'ranks' && s.rank !== null ? `Rank ${s.rank} · ` : '';
        const row = open ? null : this.app.store.group(set, group);
        return {
            key: `${set}.g${group}`, kind: 'group', set, group, lane: -1,
            label: rank + (set > 0 ? this.mark(set) : '') + (s.groups[group]?.name ?? ''), isOpen: open, canOpen: true,
            isDevice: s.groups[group]?.kind === 'device', rows: row ? [row] : [], rowHeight: 12, height: HEAD,
        };
    }

    private idle(set: number, group: number): Track {
        return {
            key: `${set}.i${group}`, kind: 'idle', set, group, lane: -1, label: this.mark(set) + this.app.word('idle'),
            isOpen: true, canOpen: false, isDevice: true, rows: [], rowHeight: IDLE, height: IDLE + SPACE,
        };
    }

    private difference(group: number): Track {
        return {
            key: `1.d${group}`, kind: 'difference', set: 1, group, lane: -1, label: 'B − A', isOpen: true, canOpen: false,
            isDevice: true, rows: [], rowHeight: DIFFERENCE, height: DIFFERENCE + SPACE,
        };
    }

    private lane(set: number, lane: number, isPinned: boolean): Track {
        const { model, store, shared } = this.app;
        const s = model.sets[set];
        const l = s.lanes[lane];
        const key = `${set}.l${lane}`;
        const isHost = s.groups[l.group].kind === 'host';
        const open = isOpen(l.open, key, shared.state.closed);
        const rowHeight = l.kind === 'other' && !isHost ? THIN_ROW : Math.round((isHost ? HOST_ROW : ROW) * this.stretch);
        const rows = store.rows(set, lane);
        const shown = open ? Math.max(l.depth, 1) : 1;
        return {
            key, kind: 'lane', set, group: l.group, lane,
            label: this.mark(set) + (isPinned ? s.groups[l.group].name + ' · ' : '') + l.name,
            isOpen: open, canOpen: l.depth > 1, isDevice: s.groups[l.group].kind === 'device' || s.groups[l.group].kind === 'pipe',
            rows: rows.slice(0, shown), picture: rows.length > 0 ? null : store.buckets(set, lane), rowHeight, height: shown * rowHeight + SPACE,
        };
    }
}
