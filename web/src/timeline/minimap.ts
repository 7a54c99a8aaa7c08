// The whole capture in a strip: busy share of the first device, the window framed, hits of the search as ticks.
import { App } from '../app';
import { el } from '../dom';
import { paintRow } from '../paint';
import { Row } from '../rows';
import { Theme } from '../theme';
import { middleCut } from '../units';
import { FONT } from './draw';
import { firstDevice } from './tracks';
import type { Timeline } from './view';

const HEIGHT = 36;
const ROW_TOP = 4;
const ROW = 26;

export class Minimap {
    readonly canvas: HTMLCanvasElement;
    private image: ImageData | null = null; // kept while only the window moves
    private imageKey = '';
    private imageRow: Row | null = null;
    private grip: { mode: 'move' | 'from' | 'to'; at: number } | null = null;

    constructor(private readonly app: App, private readonly timeline: Timeline) {
        this.canvas = el('canvas', { class: 'minimap', 'aria-hidden': 'true' });
        this.canvas.addEventListener('pointerdown', (event) => this.down(event));
        this.canvas.addEventListener('pointermove', (event) => this.move(event));
        this.canvas.addEventListener('pointerup', () => (this.grip = null));
    }

    private get gutter(): number {
        return this.timeline.layout.gutter;
    }

    private get scale(): number {
        const { from, to } = this.timeline.axis.bounds;
        return (to - from) / Math.max(1, this.canvas.clientWidth - this.gutter);
    }

    private x(t: number): number {
        return this.gutter + (t - this.timeline.axis.bounds.from) / this.scale;
    }

    private t(event: PointerEvent): number {
        return this.timeline.axis.bounds.from + (event.offsetX - this.gutter) * this.scale;
    }

    paint(theme: Theme): void {
        const width = this.canvas.clientWidth;
        if (width < 10) return;
        const c = this.canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
        if (this.canvas.width !== width) this.canvas.width = width;
        if (this.canvas.height !== HEIGHT) this.canvas.height = HEIGHT;
        const set = this.app.shared.state.set;
        const row = this.app.store.group(set, firstDevice(this.app.model.sets[set]));
        const { from, to } = this.timeline.axis.bounds;
        const key = [width, this.gutter, from, to, theme.ground, set].join();
        if (!this.image || key !== this.imageKey || row !== this.imageRow) {
            this.image = this.picture(c, theme, width, set, row);
            this.imageKey = key;
            this.imageRow = row;
        }
        c.putImageData(this.image, 0, 0);
        this.paintLabel(c, theme, set);
        this.paintHits(c, theme);
        this.paintFrame(c, theme, width);
    }

    private picture(c: CanvasRenderingContext2D, theme: Theme, width: number, set: number, row: Row | null): ImageData {
        const image = c.createImageData(width, HEIGHT);
        const pixels = new Uint32Array(image.data.buffer);
        pixels.fill(theme.ground);
        for (let y = ROW_TOP; y < ROW_TOP + ROW; y++) pixels.fill(theme.lane, y * width + this.gutter, (y + 1) * width);
        if (row) {
            const window = {
                from: this.timeline.axis.bounds.from + this.timeline.zeros[set], perPixel: this.scale, left: this.gutter,
                columns: width - this.gutter, coarse: 1,
            };
            paintRow({ pixels, width, top: 0, bottom: HEIGHT }, window, row, ROW_TOP, ROW, theme.inks, theme.inks);
        }
        return image;
    }

    private paintLabel(c: CanvasRenderingContext2D, theme: Theme, set: number): void {
        const group = this.app.model.sets[set].groups[firstDevice(this.app.model.sets[set])];
        c.font = FONT;
        c.fillStyle = theme.second;
        if (group) c.fillText(middleCut(group.name, 24), 8, 22, this.gutter - 12);
    }

    private paintHits(c: CanvasRenderingContext2D, theme: Theme): void {
        c.fillStyle = theme.text;
        let last = -1;
        for (const hit of this.timeline.found?.hits ?? []) {
            const x = Math.round(this.x(hit.start - this.timeline.zeros[hit.set]));
            if (x !== last) c.fillRect(x, HEIGHT - 5, 1, 5);
            last = x;
        }
    }

    private paintFrame(c: CanvasRenderingContext2D, theme: Theme, width: number): void {
        const { from, to } = this.timeline.axis;
        const x0 = this.x(from);
        const x1 = Math.max(this.x(to), x0 + 2);
        c.globalAlpha = 0.65;
        c.fillStyle = theme.groundCss;
        c.fillRect(this.gutter, ROW_TOP, x0 - this.gutter, ROW);
        c.fillRect(x1, ROW_TOP, width - x1, ROW);
        c.globalAlpha = 1;
        c.strokeStyle = theme.accent;
        c.lineWidth = 2;
        c.strokeRect(x0 + 1, ROW_TOP, Math.max(x1 - x0 - 2, 1), ROW);
    }

    private down(event: PointerEvent): void {
        const { axis } = this.timeline;
        const x0 = this.x(axis.from);
        const x1 = this.x(axis.to);
        const isWide = x1 - x0 > 20;
        if (isWide && Math.abs(event.offsetX - x0) < 6) this.grip = { mode: 'from', at: axis.to };
        else if (isWide && Math.abs(event.offsetX - x1) < 6) this.grip = { mode: 'to', at: axis.from };
        else {
            const t = this.t(event);
            if (t < axis.from || t > axis.to) axis.pan(t - (axis.from + axis.to) / 2);
            this.grip = { mode: 'move', at: t - axis.from };
            this.timeline.moved();
        }
        this.canvas.setPointerCapture(event.pointerId);
    }

    private move(event: PointerEvent): void {
        if (!this.grip) return;
        const { axis } = this.timeline;
        const t = this.t(event);
        if (this.grip.mode === 'move') axis.pan(t - this.grip.at - axis.from);
        else axis.show({ from: Math.min(t, this.grip.at), to: Math.max(t, this.grip.at) });
        this.timeline.moved();
    }
}
