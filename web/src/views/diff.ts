// Difference: the way from A to B as a waterfall by class or kernel, and all kernels in a table.
import { App } from '../app';
import { button, el, name, svg } from '../dom';
import { Diff, DiffKernel } from '../model';
import { t } from '../text';
import { exactNs, grouped, middleCut, signed, time } from '../units';
import { Column, Grid } from './grid';

const W = 1200;
const H = 300;
const BARS = 8;
const count = (n: number): string => (Number.isInteger(n) ? grouped(n) : n.toFixed(2));
const CHANGES = 0.6; // share of the height that the changes take
const exact = (ns: number): HTMLElement => el('span', { title: exactNs(ns) }, time(ns));
const change = (ns: number, isNoise: boolean): HTMLElement =>
    el('span', { class: isNoise ? 'noise' : ns < 0 ? 'better' : ns > 0 ? 'worse' : 'noise', title: exactNs(ns) }, signed(time(ns)));

interface Bar {
    label: string;
    delta: number;
    isNoise: boolean;
    act: (() => void) | null;
}

// The largest changes; all others in one bar, so that the bars sum to B - A.
function most(bars: Bar[], delta: number): Bar[] {
    const sorted = [...bars].filter((bar) => bar.delta !== 0).sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta));
    const shown = sorted.slice(0, BARS);
    const rest = delta - shown.reduce((sum, bar) => sum + bar.delta, 0);
    if (rest !== 0) shown.push({ label: t('diff.other', { n: sorted.length - shown.length }), delta: rest, isNoise: true, act: null });
    return shown;
}

function waterfall(diff: Diff, bars: Bar[]): SVGSVGElement {
    const chart = svg('svg', { class: 'chart waterfall', viewBox: `0 0 ${W} ${H}`, role: 'img' }, svg('title', {}, t('diff.title')),
        svg('desc', {}, `A ${time(diff.time[0])}; ${bars.map((bar) => `${bar.label} ${signed(time(bar.delta))}`).join('; ')}; B ${time(diff.time[1])}`));
    const slot = Math.min(W / (bars.length + 2), 150);
    const left = (W - slot * (bars.length + 2)) / 2;
    let [low, high, sum] = [0, 0, 0];
    for (const bar of bars) {
        sum += bar.delta;
        low = Math.min(low, sum);
        high = Math.max(high, sum);
    }
    const base = H - 34;
    const room = base - 30;
    const y = (delta: number): number => 30 + ((high - delta) / (high - low || 1)) * room * CHANGES;
    const totalTop = (ns: number): number => base - (ns / Math.max(...diff.time, 1)) * room;
    const total = (k: number, x: number): void => {
        chart.append(svg('rect', { class: 'total', x: x + slot * 0.14, y: totalTop(diff.time[k]), width: slot * 0.72, height: base - totalTop(diff.time[k]) }));
        chart.append(svg('text', { class: 'strong', x: x + slot / 2, y: totalTop(diff.time[k]) - 8, 'text-anchor': 'middle' }, time(diff.time[k])));
        chart.append(svg('text', { class: 'tick', x: x + slot / 2, y: H - 12, 'text-anchor': 'middle' }, k === 0 ? 'A' : 'B'));
    };
    total(0, left);
    total(1, W - left - slot);
    chart.append(svg('line', { class: 'zero', x1: left + slot, x2: W - left - slot, y1: y(0), y2: y(0) }));
    let at = 0;
    bars.forEach((bar, i) => {
        const x = left + slot * (i + 1);
        const [from, to] = [y(at), y(at + bar.delta)];
        const group = svg('g', { class: 'step ' + (bar.isNoise ? 'noise' : bar.delta < 0 ? 'better' : 'worse') + (bar.act ? ' linked' : '') }, svg('title', {}, `${bar.label} ${signed(time(bar.delta))}`));
        group.append(svg('rect', { x: x + slot * 0.14, y: Math.min(from, to), width: slot * 0.72, height: Math.max(Math.abs(to - from), 2) }));
        if (i + 1 < bars.length) group.append(svg('line', { class: 'join', x1: x + slot * 0.86, x2: x + slot * 1.14, y1: to, y2: to }));
        group.append(svg('text', { class: 'strong', x: x + slot / 2, y: Math.min(from, to) - 7, 'text-anchor': 'middle' }, signed(time(bar.delta))));
        group.append(svg('text', { class: 'tick', x: x + slot / 2, y: H - 12, 'text-anchor': 'middle' }, middleCut(bar.label, Math.floor(slot / 7.2))));
        if (bar.act) group.addEventListener('click', bar.act);
        chart.append(group);
        at += bar.delta;
    });
    chart.append(svg('line', { class: 'rule', x1: 0, x2: W, y1: base, y2: base }));
    return chart;
}

function kernelGrid(app: App, diff: Diff): Grid<DiffKernel> {
    const number = (id: string, head: string, value: (k: DiffKernel) => number | null, show: (k: DiffKernel) => Node | string): Column<DiffKernel> => ({ id, head, isNumber: true, value, show });
    const columns: Column<DiffKernel>[] = [
        { id: 'name', head: t('kernels.name'), isNumber: false, className: 'wide', value: (k) => k.name, show: (k) => name(k.name, '', 42) },
        number('delta', 'B − A', (k) => k.delta, (k) => change(k.delta, k.noise)),
        number('a', 'A', (k) => k.a, (k) => exact(k.a)),
        number('b', 'B', (k) => k.b, (k) => exact(k.b)),
        number('ca', t('diff.callsA'), (k) => k.calls[0], (k) => count(k.calls[0])),
        number('cb', t('diff.callsB'), (k) => k.calls[1], (k) => count(k.calls[1])),
        { id: 'noise', head: t('diff.judged'), isNumber: false, value: (k) => (k.noise ? 1 : 0), show: (k) => t(k.noise ? 'diff.noise' : 'diff.real') },
    ];
    const grid = new Grid<DiffKernel>(columns, (k) => showKernel(app, k), t('diff.kernels'));
    grid.setRows([...diff.kernels].sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta)));
    return grid;
}

// The first occurrence within the steps side by side, in the set that has the kernel; the search marks all others.
function showKernel(app: App, kernel: DiffKernel): void {
    const set = kernel.what[1] >= 0 && kernel.b > 0 ? 1 : 0;
    const pair = app.model.diff?.steps[0];
    const step = pair ? pair[set] : -1;
    const lanes = app.model.sets[set].lanes;
    for (let lane = 0; lane < lanes.length; lane++) {
        const data = app.store.lane(set, lane);
        for (const row of data?.rows ?? []) {
            for (let k = 0; k < row.what.length; k++) {
                if (app.store.name(set, row.what[k]) !== kernel.name || (step >= 0 && (data?.columns.step[row.index[k]] ?? 0) - 1 !== step)) continue;
                app.shared.go({ view: 'timeline', set, step: step >= 0 ? step : null, selected: { set, lane, index: row.index[k] }, query: kernel.name.slice(0, 80), window: null, range: null, gap: null });
                return;
            }
        }
    }
    app.shared.go({ view: 'timeline', query: kernel.name.slice(0, 80) });
}

export function diffView(app: App): HTMLElement {
    const { diff } = app.model;
    if (!diff) return el('p', { class: 'hint' }, t('diff.none'));
    const grid = kernelGrid(app, diff);
    const holder = el('div', { class: 'chart-holder', tabindex: 0, role: 'group', 'aria-label': t('diff.title') });
    const toClass = (id: string): (() => void) => () => app.shared.go({ view: 'kernels', class: id.startsWith('idle') ? null : id, set: diff.time[1] >= diff.time[0] ? 1 : 0 });
    const show = (by: 'class' | 'kernel'): void => {
        const bars: Bar[] = by === 'class'
            ? diff.classes.map((c) => ({ label: app.word(c.id), delta: c.delta, isNoise: c.noise, act: toClass(c.id) }))
            : diff.kernels.map((k) => ({ label: k.name, delta: k.delta, isNoise: k.noise, act: () => showKernel(app, k) }));
        holder.replaceChildren(waterfall(diff, most(bars, by === 'class' ? diff.delta : bars.reduce((sum, bar) => sum + bar.delta, 0))));
        byClass.setAttribute('aria-pressed', String(by === 'class'));
        byKernel.setAttribute('aria-pressed', String(by === 'kernel'));
    };
    const byClass = button(t('diff.byClass'), () => show('class'), { class: 'tool' });
    const byKernel = button(t('diff.byKernel'), () => show('kernel'), { class: 'tool' });
    show('class');
    return el('div', {}, el('div', { class: 'toolbar' }, byClass, byKernel, el('span', { class: 'second' }, t('diff.axes'))), holder,
        el('h3', {}, t('diff.kernels')), grid.root);
}
