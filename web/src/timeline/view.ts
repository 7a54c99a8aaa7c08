// The timeline: one canvas for rows, one for marks, and what happens when the shared selection changes.
import { App } from '../app';
import { el, inPieces } from '../dom';
import { LaneDetails } from '../live/details';
import { Server } from '../live/server';
import { isBusyKind } from '../kinds';
import { Row } from '../rows';
import { Range, Ref, State } from '../state';
import { Part, rangeStats, Stats } from '../stats';
import { t } from '../text';
import { readTheme, Theme } from '../theme';
import { pairOf, zeros } from './align';
import { Axis } from './axis';
import { difference, Difference } from './difference';
import { Frame, Painter } from './draw';
import { Gap, gapsOf } from './gaps';
import { AXIS_HEIGHT, Layout, layOut } from './layout';
import { Minimap } from './minimap';
import { Arrow, arrowsOf, Overlay } from './overlay';
import { Found, search } from './search';
import { firstDevice, Tracks } from './tracks';

const REST = 120; // ms without movement until full resolution
const SLOW_FRAME = 12; // ms
const LEAST_HEIGHT = 180; // px
const MOST_HEIGHT = 900;
const MOST_STRETCH = 1.6;
const AROUND = 330; // bars above and details below

export class Timeline {
    readonly root: HTMLElement;
    readonly stage: HTMLElement;
    readonly toolbar: HTMLElement;
    readonly axis: Axis;
    readonly tracks: Tracks;
    readonly overlay: Overlay;
    layout: Layout;
    scroll = 0;
    hover: { x: number; y: number } | null = null;
    drag: Range | null = null;
    cursor = ''; // key of the track the keyboard is on
    found: Found | null = null;
    zeros: number[];
    gaps: Gap[][] = [];
    onFrame: () => void = () => undefined;
    onFound: () => void = () => undefined;
    private readonly painter: Painter;
    private readonly minimap: Minimap;
    private readonly live: HTMLElement;
    private theme: Theme;
    private difference: Difference | null = null;
    private differenceKey = '';
    private arrows: Arrow[] = [];
    private isPlanned = false;
    private isStale = true; // rows, not only marks
    private movedAt = 0;
    private coarse = 1;
    private restTimer = 0;
    private saidAt = 0;
    private sayTimer = 0;
    private fitted = 0; // height of the window that the rows were made for
    private readonly details: LaneDetails | null; // of a viewer
    private closerTimer = 0;

    constructor(readonly app: App) {
        this.theme = readTheme();
        this.zeros = zeros(app.model, app.store, app.shared.state);
        this.axis = new Axis(this.bounds());
        this.tracks = new Tracks(app);
        const rows = el('canvas', { class: 'rows', 'aria-hidden': 'true' });
        const marks = el('canvas', { class: 'marks', 'aria-hidden': 'true' });
        this.live = el('div', { class: 'sr-only', 'aria-live': 'polite' });
        this.stage = el('div', { class: 'stage', tabindex: 0, role: 'application', 'aria-label': t('timeline.describe') }, rows, marks);
        this.minimap = new Minimap(app, this);
        this.toolbar = el('div', { class: 'toolbar' });
        this.root = el('div', { class: 'timeline' }, this.toolbar, this.minimap.canvas, this.stage, this.live);
        this.painter = new Painter(rows, app);
        this.overlay = new Overlay(marks, app);
        this.layout = layOut([], [], 1, 1, 0);
        new ResizeObserver(() => this.invalidate()).observe(this.stage);
        this.details = app.server ? new LaneDetails(app, app.server) : null;
        app.store.onPart(() => this.onData());
        app.shared.on((state, before) => this.onState(state, before));
    }

    // Shows what the address asked for; called once when the data is complete too.
    start(): void {
        if (this.app.store.isDone) this.root.dataset.done = 'true';
        this.onState(this.app.shared.state, null);
    }

    bounds(): Range {
        const { sets } = this.app.model;
        return {
            from: Math.min(...sets.map((_, k) => -this.zeros[k])),
            to: Math.max(1, ...sets.map((set, k) => set.to - this.zeros[k])),
        };
    }

    restyle(): void {
        this.theme = readTheme();
        this.invalidate();
    }

    invalidate(): void {
        this.isStale = true;
        this.root.dataset.rest = 'false';
        this.plan();
    }

    invalidateMarks(): void {
        this.plan();
    }

    // Call after the axis moved: draws quickly now, sharply when at rest, and tells the other views.
    moved(): void {
        this.movedAt = performance.now();
        clearTimeout(this.restTimer);
        this.restTimer = window.setTimeout(() => this.rest(), REST);
        this.tellWindow();
        if (this.details?.leave(this.windows())) this.tracks.reset();
        this.invalidate();
    }

    // Whole nanoseconds, so that the address gives the same picture.
    private rest(): void {
        this.coarse = 1;
        this.axis.show({ from: Math.round(this.axis.from), to: Math.round(this.axis.to) });
        this.tellWindow();
        this.invalidate();
    }

    // What is shown, in the time of each set.
    private windows(): Range[] {
        return this.zeros.map((zero) => ({ from: this.axis.from + zero, to: this.axis.to + zero }));
    }

    // Asks the server, once at rest, for what the page does not hold.
    private lookCloser(): void {
        if (!this.details) return;
        clearTimeout(this.closerTimer);
        this.root.dataset.detail = 'false';
        this.closerTimer = window.setTimeout(() => this.fetchDetails(this.details as LaneDetails), REST);
    }

    private fetchDetails(details: LaneDetails): void {
        const lanes = [...this.tracks.pinned(), ...this.tracks.list()].filter((track) => track.kind === 'lane');
        if (details.leave(this.windows())) this.tracks.reset();
        void details.look(lanes, this.windows(), () => {
            this.app.store.tellDetail();
            this.tracks.reset();
            this.invalidate();
        }).then(() => (this.root.dataset.detail = 'true'));
    }

    private tellWindow(): void {
        const zero = this.zeros[this.app.shared.state.set] ?? 0;
        this.app.shared.set({ window: this.axis.isWhole ? null : { from: this.axis.from + zero, to: this.axis.to + zero } });
    }

    fit(range: Range, margin = 0.1): void {
        const extra = (range.to - range.from) * margin;
        this.axis.jump({ from: range.from - extra, to: range.to + extra });
        this.moved();
    }

    scrollBy(pixels: number): boolean {
        const most = Math.max(0, this.layout.contentHeight - (this.layout.height - this.layout.split));
        const before = this.scroll;
        this.scroll = Math.min(Math.max(this.scroll + pixels, 0), most);
        if (this.scroll !== before) this.invalidate();
        return this.scroll !== before;
    }

    toggle(key: string): void {
        const { closed } = this.app.shared.state;
        const set = Number(key.split('.')[0]);
        if (this.tracks.isFolded(set)) {
            this.app.shared.set({ set });
            return;
        }
        this.app.shared.set({ closed: closed.includes(key) ? closed.filter((k) => k !== key) : [...closed, key] });
    }

    togglePin(set: number, lane: number): void {
        const { pins } = this.app.shared.state;
        const pin = `${set}.${lane}`;
        this.app.shared.set({ pins: pins.includes(pin) ? pins.filter((k) => k !== pin) : [...pins, pin] });
    }

    toggleLane(set: number, lane: number): void {
        const { lanes } = this.app.shared.state;
        const key = `${set}.${lane}`;
        this.app.shared.set({ lanes: lanes.includes(key) ? lanes.filter((k) => k !== key) : [...lanes, key] });
    }

    select(ref: Ref | null): void {
        this.app.shared.set({ selected: ref, gap: null, ...(ref ? { set: ref.set } : {}) });
    }

    selectGap(set: number, gap: Gap): void {
        this.app.shared.set({ selected: null, set, gap: { from: gap.from, to: gap.to } });
    }

    // Aligned time of an item.
    timeOf(ref: Ref): Range | null {
        const place = this.app.store.place(ref.set, ref.lane, ref.index);
        if (!place) return null;
        const zero = this.zeros[ref.set];
        return { from: place.row.start[place.k] - zero, to: place.row.end[place.k] - zero };
    }

    aligned(range: Range): Range {
        const zero = this.zeros[this.app.shared.state.set] ?? 0;
        return { from: range.from - zero, to: range.to - zero };
    }

    unaligned(range: Range): Range {
        const zero = this.zeros[this.app.shared.state.set] ?? 0;
        return { from: range.from + zero, to: range.to + zero };
    }

    // At most twice a second, for screen readers.
    say(text: string): void {
        const wait = this.saidAt + 500 - performance.now();
        clearTimeout(this.sayTimer);
        this.sayTimer = window.setTimeout(() => {
            this.saidAt = performance.now();
            this.live.textContent = text;
        }, Math.max(wait, 0));
    }

    // Statistics of a range given in the time of the selected set, over the checked lanes.
    async statistics(range: Range): Promise<Stats> {
        const { model, store, shared } = this.app;
        const aligned = this.aligned(range);
        if (this.app.server) return this.exact(aligned);
        const parts: Part[] = model.sets.map((set, k) => {
            const device = firstDevice(set);
            const isCounted = (lane: number): boolean => {
                if (shared.state.lanes.length > 0) return shared.state.lanes.includes(`${k}.${lane}`);
                return k === shared.state.set && set.lanes[lane].group === device && set.lanes[lane].kind !== 'other';
            };
            const lanes = set.lanes.map((_, i) => i).filter(isCounted);
            return {
                set: k,
                rows: lanes.flatMap((lane) => store.lane(k, lane)?.rows ?? []),
                from: aligned.from + this.zeros[k],
                to: aligned.to + this.zeros[k],
                hasGaps: lanes.some((lane) => set.lanes[lane].group === device),
            };
        });
        return inPieces(rangeStats(store, parts.filter((part) => part.rows.length > 0), (set, what) => isBusyKind(store.kind(set, what))));
    }

    // The same by the engine, of the selected set.
    private exact(aligned: Range): Promise<Stats> {
        const { model, shared, server } = this.app;
        const { set } = shared.state;
        const s = model.sets[set];
        const device = firstDevice(s);
        const checked = shared.state.lanes.filter((key) => key.startsWith(set + '.')).map((key) => Number(key.split('.')[1]));
        const lanes = checked.length > 0 ? checked : s.lanes.flatMap((lane, i) => (lane.group === device && lane.kind !== 'other' ? [i] : []));
        const [from, to] = [Math.max(0, Math.round(aligned.from + this.zeros[set])), Math.round(aligned.to + this.zeros[set])];
        return (server as Server).statistics(set, lanes.slice(0, 64), from, Math.max(from + 1, to), lanes.some((lane) => s.lanes[lane].group === device));
    }

    private onData(): void {
        this.app.model.sets.forEach((_, set) => {
            const gaps = this.app.store.gaps[set];
            if (gaps && !this.gaps[set]) this.gaps[set] = gapsOf(gaps);
        });
        this.tracks.reset();
        this.fitted = 0;
        if (this.app.store.isDone) {
            this.start();
            this.lookCloser();
        }
        this.invalidate();
    }

    private onState(state: State, before: State | null): void {
        const changed = (key: keyof State): boolean => before === null || state[key] !== before[key];
        if (changed('closed') || changed('pins') || changed('set') || changed('ranks')) this.tracks.reset();
        if (changed('step') || changed('set') || changed('align')) this.realign();
        if (state.window && changed('window')) this.axis.show(this.aligned(state.window));
        if (!state.window && before?.window) this.axis.show(this.axis.bounds);
        if (changed('selected')) this.showSelected(state, before);
        if (state.gap && changed('gap') && !state.window) this.fit(this.aligned(state.gap), 1);
        if (state.step !== null && changed('step') && !state.window && !state.gap && !state.selected) this.fitStep(state.step);
        if (state.layer && changed('layer')) this.showLayer(state.layer);
        if (changed('query')) void this.search(state.query);
        if (changed('window') || changed('closed') || changed('pins') || changed('set') || changed('ranks')) this.lookCloser();
        this.invalidate();
    }

    private realign(): void {
        const { model, store, shared } = this.app;
        this.zeros = zeros(model, store, shared.state);
        this.axis.bounds = this.bounds();
        this.axis.show({ from: this.axis.from, to: this.axis.to });
    }

    fitStep(place: number): void {
        const step = this.app.set.steps[place];
        if (step) this.fit(this.aligned(step), 0.02);
    }

    private showLayer(layer: string): void {
        const [pass, index] = layer.split('.').map(Number);
        const found = this.app.set.layers?.passes[pass]?.layers[index];
        if (!found) return;
        this.app.shared.set({ layer: null, range: { from: found.from, to: found.to }, lanes: [] });
        this.fit(this.aligned(found), 0.15);
    }

    private showSelected(state: State, before: State | null): void {
        this.arrows = state.selected ? arrowsOf(this.app, state.selected) : [];
        if (!state.selected) return;
        this.reveal(state.selected);
        const range = this.timeOf(state.selected);
        const isSeen = range !== null && range.to > this.axis.from && range.from < this.axis.to;
        if (range && (!isSeen || (before === null && !state.window))) this.fit(range, 4);
    }

    // Opens and scrolls to the track of an item.
    private reveal(ref: Ref): void {
        const lane = this.app.model.sets[ref.set]?.lanes[ref.lane];
        if (!lane) return;
        const key = `${ref.set}.g${lane.group}`;
        const head = this.tracks.list().find((track) => track.key === key);
        if (head && !head.isOpen) this.toggle(key);
        const place = this.app.store.place(ref.set, ref.lane, ref.index);
        const laneKey = `${ref.set}.l${ref.lane}`;
        let y = 0;
        for (const track of this.tracks.list()) {
            if (track.key === laneKey) {
                if (place && place.row.depth > 0 && !track.isOpen) this.toggle(laneKey);
                const top = y + (place ? place.row.depth * track.rowHeight : 0);
                const room = this.layout.height - this.layout.split;
                if (top < this.scroll || top + track.rowHeight > this.scroll + room) this.scroll = Math.max(0, top - room / 2);
                this.cursor = laneKey;
            }
            y += track.height;
        }
    }

    private async search(query: string): Promise<void> {
        const found = await search(this.app, query);
        if (query !== this.app.shared.state.query) return;
        this.found = found;
        this.onFound();
        this.invalidate();
    }

    // The main lanes of both sets over the pair of steps side by side.
    private updateDifference(): void {
        const { model, store, shared } = this.app;
        const pair = pairOf(model, shared.state);
        if (!model.diff || !pair) return;
        const steps = [0, 1].map((set) => model.sets[set].steps[pair[set]]);
        const main = (model.diff.lanes ?? []).find(([a, b]) => a >= 0 && b >= 0 && model.sets[0].lanes[a].group === firstDevice(model.sets[0]));
        const lanes = main ? [store.lane(0, main[0])?.rows[0], store.lane(1, main[1])?.rows[0]] : [];
        const key = `${pair.join()} ${this.zeros.join()} ${store.isDone}`;
        if (!lanes[0] || !lanes[1] || !steps[0] || !steps[1] || key === this.differenceKey) return;
        this.differenceKey = key;
        const [a, b] = lanes as [Row, Row];
        const inA = { from: this.zeros[0], to: Math.max(steps[0].to, this.zeros[0] + 1) };
        const inB = { from: this.zeros[1], to: Math.max(steps[1].to, this.zeros[1] + 1) };
        this.difference = difference(a, b, inA, inB, (k) => store.name(0, a.what[k]), (k) => store.name(1, b.what[k]));
    }

    private plan(): void {
        if (this.isPlanned) return;
        this.isPlanned = true;
        requestAnimationFrame(() => {
            this.isPlanned = false;
            this.draw();
        });
    }

    frame(): Frame {
        const isMoving = performance.now() - this.movedAt < REST;
        return {
            axis: this.axis,
            layout: this.layout,
            zeros: this.zeros,
            hits: this.found ? this.found.rows : null,
            lanes: this.app.shared.state.lanes,
            cursor: document.activeElement === this.stage ? this.cursor : '',
            difference: this.difference,
            ratio: isMoving ? 1 : window.devicePixelRatio || 1,
            coarse: this.coarse,
        };
    }

    // As high as its tracks, within what the window leaves for it; a few tracks get higher rows.
    private fitHeight(): void {
        const most = Math.max(LEAST_HEIGHT, Math.min(innerHeight - AROUND, MOST_HEIGHT));
        const content = (): number => [...this.tracks.pinned(), ...this.tracks.list()].reduce((sum, track) => sum + track.height, AXIS_HEIGHT + 12);
        if (this.fitted !== innerHeight) this.tracks.setStretch(1);
        if (this.fitted !== innerHeight) this.tracks.setStretch(Math.min(Math.max((most - AXIS_HEIGHT) / content(), 1), MOST_STRETCH));
        this.fitted = innerHeight;
        const height = Math.round(Math.min(Math.max(content(), LEAST_HEIGHT), most));
        if (this.stage.clientHeight !== height) this.stage.style.height = height + 'px';
    }

    private draw(): void {
        const width = this.stage.clientWidth;
        if (width < 10) return;
        const began = performance.now();
        if (this.isStale) {
            this.updateDifference();
            this.fitHeight();
            this.layout = layOut(this.tracks.pinned(), this.tracks.list(), width, this.stage.clientHeight, this.scroll);
            this.axis.width = Math.max(1, width - this.layout.gutter);
            this.painter.paint(this.frame(), this.theme);
            this.minimap.paint(this.theme);
            this.isStale = false;
            if (this.layout.placed.some(({ track }) => track.picture)) this.root.dataset.overview = 'true';
            if (performance.now() - this.movedAt < REST && performance.now() - began > SLOW_FRAME) this.coarse = 2;
        }
        const { state } = this.app.shared;
        const step = state.step === null ? null : this.app.set.steps[state.step];
        this.overlay.paint(this.frame(), this.theme, {
            hover: this.hover,
            drag: this.drag,
            range: state.range && this.aligned(state.range),
            laid: this.app.laid.map((range) => this.aligned(range)),
            gap: state.gap && this.aligned(state.gap),
            selected: state.selected,
            alike: this.unmatched(),
            arrows: this.arrows,
            step: step ? { ...step, set: state.set } : null,
        });
        this.onFrame();
        this.root.dataset.rest = String(!this.isPlanned && performance.now() - this.movedAt >= REST);
    }

    private unmatched(): Ref[] {
        const main = this.app.model.diff?.lanes.find(([a, b]) => a >= 0 && b >= 0);
        if (!this.difference || !main || this.difference.onlyA.length + this.difference.onlyB.length > 400) return [];
        return [this.difference.onlyA, this.difference.onlyB].flatMap((items, set) => {
            const row = this.app.store.lane(set, main[set])?.rows[0];
            return row ? items.map((k) => ({ set, lane: main[set], index: row.index[k] })) : [];
        });
    }
}
