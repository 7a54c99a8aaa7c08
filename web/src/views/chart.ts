// Points on two logarithmic axes under roofs, or around the line where both are equal; a point selects its row.
import { App } from '../app';
import { el, svg } from '../dom';
import { ChartPart, Panel, Point, Unit } from '../model';
import { t } from '../text';
import { numberText } from './panel';

const W = 960;
const H = 380;
const [LEFT, RIGHT, TOP, FOOT] = [96, 24, 12, 40];
const MOST = 2000;

// Powers of ten around all values.
function bounds(values: number[]): [number, number] {
    const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10);
    if (logs.length === 0) return [0, 1];
    return [Math.floor(Math.min(...logs) - 0.1), Math.ceil(Math.max(...logs) + 0.1)];
}

function ticks(from: number, to: number, room: number, least: number): number[] {
    const stride = Math.max(1, Math.ceil((least * (to - from)) / room));
    return Array.from({ length: Math.floor((to - from) / stride) + 1 }, (_, i) => from + i * stride);
}

export function chart(app: App, panel: Panel, part: ChartPart): HTMLElement {
    const points = part.points.filter((p) => p.x > 0 && p.y > 0).slice(0, MOST);
    if (points.length === 0) return el('div');
    const roofs = part.curves.flatMap((curve) => curve.points.slice(1)); // the first point is where a roof begins
    const [x0, x1] = bounds([...points.map((p) => p.x), ...roofs.map((p) => p[0])]);
    const [y0, y1] = bounds([...points.map((p) => p.y), ...roofs.map((p) => p[1])]);
    const clamp = (at: number): number => Math.max(0, Math.min(1, at));
    const x = (v: number): number => LEFT + clamp((Math.log10(v) - x0) / (x1 - x0)) * (W - LEFT - RIGHT);
    const y = (v: number): number => H - FOOT - clamp((Math.log10(v) - y0) / (y1 - y0)) * (H - FOOT - TOP);
    const drawing = svg('svg', { class: 'chart roofline', viewBox: `0 0 ${W} ${H}`, role: 'img' }, svg('title', {}, part.title ? app.both(part.title) : app.both(panel.title)),
        svg('desc', {}, t('panel.chart', { n: points.length, x: app.both(part.xLabel), y: app.both(part.yLabel) })));
    const label = (unit: Unit, k: number): string => numberText(unit, 10 ** k);
    for (const k of ticks(x0, x1, W - LEFT - RIGHT, 70)) {
        drawing.append(svg('line', { class: 'rule', x1: x(10 ** k), x2: x(10 ** k), y1: TOP, y2: H - FOOT }));
        drawing.append(svg('text', { class: 'tick', x: x(10 ** k), y: H - FOOT + 16, 'text-anchor': 'middle' }, label(part.xUnit, k)));
    }
    for (const k of ticks(y0, y1, H - FOOT - TOP, 30)) {
        drawing.append(svg('line', { class: 'rule', x1: LEFT, x2: W - RIGHT, y1: y(10 ** k), y2: y(10 ** k) }));
        drawing.append(svg('text', { class: 'tick', x: LEFT - 8, y: y(10 ** k) + 4, 'text-anchor': 'end' }, label(part.yUnit, k)));
    }
    drawing.append(svg('text', { class: 'tick', x: W - RIGHT, y: H - 6, 'text-anchor': 'end' }, app.both(part.xLabel)));
    for (const curve of part.curves) {
        drawing.append(svg('polyline', { class: 'roof', points: curve.points.map(([a, b]) => `${x(a)},${y(b)}`).join(' ') }));
        const last = curve.points[curve.points.length - 1];
        drawing.append(svg('text', { class: 'tick', x: x(last[0]) - 4, y: y(last[1]) - 5, 'text-anchor': 'end' }, app.both(curve.label)));
    }
    const most = Math.max(...points.map((p) => p.size), 1e-9);
    const dots = new Map<SVGElement, Point>();
    for (const point of [...points].sort((a, b) => b.size - a.size)) {
        const dot = svg('circle', { class: 'dot f' + Math.max(0, point.family), cx: x(point.x), cy: y(point.y), r: Math.max(4, 18 * Math.sqrt(point.size / most)) },
            svg('title', {}, `${app.both(point.name)}: ${numberText(part.xUnit, point.x)} · ${numberText(part.yUnit, point.y)}`));
        if (point.row !== null) dot.addEventListener('click', () => app.shared.set({ view: panel.id, row: point.row }));
        dots.set(dot, point);
        drawing.append(dot);
    }
    const mark = (): void => dots.forEach((point, dot) => dot.classList.toggle('chosen', point.row !== null && point.row === app.shared.state.row));
    app.shared.on(mark);
    mark();
    return el('figure', { tabindex: 0 }, drawing);
}
