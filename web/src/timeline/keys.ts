// Keys of the timeline. WASD by position of the key, so that other keyboard layouts work.
import { CAUSES } from '../model';
import { firstEndingAfter } from '../rows';
import { Ref } from '../state';
import { t } from '../text';
import { time } from '../units';
import { bySize, gapOf } from './gaps';
import { arrowsOf } from './overlay';
import { Track } from './tracks';
import type { Timeline } from './view';

const ZOOM = 1.4;

export interface Commands {
    help(): void;
    table(): void;
    details(): void;
    focusSearch(): void;
    nextHit(by: number): void;
}

export class Keys {
    isOn = true; // single keys can be switched off
    private lastFit = 0;

    constructor(private readonly timeline: Timeline, private readonly commands: Commands) {
        timeline.stage.addEventListener('keydown', (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey || !this.isOn) return;
            if (this.press(event)) event.preventDefault();
        });
        timeline.stage.addEventListener('focus', () => this.focus());
        timeline.stage.addEventListener('blur', () => timeline.invalidate());
    }

    private press(event: KeyboardEvent): boolean {
        const byCode = this.codes[event.code];
        if (byCode) {
            byCode(event.shiftKey);
            return true;
        }
        const byKey = this.keys[event.key];
        if (byKey) byKey(event.shiftKey);
        return byKey !== undefined;
    }

    private readonly codes: { [code: string]: ((shift: boolean) => void) | undefined } = {
        KeyW: () => this.zoom(1 / ZOOM),
        KeyS: () => this.zoom(ZOOM),
        KeyA: (shift) => this.pan(shift ? -0.9 : -0.15),
        KeyD: (shift) => this.pan(shift ? 0.9 : 0.15),
        KeyF: () => this.fit(),
        KeyG: (shift) => this.gap(shift ? -1 : 1),
        KeyJ: () => this.step(1),
        KeyK: () => this.step(-1),
        KeyM: () => this.mark(),
        KeyP: () => this.pin(),
        KeyE: () => this.expand(),
        KeyT: () => this.commands.table(),
        KeyQ: () => this.commands.details(),
        KeyL: () => this.timeline.app.shared.set({ align: this.timeline.app.shared.state.align === 'first' ? 'step' : 'first' }),
        KeyR: () => this.timeline.app.shared.set({ align: this.timeline.app.shared.state.align === 'end' ? 'step' : 'end' }),
        Digit0: () => this.whole(),
    };

    private readonly keys: { [key: string]: ((shift: boolean) => void) | undefined } = {
        '+': () => this.zoom(1 / ZOOM),
        '=': () => this.zoom(1 / ZOOM),
        '-': () => this.zoom(ZOOM),
        ArrowLeft: (shift) => this.pan(shift ? -0.9 : -0.15),
        ArrowRight: (shift) => this.pan(shift ? 0.9 : 0.15),
        ArrowUp: () => this.row(-1),
        ArrowDown: () => this.row(1),
        Backspace: () => {
            this.timeline.axis.undo();
            this.timeline.moved();
        },
        ',': () => this.item(-1),
        '.': () => this.item(1),
        '[': () => this.follow(false),
        ']': () => this.follow(true),
        '/': () => this.commands.focusSearch(),
        Enter: (shift) => this.enter(shift),
        '?': () => this.commands.help(),
        Escape: () => this.clear(),
    };

    private focus(): void {
        if (this.timeline.cursor === '') this.row(1);
        this.timeline.invalidate();
    }

    private middle(): number {
        const { hover, layout, axis } = this.timeline;
        return hover && hover.x > layout.gutter ? axis.t(hover.x - layout.gutter) : (axis.from + axis.to) / 2;
    }

    private zoom(factor: number): void {
        this.timeline.axis.zoom(this.middle(), factor);
        this.timeline.moved();
    }

    private pan(share: number): void {
        const { axis } = this.timeline;
        axis.pan((axis.to - axis.from) * share);
        this.timeline.moved();
    }

    private whole(): void {
        this.timeline.axis.jump(this.timeline.axis.bounds);
        this.timeline.moved();
    }

    // Once: the selection; again: its step.
    private fit(): void {
        const { timeline } = this;
        const { state } = timeline.app.shared;
        const now = performance.now();
        const isAgain = now - this.lastFit < 600;
        this.lastFit = now;
        if (isAgain) {
            const step = this.stepOfSelection();
            if (step >= 0) timeline.fitStep(step);
            return;
        }
        const range = state.selected ? timeline.timeOf(state.selected) : null;
        const other = state.gap ?? state.range;
        if (range) timeline.fit(range, 0.2);
        else if (other) timeline.fit(timeline.aligned(other), 0.2);
        else if (state.step !== null) timeline.fitStep(state.step);
    }

    private stepOfSelection(): number {
        const { app } = this.timeline;
        const { selected, gap, range, step } = app.shared.state;
        if (selected) return app.store.step(selected.set, selected.lane, selected.index);
        const from = (gap ?? range)?.from;
        if (from !== undefined) return app.set.steps.findIndex((s) => s.from <= from && from < s.to);
        return step ?? -1;
    }

    private gap(by: number): void {
        const { timeline } = this;
        const { state } = timeline.app.shared;
        const gaps = bySize(timeline.gaps[state.set] ?? []);
        if (gaps.length === 0) return;
        const now = state.gap ? gapOf(gaps, state.gap) : null;
        const next = now ? gaps.indexOf(now) + by : 0;
        const gap = gaps[Math.min(Math.max(next, 0), gaps.length - 1)];
        timeline.selectGap(state.set, gap);
        timeline.fit(timeline.aligned(gap), 1);
        const columns = timeline.app.store.gaps[state.set];
        const longest = gap.pieces.reduce((best, i) => (columns && columns.end[i] - columns.start[i] > columns.end[best] - columns.start[best] ? i : best));
        const cause = columns ? timeline.app.word('idle.' + CAUSES[columns.cause[longest]]) : '';
        timeline.say(t('gap.said', { n: Math.max(next, 0) + 1, time: time(gap.to - gap.from), cause }));
    }

    private step(by: number): void {
        const { app } = this.timeline;
        const steps = app.set.steps;
        if (steps.length === 0) return;
        const now = app.shared.state.step;
        const next = Math.min(Math.max(now === null ? 0 : now + by, 0), steps.length - 1);
        app.shared.set({ step: next });
        this.timeline.fitStep(next);
    }

    private mark(): void {
        const { timeline } = this;
        const { selected, gap } = timeline.app.shared.state;
        const range = selected ? timeline.timeOf(selected) : null;
        if (range) timeline.app.shared.set({ range: timeline.unaligned(range) });
        else if (gap) timeline.app.shared.set({ range: gap });
        else timeline.app.shared.set({ range: timeline.unaligned(timeline.axis) });
    }

    private track(): Track | null {
        return this.timeline.tracks.list().find((track) => track.key === this.timeline.cursor) ?? null;
    }

    private row(by: number): void {
        const { timeline } = this;
        const list = timeline.tracks.list();
        const now = list.findIndex((track) => track.key === timeline.cursor);
        const next = list[Math.min(Math.max(now + by, 0), list.length - 1)];
        if (!next) return;
        timeline.cursor = next.key;
        const top = list.slice(0, list.indexOf(next)).reduce((y, track) => y + track.height, 0);
        const room = timeline.layout.height - timeline.layout.split;
        if (top < timeline.scroll) timeline.scrollBy(top - timeline.scroll);
        if (top + next.height > timeline.scroll + room) timeline.scrollBy(top + next.height - room - timeline.scroll);
        timeline.say(next.label);
        timeline.invalidate();
    }

    private enter(shift: boolean): void {
        const track = this.track();
        if (this.timeline.found) this.commands.nextHit(shift ? -1 : 1);
        else if (track?.canOpen) this.timeline.toggle(track.key);
    }

    private pin(): void {
        const track = this.track();
        const { selected } = this.timeline.app.shared.state;
        if (track && track.lane >= 0) this.timeline.togglePin(track.set, track.lane);
        else if (selected) this.timeline.togglePin(selected.set, selected.lane);
    }

    private expand(): void {
        const track = this.track();
        if (!track) return;
        const { timeline } = this;
        const lanes = timeline.tracks.list().filter((one) => one.kind === 'lane' && one.set === track.set && one.group === track.group);
        const isAllOpen = lanes.every((lane) => lane.isOpen || !lane.canOpen);
        for (const lane of lanes) if (lane.canOpen && lane.isOpen === isAllOpen) timeline.toggle(lane.key);
        if (track.kind === 'group' && !track.isOpen) timeline.toggle(track.key);
    }

    // The item beside the selected one in its row, else the first one in view on the row of the cursor.
    private item(by: number): void {
        const { timeline } = this;
        const { selected } = timeline.app.shared.state;
        const track = this.track();
        const place = selected ? timeline.app.store.place(selected.set, selected.lane, selected.index) : null;
        const isHere = selected && place && (!track || track.lane < 0 || track.lane === selected.lane);
        const lane = isHere ? selected.lane : track?.lane ?? -1;
        const set = isHere ? selected.set : track?.set ?? 0;
        const row = isHere ? place.row : track?.rows[0];
        if (!row || lane < 0) return;
        const k = isHere ? place.k + by : firstEndingAfter(row, timeline.axis.from + timeline.zeros[set]);
        if (k < 0 || k >= row.start.length) return;
        this.tell({ set, lane, index: row.index[k] });
    }

    private tell(ref: Ref): void {
        const { timeline } = this;
        timeline.select(ref);
        const place = timeline.app.store.place(ref.set, ref.lane, ref.index);
        if (!place) return;
        const { row, k } = place;
        const from = timeline.axis.from + timeline.zeros[ref.set];
        const to = timeline.axis.to + timeline.zeros[ref.set];
        const first = firstEndingAfter(row, from);
        let last = first;
        while (last < row.start.length && row.start[last] < to && last - first < 1000) last++;
        const name = timeline.app.store.name(ref.set, row.what[k]);
        const lane = timeline.app.model.sets[ref.set].lanes[ref.lane].name;
        timeline.say(t('item.said', { name, time: time(row.end[k] - row.start[k]), lane, n: k - first + 1, of: last - first }));
    }

    private follow(isForward: boolean): void {
        const { timeline } = this;
        const { selected } = timeline.app.shared.state;
        if (!selected) return;
        const arrow = arrowsOf(timeline.app, selected).find((a) => {
            const end = isForward ? a.from : a.to;
            return end.lane === selected.lane && end.index === selected.index;
        });
        if (arrow) this.tell(isForward ? arrow.to : arrow.from);
    }

    private clear(): void {
        const { shared } = this.timeline.app;
        const { selected, gap, range, query } = shared.state;
        if (selected || gap || range) shared.set({ selected: null, gap: null, range: null, lanes: [] });
        else if (query) shared.set({ query: '' });
        else this.timeline.stage.blur();
    }
}
