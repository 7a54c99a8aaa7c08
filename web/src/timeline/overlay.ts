// The transparent canvas on top: selection, range, cursor and arrows. Alone redrawn on hover.
import { App } from '../app';
import { DETAIL } from '../live/tiles';
import { ARROWS, Step } from '../model';
import { Range, Ref } from '../state';
import { Theme } from '../theme';
import { time } from '../units';
import { FONT, Frame } from './draw';
import { AXIS_HEIGHT, Layout, Placed } from './layout';

export interface Arrow {
    from: Ref;
    to: Ref;
    kind: string;
}

export interface Target extends Range {
    x: number;
    y: number;
    ref: Ref;
}

const MOST_ARROWS = 200;
const PATH_RISE = 5; // px above the lower edge of a lane
const LEG_STRIDE = 64; // legs that are not a pixel wide: every so many

// The first leg that ends after `t`.
function firstAfter(path: [number, number, number][], t: number): number {
    let low = 0;
    let high = path.length;
    while (low < high) {
        const mid = (low + high) >>> 1;
        if (path[mid][2] <= t) low = mid + 1;
        else high = mid;
    }
    return Math.max(0, low - 1);
}

// Arrows that begin or end at an item.
export function arrowsOf(app: App, ref: Ref): Arrow[] {
    const arrows = app.store.arrows[ref.set];
    const lane = app.model.sets[ref.set]?.lanes[ref.lane];
    if (!arrows || !lane || ref.index >= DETAIL) return [];
    const item = lane.first + ref.index;
    const found: Arrow[] = [];
    for (let i = 0; i < arrows.to.length && found.length < MOST_ARROWS; i++) {
        if (arrows.to[i] !== item && arrows.from[i] !== item) continue;
        const from = app.store.item(ref.set, arrows.from[i]);
        const to = app.store.item(ref.set, arrows.to[i]);
        if (!from || !to) continue;
        found.push({
            from: { set: ref.set, ...from }, to: { set: ref.set, ...to }, kind: ARROWS[arrows.kind[i]] ?? 'other',
        });
    }
    return found;
}

export interface Marks {
    hover: { x: number; y: number } | null;
    drag: Range | null; // aligned
    range: Range | null;
    laid: Range[]; // aligned
    gap: Range | null;
    selected: Ref | null;
    alike: Ref[]; // unmatched items of a comparison
    arrows: Arrow[];
    step: (Step & { set: number }) | null;
}

export class Overlay {
    private readonly context: CanvasRenderingContext2D;
    targets: Target[] = []; // ends of arrows outside the view, which jump on click

    constructor(private readonly canvas: HTMLCanvasElement, private readonly app: App) {
        this.context = canvas.getContext('2d') as CanvasRenderingContext2D;
    }

    paint(frame: Frame, theme: Theme, marks: Marks): void {
        const { layout } = frame;
        const ratio = window.devicePixelRatio || 1;
        const c = this.context;
        if (this.canvas.width !== Math.round(layout.width * ratio) || this.canvas.height !== Math.round(layout.height * ratio)) {
            this.canvas.width = Math.round(layout.width * ratio);
            this.canvas.height = Math.round(layout.height * ratio);
        }
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, layout.width, layout.height);
        c.font = FONT;
        c.save();
        c.beginPath();
        c.rect(layout.gutter, 0, layout.width - layout.gutter, layout.height);
        c.clip();
        this.drawPath(frame, theme);
        this.drawLaid(frame, theme, marks.laid);
        if (marks.range) this.drawRange(frame, theme, marks.range);
        if (marks.gap) this.drawRange(frame, theme, marks.gap);
        if (marks.drag) this.drawRange(frame, theme, marks.drag);
        for (const ref of marks.alike) this.outline(frame, ref, theme.text, 1, [3, 2]);
        this.targets = [];
        for (const arrow of marks.arrows) this.drawArrow(frame, theme, arrow, marks.selected);
        if (marks.selected) this.outline(frame, marks.selected, theme.text, 2, []);
        if (marks.hover && marks.hover.x > layout.gutter) this.drawCursor(layout, theme, marks.hover.x);
        c.restore();
    }

    // Results of a query, as bands over all lanes.
    private drawLaid(frame: Frame, theme: Theme, laid: Range[]): void {
        const { axis, layout } = frame;
        const c = this.context;
        c.fillStyle = theme.text;
        c.globalAlpha = 0.25;
        for (const { from, to } of laid) {
            if (to < axis.from || from > axis.to) continue;
            const x = layout.gutter + axis.x(from);
            c.fillRect(x, 0, Math.max(1, layout.gutter + axis.x(to) - x), layout.height);
        }
        c.globalAlpha = 1;
    }

    // The critical path: along the lanes, and from one to the next. Where several legs share a column, one line.
    private drawPath(frame: Frame, theme: Theme): void {
        const { axis, layout } = frame;
        const path = this.app.model.sets[0]?.path;
        if (!path) return;
        const y = new Map<number, number>();
        for (const { track, top } of layout.placed) if (track.set === 0 && track.lane >= 0 && !y.has(track.lane)) y.set(track.lane, top + track.height - PATH_RISE);
        const c = this.context;
        const trace = (): void => {
            let column = -1;
            let isDown = false;
            c.beginPath();
            for (let i = firstAfter(path, axis.from + frame.zeros[0]); i < path.length; i++) {
                const [lane, from, to] = path[i];
                const x0 = layout.gutter + axis.x(from - frame.zeros[0]);
                const x1 = layout.gutter + axis.x(to - frame.zeros[0]);
                const at = y.get(lane);
                if (x0 > layout.width) break;
                if (at === undefined || (Math.floor(x1) === column && i % LEG_STRIDE !== 0)) continue;
                column = Math.floor(x1);
                if (isDown) c.lineTo(x0, at);
                else c.moveTo(x0, at);
                c.lineTo(x1, at);
                isDown = true;
            }
            c.stroke();
        };
        c.lineJoin = 'round';
        c.strokeStyle = theme.groundCss; // a rim, so that the line stands out of any colour
        c.lineWidth = 5;
        trace();
        c.strokeStyle = theme.text;
        c.lineWidth = 3;
        trace();
    }

    private drawRange({ axis, layout }: Frame, theme: Theme, range: Range): void {
        const c = this.context;
        const x0 = layout.gutter + axis.x(range.from);
        const x1 = layout.gutter + axis.x(range.to);
        c.globalAlpha = 0.09;
        c.fillStyle = theme.accent;
        c.fillRect(x0, AXIS_HEIGHT, x1 - x0, layout.height);
        c.globalAlpha = 1;
        for (const x of [x0, x1]) c.fillRect(x - 0.5, 18, 1, layout.height);
        const text = time(range.to - range.from);
        const wide = c.measureText(text).width + 10;
        const middle = Math.min(Math.max((x0 + x1) / 2 - wide / 2, layout.gutter + 2), layout.width - wide - 2);
        c.fillRect(middle, 2, wide, 17);
        c.fillStyle = theme.groundCss;
        c.fillText(text, middle + 5, 14.5);
    }

    private drawCursor(layout: Layout, theme: Theme, x: number): void {
        this.context.globalAlpha = 0.5;
        this.context.fillStyle = theme.second;
        this.context.fillRect(Math.round(x), AXIS_HEIGHT - 18, 1, layout.height);
        this.context.globalAlpha = 1;
    }

    // The track that shows an item: its lane, else its group.
    private placedOf(layout: Layout, ref: Ref): Placed | null {
        const group = this.app.model.sets[ref.set].lanes[ref.lane].group;
        return (
            layout.placed.find((p) => p.track.set === ref.set && p.track.lane === ref.lane) ??
            layout.placed.find((p) => p.track.kind === 'group' && p.track.set === ref.set && p.track.group === group) ??
            null
        );
    }

    box(frame: Frame, ref: Ref): { x0: number; x1: number; y: number; h: number } | null {
        const place = this.app.store.place(ref.set, ref.lane, ref.index);
        if (!place) return null;
        const { axis, layout } = frame;
        const placed = this.placedOf(layout, ref);
        const zero = frame.zeros[ref.set];
        const x0 = layout.gutter + axis.x(place.row.start[place.k] - zero);
        const x1 = layout.gutter + axis.x(place.row.end[place.k] - zero);
        if (!placed) return { x0, x1, y: layout.height - 8, h: 8 };
        const depth = Math.min(place.row.depth, Math.max(placed.track.rows.length - 1, 0));
        return { x0, x1, y: placed.top + depth * placed.track.rowHeight, h: placed.track.rowHeight - 1 };
    }

    private outline(frame: Frame, ref: Ref, css: string, width: number, dash: number[]): void {
        const box = this.box(frame, ref);
        if (!box) return;
        const c = this.context;
        c.strokeStyle = css;
        c.lineWidth = width;
        c.setLineDash(dash);
        c.strokeRect(box.x0 - 0.5, box.y + 0.5, Math.max(box.x1 - box.x0, 2), box.h - 1);
        c.setLineDash([]);
    }

    private drawArrow(frame: Frame, theme: Theme, arrow: Arrow, selected: Ref | null): void {
        const from = this.box(frame, arrow.from);
        const to = this.box(frame, arrow.to);
        if (!from || !to) return;
        const { layout } = frame;
        const c = this.context;
        const clampX = (x: number): number => Math.min(Math.max(x, layout.gutter + 6), layout.width - 6);
        const [x0, y0] = [clampX(from.x1), from.y + from.h / 2];
        const [x1, y1] = [clampX(to.x0), to.y + to.h / 2];
        const bend = Math.max(24, Math.abs(x1 - x0) / 2);
        c.strokeStyle = theme.text;
        c.lineWidth = 1.5;
        c.beginPath();
        c.moveTo(x0, y0);
        c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
        c.stroke();
        c.fillStyle = theme.text;
        c.beginPath();
        c.moveTo(x1, y1);
        c.lineTo(x1 - 7, y1 - 3.5);
        c.lineTo(x1 - 7, y1 + 3.5);
        c.fill();
        const isFrom = selected !== null && arrow.from.lane === selected.lane && arrow.from.index === selected.index;
        const far = isFrom ? to : from;
        this.drawTarget(frame, theme, isFrom ? arrow.to : arrow.from, far);
    }

    // A label at the edge for an end that lies outside the view.
    private drawTarget(frame: Frame, theme: Theme, ref: Ref, box: { x0: number; x1: number; y: number }): void {
        const { layout, axis } = frame;
        const isLeft = box.x1 < layout.gutter;
        if (!isLeft && box.x0 < layout.width) return;
        const place = this.app.store.place(ref.set, ref.lane, ref.index);
        if (!place) return;
        const c = this.context;
        const zero = frame.zeros[ref.set];
        const from = place.row.start[place.k] - zero;
        const to = place.row.end[place.k] - zero;
        const away = time(isLeft ? axis.from - to : from - axis.to);
        const name = this.app.store.name(ref.set, place.row.what[place.k]).slice(0, 40);
        const text = isLeft ? `◂ ${name}, ${away}` : `${name}, ${away} ▸`;
        const wide = c.measureText(text).width + 10;
        const x = isLeft ? layout.gutter + 4 : layout.width - wide - 4;
        const y = Math.min(Math.max(box.y, AXIS_HEIGHT), layout.height - 18);
        c.fillStyle = theme.text;
        c.fillRect(x, y, wide, 17);
        c.fillStyle = theme.groundCss;
        c.fillText(text, x + 5, y + 12.5);
        this.targets.push({ x, y, from, to, ref });
    }
}
