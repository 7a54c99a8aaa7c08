// Points on two logarithmic axes under roofs, or around the line where both are equal; a point selects its row.
import { App } from '../app';
import { el, svg } from '../dom';
import { ChartPart, Panel, Point, Unit } from '../model';
import { t } from '../text';
import { numberText } from './panel';

const W = 960;
const H = 380;
const [LEFT, RIGHT, TOP, FOOT] = [96, 24, 28, 40];
const MOST = 2000;
const NAMED = 8; // so many points have their names beside them

// Powers of ten around all values.
function bounds(values: number[]): [number, number] {
    const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10);
    if (logs.length === 0) return [0, 1];
    const [from, to] = [Math.floor(Math.min(...logs) - 0.1), Math.ceil(Math.max(...logs) + 0.1)];
    return [to - from < 2 ? from - 1 : from, to]; // two decades at least
}

function ticks(from: number, to: number, room: number, least: number): number[] {
    const stride = Math.max(1, Math.ceil((least * (to - from)) / room));
    return Array.from({ length: Math.floor((to - from) / stride) + 1 }, (_, i) => from + i * stride);
}

interface Spot {
    x: number;
    y: number;
    r: number;
}

// Names beside the points, where they do not lie over another name or point.
function namesOf(app: App, points: Point[], spotOf: (point: Point) => Spot): SVGElement[] {
    const taken: { left: number; right: number; y: number }[] = [];
    const out: SVGElement[] = [];
    for (const point of points) {
        const { x, y, r } = spotOf(point);
        const text = app.both(point.name);
        const [left, right] = [x + r + 4, x + r + 4 + text.length * 6.8];
        const overName = taken.some((one) => Math.abs(one.y - y) < 14 && left < one.right && right > one.left);
        const overPoint = points.some((other) => {
            const spot = spotOf(other);
            return other !== point && Math.abs(spot.y - y) < spot.r + 6 && left < spot.x + spot.r && right > spot.x - spot.r;
        });
        if (overName || overPoint || right > W - RIGHT) continue;
        taken.push({ left, right, y });
        out.push(svg('text', { x: left, y: y + 4 }, text));
    }
    return out;
}

export function chart(app: App, panel: Panel, part: ChartPart): HTMLElement {
    const points = part.points.filter((p) => p.x > 0 && p.y > 0).slice(0, MOST);
    if (points.length === 0) return el('div');
    const inside = part.curves.filter((curve) => curve.points.length > 1).map((curve) => curve.points[1]); // curves lead out of the chart
    const [xs, ys] = [[...points.map((p) => p.x), ...inside.map((p) => p[0])], [...points.map((p) => p.y), ...inside.map((p) => p[1])]];
    const [x0, x1] = bounds(part.square ? [...xs, ...ys] : xs);
    const [y0, y1] = bounds(part.square ? [...xs, ...ys] : ys);
    const x = (v: number): number => LEFT + ((Math.log10(v) - x0) / (x1 - x0)) * (W - LEFT - RIGHT);
    const y = (v: number): number => H - FOOT - ((Math.log10(v) - y0) / (y1 - y0)) * (H - FOOT - TOP);
    const drawing = svg('svg', { class: 'chart roofline', viewBox: `0 0 ${W} ${H}`, role: 'img' }, svg('title', {}, part.title ? app.both(part.title) : app.both(panel.title)),
        svg('desc', {}, t('panel.chart', { n: points.length, x: app.both(part.xLabel), y: app.both(part.yLabel) })));
    const label = (unit: Unit, k: number): string => numberText(unit, 10 ** k);
    for (const k of ticks(x0, x1, W - LEFT - RIGHT, 70)) {
        drawing.append(svg('line', { class: 'rule', x1: x(10 ** k), x2: x(10 ** k), y1: TOP, y2: H - FOOT }));
        drawing.append(svg('text', { class: 'tick', x: x(10 ** k), y: H - FOOT + 16, 'text-anchor': k === x0 ? 'start' : k === x1 ? 'end' : 'middle' }, label(part.xUnit, k)));
    }
    for (const k of ticks(y0, y1, H - FOOT - TOP, 30)) {
        drawing.append(svg('line', { class: 'rule', x1: LEFT, x2: W - RIGHT, y1: y(10 ** k), y2: y(10 ** k) }));
        drawing.append(svg('text', { class: 'tick', x: LEFT - 8, y: y(10 ** k) + 4, 'text-anchor': 'end' }, label(part.yUnit, k)));
    }
    drawing.append(svg('text', { class: 'tick', x: W - RIGHT, y: H - 6, 'text-anchor': 'end' }, app.both(part.xLabel)));
    drawing.append(svg('text', { class: 'tick', x: LEFT, y: TOP - 12 }, app.both(part.yLabel)));
    for (const curve of part.curves) {
        const [w, h] = [W - LEFT - RIGHT, H - TOP - FOOT];
        drawing.append(svg('svg', { x: LEFT, y: TOP, width: w, height: h, viewBox: `${LEFT} ${TOP} ${w} ${h}` },
            svg('polyline', { class: 'roof', points: curve.points.map(([a, b]) => `${x(a)},${y(b)}`).join(' ') })));
        const last = curve.points[curve.points.length - 1];
        drawing.append(svg('text', { class: 'tick', x: W - RIGHT - 4, y: Math.max(y(last[1]) - 5, TOP + 12), 'text-anchor': 'end' }, app.both(curve.label)));
    }
    const most = Math.max(...points.map((p) => p.size), 1e-9);
    const dots = new Map<SVGElement, Point>();
    const radii = new Map<Point, number>();
    for (const point of [...points].sort((a, b) => b.size - a.size)) {
        const dot = svg('circle', { class: 'dot f' + Math.max(0, point.family), cx: x(point.x), cy: y(point.y), r: Math.max(4, 18 * Math.sqrt(point.size / most)) },
            svg('title', {}, `${app.both(point.name)}: ${numberText(part.xUnit, point.x)} · ${numberText(part.yUnit, point.y)}`));
        if (point.row !== null) dot.addEventListener('click', () => app.shared.set({ view: panel.id, row: point.row }));
        dots.set(dot, point);
        drawing.append(dot);
        radii.set(point, Number(dot.getAttribute('r')));
    }
    if (points.length <= NAMED) drawing.append(...namesOf(app, points, (p) => ({ x: x(p.x), y: y(p.y), r: radii.get(p) ?? 4 })));
    const mark = (): void => dots.forEach((point, dot) => dot.classList.toggle('chosen', point.row !== null && point.row === app.shared.state.row));
    app.shared.on(mark);
    mark();
    return el('figure', { tabindex: 0 }, drawing);
}
