// Mouse and touch on the timeline.
import { Row } from '../rows';
import { Range, Ref } from '../state';
import { gapAt } from './gaps';
import { AXIS_HEIGHT, BOX, itemAt, Placed, rowAt, trackAt } from './layout';
import type { Timeline } from './view';

const SNAP = 6; // px
const CLICK = 4; // px that a click may move
const LONG_PRESS = 450; // ms

type Mode = 'range' | 'pan' | 'zoom' | 'wait';

interface Gesture {
    mode: Mode;
    x: number;
    y: number;
    t: number;
    hasMoved: boolean;
}

export class Pointer {
    private gesture: Gesture | null = null;
    private readonly touches = new Map<number, { x: number; y: number }>();
    private pressTimer = 0;

    constructor(private readonly timeline: Timeline, private readonly openMenu: (x: number, y: number, ref: Ref | null, placed: Placed) => void) {
        const { stage } = timeline;
        stage.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
        stage.addEventListener('pointerdown', (event) => this.down(event));
        stage.addEventListener('pointermove', (event) => this.move(event));
        stage.addEventListener('pointerup', (event) => this.up(event));
        stage.addEventListener('pointercancel', (event) => this.cancel(event));
        stage.addEventListener('pointerleave', () => this.leave());
        stage.addEventListener('dblclick', (event) => this.fitUnder(this.at(event)));
        stage.addEventListener('contextmenu', (event) => this.menu(event));
    }

    private at(event: MouseEvent): { x: number; y: number } {
        const box = this.timeline.stage.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    }

    private timeAt(x: number): number {
        return this.timeline.axis.t(x - this.timeline.layout.gutter);
    }

    // The item under a point.
    under(point: { x: number; y: number }): { placed: Placed; row: Row | null; ref: Ref | null } | null {
        const { timeline } = this;
        const placed = trackAt(timeline.layout, point.y);
        if (!placed) return null;
        const { track } = placed;
        const row = track.kind === 'lane' ? rowAt(placed, point.y) : null;
        const k = row ? itemAt(row, timeline.axis, timeline.zeros[track.set], point.x - timeline.layout.gutter) : -1;
        return { placed, row, ref: row && k >= 0 ? { set: track.set, lane: track.lane, index: row.index[k] } : null };
    }

    private wheel(event: WheelEvent): void {
        const { timeline } = this;
        const scale = event.deltaMode === 1 ? 16 : 1;
        if (event.ctrlKey || event.metaKey) {
            timeline.axis.zoom(this.timeAt(this.at(event).x), Math.exp(Math.min(Math.max(event.deltaY * scale, -200), 200) / 300));
            timeline.moved();
            event.preventDefault();
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            timeline.axis.pan((event.deltaX || event.deltaY) * scale * timeline.axis.perPixel);
            timeline.moved();
            event.preventDefault();
        } else if (timeline.scrollBy(event.deltaY * scale)) event.preventDefault();
    }

    private down(event: PointerEvent): void {
        const point = this.at(event);
        if (event.pointerType === 'touch') this.touches.set(event.pointerId, point);
        this.timeline.stage.focus({ preventScroll: true });
        this.timeline.stage.setPointerCapture(event.pointerId);
        if (event.button > 1 || point.x < this.timeline.layout.gutter) {
            if (event.button === 0) this.clickHead(point);
            return;
        }
        const isTouch = event.pointerType === 'touch';
        const mode: Mode = event.altKey ? 'zoom' : event.shiftKey || event.button === 1 ? 'pan' : isTouch ? 'wait' : 'range';
        this.gesture = { mode, ...point, t: this.timeAt(point.x), hasMoved: false };
        if (isTouch) this.pressTimer = window.setTimeout(() => this.gesture && (this.gesture.mode = 'range'), LONG_PRESS);
        if (event.button === 1) event.preventDefault();
    }

    private move(event: PointerEvent): void {
        const { timeline } = this;
        const point = this.at(event);
        const known = this.touches.get(event.pointerId);
        if (known && this.touches.size === 2) {
            this.pinch(event.pointerId, known, point);
            return;
        }
        if (known) this.touches.set(event.pointerId, point);
        timeline.hover = point;
        timeline.invalidateMarks();
        const { gesture } = this;
        if (!gesture) return;
        if (!gesture.hasMoved && Math.hypot(point.x - gesture.x, point.y - gesture.y) < CLICK) return;
        gesture.hasMoved = true;
        if (gesture.mode === 'wait') {
            clearTimeout(this.pressTimer);
            gesture.mode = 'pan';
        }
        if (gesture.mode === 'pan') {
            timeline.axis.pan(gesture.t - this.timeAt(point.x));
            if (known) timeline.scrollBy(known.y - point.y);
            timeline.moved();
        } else timeline.drag = this.rangeTo(gesture, point.x, point.y);
    }

    // Two fingers: what was under them stays under them.
    private pinch(id: number, before: { x: number; y: number }, now: { x: number; y: number }): void {
        const { axis } = this.timeline;
        const other = [...this.touches].find(([key]) => key !== id)?.[1];
        this.gesture = null;
        if (!other) return;
        const was = Math.abs(before.x - other.x);
        const is = Math.max(Math.abs(now.x - other.x), 8);
        axis.zoom(this.timeAt((now.x + other.x) / 2), Math.max(was, 8) / is);
        this.touches.set(id, now);
        this.timeline.moved();
    }

    private rangeTo(gesture: Gesture, x: number, y: number): Range {
        const a = this.snap(gesture.t, gesture.y);
        const b = this.snap(this.timeAt(x), y);
        return { from: Math.round(Math.min(a, b)), to: Math.round(Math.max(a, b)) };
    }

    // To the nearest edge of an item in the row within 6 px.
    private snap(t: number, y: number): number {
        const { timeline } = this;
        const placed = trackAt(timeline.layout, y);
        const row = placed && placed.track.kind === 'lane' ? rowAt(placed, y) : null;
        if (!placed || !row) return t;
        const zero = timeline.zeros[placed.track.set];
        const k = itemAt(row, timeline.axis, zero, timeline.axis.x(t));
        let [best, least] = [t, SNAP * timeline.axis.perPixel];
        for (const i of k < 0 ? [] : [k - 1, k, k + 1]) {
            if (i < 0 || i >= row.start.length) continue;
            for (const edge of [row.start[i] - zero, row.end[i] - zero]) {
                if (Math.abs(edge - t) < least) [best, least] = [edge, Math.abs(edge - t)];
            }
        }
        return best;
    }

    private up(event: PointerEvent): void {
        const { timeline } = this;
        clearTimeout(this.pressTimer);
        this.touches.delete(event.pointerId);
        const { gesture } = this;
        this.gesture = null;
        if (!gesture) return;
        const range = timeline.drag;
        timeline.drag = null;
        const point = this.at(event);
        if (!gesture.hasMoved) this.click(point);
        else if (gesture.mode === 'zoom' && range) timeline.fit(range, 0);
        else if (gesture.mode === 'range' && range && range.to > range.from) this.finishRange(range, gesture.y, point.y);
        timeline.invalidateMarks();
    }

    // The range counts the lanes it crosses.
    private finishRange(range: Range, y0: number, y1: number): void {
        const { timeline } = this;
        const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
        const crossed = timeline.layout.placed.filter(
            ({ track, top: y }) => track.kind === 'lane' && y + track.height > top && y <= bottom,
        );
        const lanes = [...new Set(crossed.map(({ track }) => `${track.set}.${track.lane}`))];
        timeline.app.shared.set({ range: timeline.unaligned(range), lanes, selected: null, gap: null });
    }

    private cancel(event: PointerEvent): void {
        this.touches.delete(event.pointerId);
        this.gesture = null;
        this.timeline.drag = null;
    }

    private leave(): void {
        this.timeline.hover = null;
        this.timeline.invalidateMarks();
    }

    private click(point: { x: number; y: number }): void {
        const { timeline } = this;
        const target = timeline.overlay.targets.find((a) => point.x >= a.x && point.y >= a.y && point.y < a.y + 17 && point.x < a.x + 320);
        if (target) {
            timeline.select(target.ref);
            return;
        }
        if (point.y < AXIS_HEIGHT) {
            this.clickStep(point.x);
            return;
        }
        const under = this.under(point);
        if (under?.ref) {
            timeline.select(under.ref);
            return;
        }
        const set = under?.placed.track.set ?? 0;
        const isDevice = under?.placed.track.isDevice ?? false;
        const gap = isDevice ? gapAt(timeline.gaps[set] ?? [], this.timeAt(point.x) + timeline.zeros[set]) : null;
        if (gap) timeline.selectGap(set, gap);
        else timeline.app.shared.set({ selected: null, gap: null, range: null });
    }

    private clickStep(x: number): void {
        const { app } = this.timeline;
        const t = this.timeAt(x) + (this.timeline.zeros[app.shared.state.set] ?? 0);
        const step = app.set.steps.findIndex((s) => s.from <= t && t < s.to);
        app.shared.set({ step: step < 0 || app.set.is_pseudo ? null : step });
    }

    private clickHead(point: { x: number; y: number }): void {
        const { timeline } = this;
        const placed = trackAt(timeline.layout, point.y);
        if (!placed) return;
        const { track } = placed;
        timeline.cursor = track.key;
        if (track.kind === 'lane' && point.x > timeline.layout.gutter - BOX - 12) timeline.toggleLane(track.set, track.lane);
        else if (track.canOpen) timeline.toggle(track.key);
        timeline.invalidate();
    }

    private fitUnder(point: { x: number; y: number }): void {
        const ref = this.under(point)?.ref;
        const range = ref ? this.timeline.timeOf(ref) : null;
        if (range) this.timeline.fit(range, 0.2);
    }

    private menu(event: MouseEvent): void {
        const under = this.under(this.at(event));
        if (!under || under.placed.track.kind !== 'lane') return;
        event.preventDefault();
        this.openMenu(event.clientX, event.clientY, under.ref, under.placed);
    }
}
