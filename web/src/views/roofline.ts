// Roofline, log-log: intensity against rate, area by time; a point selects its row in the table.
import { el, svg } from '../dom';
import { Kernel, Set } from '../model';
import { t } from '../text';
import { grouped, share, time } from '../units';

const W = 960;
const H = 320;
const LEFT = 96;
const BOTTOM = 36;
const MOST = 2000;

interface Point {
    kernel: Kernel;
    intensity: number;
    rate: number; // FLOP/s
}

function flops(n: number): string {
    const units = ['FLOP/s', 'KFLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s'];
    let k = 0;
    while (n >= 1000 && k < units.length - 1) {
        n /= 1000;
        k++;
    }
    return `${n >= 100 ? n.toFixed(0) : n.toPrecision(3)}\u202f${units[k]}`;
}

function pointsOf(kernels: Kernel[]): Point[] {
    const points: Point[] = [];
    for (const kernel of kernels) {
        if (!kernel.flops || !kernel.bytes || kernel.mean <= 0) continue;
        points.push({ kernel, intensity: kernel.flops / kernel.bytes, rate: kernel.flops / (kernel.mean / 1e9) });
    }
    return points.sort((a, b) => b.kernel.total - a.kernel.total).slice(0, MOST);
}

export function roofline(set: Set, choose: (kernel: Kernel) => void): HTMLElement | null {
    const info = set.device_info;
    const points = pointsOf(set.kernels);
    const bandwidth = info?.bandwidth;
    if (!info || !bandwidth) return el('p', { class: 'hint' }, t('roofline.nodevice'));
    if (points.length === 0) return el('p', { class: 'hint' }, t(set.kernels.some((kernel) => kernel.shapes) ? 'roofline.nowork' : 'roofline.noshapes'));
    const byRate = new Map<number, string[]>();
    for (const [type, rate] of Object.entries(info.flops)) byRate.set(rate, [...(byRate.get(rate) ?? []), type]);
    const peaks = [...byRate].map(([rate, types]): [string, number] => [types.join(', '), rate]).sort((a, b) => b[1] - a[1]);
    const top = Math.max(peaks[0]?.[1] ?? 0, ...points.map((p) => p.rate));
    const [x0, x1] = [Math.floor(Math.log10(Math.min(...points.map((p) => p.intensity), 1))), Math.ceil(Math.log10(Math.max(...points.map((p) => p.intensity), 1000)))];
    const [y0, y1] = [Math.max(Math.floor(Math.log10(Math.min(...points.map((p) => p.rate)))), Math.log10(top) - 6), Math.log10(top) + 0.3];
    const x = (v: number): number => LEFT + ((Math.log10(v) - x0) / (x1 - x0)) * (W - LEFT - 24);
    const y = (v: number): number => H - BOTTOM - ((Math.max(Math.log10(v), y0) - y0) / (y1 - y0)) * (H - BOTTOM - 12);
    const chart = svg('svg', { class: 'chart roofline', viewBox: `0 0 ${W} ${H}`, role: 'img' },
        svg('title', {}, t('roofline.title')), svg('desc', {}, t('roofline.desc', { n: points.length, device: info.name })));
    for (let k = x0; k <= x1; k++) {
        chart.append(svg('line', { class: 'rule', x1: x(10 ** k), x2: x(10 ** k), y1: 12, y2: H - BOTTOM }));
        chart.append(svg('text', { class: 'tick', x: x(10 ** k), y: H - BOTTOM + 14, 'text-anchor': 'middle' }, k < 0 ? String(10 ** k) : grouped(10 ** k)));
    }
    for (let k = Math.ceil(y0); k <= y1; k++) {
        chart.append(svg('line', { class: 'rule', x1: LEFT, x2: W - 24, y1: y(10 ** k), y2: y(10 ** k) }));
        chart.append(svg('text', { class: 'tick', x: LEFT - 6, y: y(10 ** k) + 4, 'text-anchor': 'end' }, flops(10 ** k)));
    }
    chart.append(svg('text', { class: 'tick', x: W - 24, y: H - 4, 'text-anchor': 'end' }, t('roofline.x')));
    const labels: { y: number; texts: string[] }[] = [];
    let above: { y: number; texts: string[] } | null = null; // the last one: roofs that are close share a line of text
    for (const [type, peak] of peaks.slice(0, 4)) {
        const ridge = peak / bandwidth;
        const from = 10 ** x0;
        chart.append(svg('polyline', { class: 'roof', points: `${x(from)},${y(from * bandwidth)} ${x(ridge)},${y(peak)} ${W - 24},${y(peak)}` }));
        const label = `${type} ${flops(peak)}`;
        if (above && y(peak) - above.y < 16) above.texts.push(label);
        else labels.push((above = { y: y(peak), texts: [label] }));
    }
    for (const label of labels) chart.append(svg('text', { class: 'tick', x: W - 26, y: label.y - 5, 'text-anchor': 'end' }, label.texts.join(' · ')));
    const most = points[0].kernel.total;
    for (const { kernel, intensity, rate } of points) {
        const dot = svg('circle', { class: 'dot f' + kernel.family, cx: x(intensity), cy: y(rate), r: Math.max(3, 18 * Math.sqrt(kernel.total / most)) },
            svg('title', {}, `${kernel.name}\n${flops(rate)} · ${time(kernel.per_step)} · ${kernel.roof === null ? '' : share(kernel.roof)}`));
        dot.addEventListener('click', () => choose(kernel));
        chart.append(dot);
    }
    return el('figure', { tabindex: 0 }, el('figcaption', {}, el('h3', {}, t('roofline.title')), el('p', { class: 'second' }, info.source)), chart);
}
