// One frame of the timeline: rows as pixels, then hatches, names, the gutter and the time axis.
import { App } from '../app';
import { Gaps } from '../job';
import { CAUSES } from '../model';
import { fillSpan, Label, paintRow, Surface, Window } from '../paint';
import { finishRow, makeRow, Row } from '../rows';
import { Theme } from '../theme';
import { briefName, middleCut, tickLabel, tickStep, time } from '../units';
import { Axis } from './axis';
import { drawDifference, Difference } from './difference';
import { hatches, Hatches } from './hatch';
import { AXIS_HEIGHT, BOX, Layout, Placed } from './layout';

const MOST_LABELS = 400;
const PEAK = 64; // gaps to a block
export const FONT = '12px system-ui, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif';

export interface Frame {
    axis: Axis;
    layout: Layout;
    zeros: number[];
    hits: Map<Row, Row> | null; // items found by the search, by row; null: no search
    lanes: string[]; // checked
    cursor: string; // key of the track that the keyboard is on
    difference: Difference | null;
    ratio: number;
    coarse: number;
}

export class Painter {
    private readonly context: CanvasRenderingContext2D;
    private image: ImageData | null = null;
    private hatches: Hatches = [];
    private hatchKey = '';
    private charWidth = 6.5;
    private readonly mainLanes: (number | undefined)[] = [];
    private readonly idleRows = new Map<number, Row>();
    private readonly peaks = new Map<number, Float64Array>();

    constructor(private readonly canvas: HTMLCanvasElement, private readonly app: App) {
        this.context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
    }

    paint(frame: Frame, theme: Theme): void {
        const { layout, ratio } = frame;
        const width = Math.round(layout.width * ratio);
        const height = Math.round(layout.height * ratio);
        if (this.canvas.width !== width || this.canvas.height !== height) {
            this.canvas.width = width;
            this.canvas.height = height;
            this.image = null;
        }
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.context.font = FONT;
        this.prepareHatches(theme, ratio);
        const labels = this.paintRows(frame, theme, width, height);
        for (const zone of [true, false]) this.decorate(frame, theme, zone, labels);
        this.drawAxis(frame, theme);
    }

    private prepareHatches(theme: Theme, ratio: number): void {
        const key = theme.hatch + ratio;
        if (key === this.hatchKey) return;
        this.hatchKey = key;
        this.hatches = hatches(this.context, theme.hatch, ratio);
        this.charWidth = this.context.measureText('abcdefghij::_<>0123').width / 19;
    }

    private paintRows(frame: Frame, theme: Theme, width: number, height: number): Map<Row, Label[]> {
        const { layout, axis, ratio } = frame;
        this.image ??= this.context.createImageData(width, height);
        const pixels = new Uint32Array(this.image.data.buffer);
        pixels.fill(theme.ground);
        const left = Math.round(layout.gutter * ratio);
        const labels = new Map<Row, Label[]>();
        for (const { track, top, isPinned } of layout.placed) {
            const surface: Surface = {
                pixels, width, top: Math.round((isPinned ? AXIS_HEIGHT : layout.split) * ratio), bottom: height,
            };
            const window: Window = {
                from: axis.from + frame.zeros[track.set], perPixel: axis.perPixel / ratio, left, columns: width - left,
                coarse: frame.coarse,
            };
            const inset = track.kind === 'group' ? 7 : 0;
            const count = track.kind === 'lane' ? Math.round((track.height - 4) / track.rowHeight) : 1;
            for (let r = 0; r < count; r++) {
                const y = Math.round((top + inset + r * track.rowHeight) * ratio);
                const h = Math.max(1, Math.round((track.rowHeight - 1) * ratio));
                if (y + h <= surface.top || y >= height) continue;
                const row = track.kind === 'idle' ? this.idleRow(track.set) : track.rows[r] ?? (r === 0 ? track.picture : null);
                if (track.kind !== 'group' || row) fillSpan(surface, left, width, y, h, theme.lane);
                if (!row) continue;
                if (track.kind === 'idle') {
                    paintRow(surface, window, row, y, h, theme.hatches, theme.hatches);
                    continue;
                }
                const isDim = frame.hits !== null && track.kind === 'lane';
                const inks = isDim ? theme.dims : theme.inks;
                labels.set(row, paintRow(surface, window, row, y, h, inks, isDim ? theme.dimEdges : theme.edges));
                const found = frame.hits?.get(row);
                if (found) labels.set(row, paintRow(surface, window, found, y, h, theme.inks, theme.edges));
            }
        }
        this.context.putImageData(this.image, 0, 0);
        return labels;
    }

    // Hatches, names and the gutter of the pinned or the scrolled zone.
    private decorate(frame: Frame, theme: Theme, isPinned: boolean, labels: Map<Row, Label[]>): void {
        const { layout } = frame;
        const c = this.context;
        const top = isPinned ? AXIS_HEIGHT : layout.split;
        const bottom = isPinned ? layout.split : layout.height;
        if (bottom <= top) return;
        c.save();
        c.beginPath();
        c.rect(0, top, layout.width, bottom - top);
        c.clip();
        for (const placed of layout.placed) {
            if (placed.isPinned !== isPinned) continue;
            this.drawGaps(frame, theme, placed);
            if (placed.track.kind === 'difference' && frame.difference) drawDifference(c, frame, theme, placed, frame.difference);
            this.drawNames(frame, theme, placed, labels);
            this.drawHead(frame, theme, placed);
        }
        if (isPinned && layout.split > AXIS_HEIGHT) this.line(0, layout.split - 2, layout.width, theme.second);
        c.restore();
    }

    private line(x: number, y: number, width: number, css: string): void {
        this.context.fillStyle = css;
        this.context.fillRect(x, y, width, 1);
    }

    // Gaps of the first device: on its busiest lane and on the idle row.
    private drawGaps(frame: Frame, theme: Theme, { track, top }: Placed): void {
        const gaps = this.app.store.gaps[track.set];
        const isIdle = track.kind === 'idle';
        if (!gaps || !(isIdle || (track.kind === 'lane' && this.isMain(track.set, track.lane)))) return;
        const { axis, layout } = frame;
        const zero = frame.zeros[track.set];
        const height = track.rowHeight - 1;
        const peaks = this.peaksOf(track.set, gaps);
        const least = 3 * axis.perPixel;
        const n = gaps.start.length;
        let low = 0;
        for (let high = n; low < high; ) {
            const mid = (low + high) >>> 1;
            if (gaps.end[mid] - zero <= axis.from) low = mid + 1;
            else high = mid;
        }
        for (let i = low; i < n && gaps.start[i] - zero < axis.to; i++) {
            if (peaks[Math.floor(i / PEAK)] < least) {
                i = (Math.floor(i / PEAK) + 1) * PEAK - 1;
                continue;
            }
            const x0 = Math.max(0, axis.x(gaps.start[i] - zero));
            const x1 = Math.min(layout.width - layout.gutter, axis.x(gaps.end[i] - zero));
            if (x1 - x0 >= 3) this.drawGap(theme, layout.gutter + x0, top, x1 - x0, height, i, track.set, isIdle);
        }
    }

    // The longest gap of every block, so that blocks of short ones are passed over.
    private peaksOf(set: number, gaps: Gaps): Float64Array {
        const known = this.peaks.get(set);
        if (known) return known;
        const peaks = new Float64Array(Math.ceil(gaps.start.length / PEAK));
        for (let i = 0; i < gaps.start.length; i++) {
            const k = Math.floor(i / PEAK);
            peaks[k] = Math.max(peaks[k], gaps.end[i] - gaps.start[i]);
        }
        this.peaks.set(set, peaks);
        return peaks;
    }

    // Gaps as a row, so that columns show the exact idle share.
    private idleRow(set: number): Row | null {
        const gaps = this.app.store.gaps[set];
        if (!gaps) return null;
        const known = this.idleRows.get(set);
        if (known) return known;
        const row = makeRow(-1, 0, gaps.start.length);
        row.start.set(gaps.start);
        row.end.set(gaps.end);
        this.idleRows.set(set, finishRow(row, this.app.model.sets[set].to));
        return row;
    }

    // The busiest lane of the devices.
    private isMain(set: number, lane: number): boolean {
        if (this.mainLanes[set] === undefined) this.mainLanes[set] = this.findMain(set);
        return this.mainLanes[set] === lane;
    }

    private findMain(set: number): number {
        const s = this.app.model.sets[set];
        let best = -1;
        s.lanes.forEach((l, i) => {
            const kind = s.groups[l.group].kind;
            if ((kind === 'device' || kind === 'pipe') && (best < 0 || l.busy > s.lanes[best].busy)) best = i;
        });
        return best;
    }

    private drawGap(theme: Theme, x: number, y: number, width: number, height: number, i: number, set: number, isNamed: boolean): void {
        const gaps = this.app.store.gaps[set];
        if (!gaps) return;
        const c = this.context;
        const pattern = this.hatches[gaps.cause[i]];
        if (isNamed) {
            c.fillStyle = theme.laneCss;
            c.fillRect(x, y, width, height);
        }
        if (pattern) {
            c.fillStyle = pattern;
            c.fillRect(x, y, width, height);
        }
        if (!isNamed) return;
        this.line(x, y + height - 1, width, theme.hatch);
        if (width < 90) return;
        const cause = this.app.word('idle.' + CAUSES[gaps.cause[i]]);
        const text = middleCut(cause, Math.floor((width - 70) / this.charWidth)) + ' ' + time(gaps.end[i] - gaps.start[i]);
        const wide = c.measureText(text).width + 8;
        if (wide > width) return;
        c.fillStyle = theme.groundCss;
        c.fillRect(x + 4, y + 1, wide, height - 3);
        c.fillStyle = theme.text;
        c.fillText(text, x + 8, y + height - 4);
    }

    private drawNames(frame: Frame, theme: Theme, { track, top }: Placed, labels: Map<Row, Label[]>): void {
        if (track.kind !== 'lane') return;
        const c = this.context;
        let count = 0;
        track.rows.forEach((row, r) => {
            for (const label of labels.get(row) ?? []) {
                if (count++ > MOST_LABELS) return;
                const source = frame.hits?.get(row) ?? row;
                const x0 = label.x0 / frame.ratio;
                const width = label.x1 / frame.ratio - x0;
                const name = this.app.store.name(track.set, source.what[label.slice]);
                const room = Math.floor((width - 8) / this.charWidth);
                const text = middleCut(name.length <= room ? name : briefName(name), room);
                c.fillStyle = theme.labels[source.family[label.slice]];
                c.fillText(text, x0 + 4, top + (r + 1) * track.rowHeight - (track.rowHeight - 1 - 9) / 2 - 1.5, width - 6);
            }
        });
    }

    private drawHead(frame: Frame, theme: Theme, placed: Placed): void {
        const { track, top } = placed;
        const { gutter } = frame.layout;
        const c = this.context;
        c.fillStyle = theme.groundCss;
        c.fillRect(0, top, gutter, track.height);
        if (frame.cursor === track.key) {
            c.fillStyle = theme.accent;
            c.fillRect(0, top, 3, track.height - 2);
        }
        const isGroup = track.kind === 'group';
        const middle = top + Math.min(track.rowHeight, 20) / 2;
        const base = isGroup ? top + 17 : middle + 4;
        const indent = isGroup ? 20 : 30;
        if (track.canOpen) this.triangle(isGroup ? 8 : 18, base - 4, track.isOpen, theme.second);
        const room = gutter - indent - 6 - (track.kind === 'lane' ? BOX + 6 : 0);
        c.font = isGroup ? '600 ' + FONT : FONT;
        c.fillStyle = isGroup ? theme.text : theme.second;
        c.fillText(middleCut(track.label, Math.floor(room / (this.charWidth * (isGroup ? 1.06 : 1)))), indent, base);
        c.font = FONT;
        if (track.kind === 'lane') this.drawBox(gutter - BOX - 6, middle - BOX / 2, frame.lanes.includes(`${track.set}.${track.lane}`), theme);
        if (isGroup) this.line(0, top, frame.layout.width, theme.line);
    }

    private triangle(x: number, y: number, isOpen: boolean, css: string): void {
        const c = this.context;
        c.fillStyle = css;
        c.beginPath();
        if (isOpen) for (const [dx, dy] of [[-4, -2.5], [4, -2.5], [0, 3]]) c.lineTo(x + dx, y + dy);
        else for (const [dx, dy] of [[-2.5, -4], [-2.5, 4], [3, 0]]) c.lineTo(x + dx, y + dy);
        c.fill();
    }

    private drawBox(x: number, y: number, isChecked: boolean, theme: Theme): void {
        const c = this.context;
        c.strokeStyle = isChecked ? theme.accent : theme.line;
        c.strokeRect(x + 1.5, y + 0.5, BOX - 3, BOX - 3);
        if (!isChecked) return;
        c.beginPath();
        c.moveTo(x + 4, y + 6);
        c.lineTo(x + 6.5, y + 8.5);
        c.lineTo(x + 10, y + 3);
        c.stroke();
    }

    private drawAxis(frame: Frame, theme: Theme): void {
        const { axis, layout } = frame;
        const c = this.context;
        c.fillStyle = theme.groundCss;
        c.fillRect(0, 0, layout.width, AXIS_HEIGHT);
        c.save();
        c.beginPath();
        c.rect(layout.gutter, 0, layout.width - layout.gutter, AXIS_HEIGHT);
        c.clip();
        this.drawTicks(frame, theme);
        this.drawSteps(frame, theme);
        c.restore();
        c.fillStyle = theme.second;
        c.fillText(time(axis.to - axis.from), 8, 14);
        this.line(0, AXIS_HEIGHT - 1, layout.width, theme.line);
    }

    private drawTicks(frame: Frame, theme: Theme): void {
        const { axis, layout } = frame;
        const step = tickStep(axis.perPixel * 90);
        const largest = Math.max(Math.abs(axis.from), Math.abs(axis.to));
        for (let t = Math.ceil(axis.from / step) * step; t < axis.to; t += step) {
            const x = layout.gutter + axis.x(t);
            this.context.fillStyle = theme.line;
            this.context.fillRect(x, 4, 1, 14);
            this.context.fillStyle = theme.second;
            this.context.fillText(tickLabel(t, step, largest), x + 4, 14);
        }
    }

    // Steps of the selected set as a band with their ids.
    private drawSteps(frame: Frame, theme: Theme): void {
        const { axis, layout } = frame;
        const state = this.app.shared.state;
        const zero = frame.zeros[state.set] ?? 0;
        const c = this.context;
        if (this.app.set.is_pseudo) return;
        this.app.set.steps.forEach((step, i) => {
            const x0 = axis.x(step.from - zero);
            const x1 = axis.x(step.to - zero);
            if (x1 < 0 || x0 > layout.width || x1 - x0 < 3) return;
            const from = layout.gutter + Math.max(x0, -1);
            const width = Math.min(x1, layout.width) - Math.max(x0, -1) - 1;
            const isSelected = state.step === i;
            c.fillStyle = isSelected ? theme.accent : theme.laneCss;
            c.fillRect(from, 21, width, 14);
            if (width < 24) return;
            c.fillStyle = isSelected ? theme.groundCss : theme.second;
            const number = /\d+$/.exec(step.id)?.[0];
            const text = number ? (width > 70 ? this.app.word('step') + ' ' : '') + number : step.id;
            c.fillText(middleCut(text, Math.floor(width / 7)), from + 4, 32);
        });
    }
}
