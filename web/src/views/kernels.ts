// Kernels: one row for each kernel and shape, by time × headroom; roofline where the data has it.
import { App } from '../app';
import { button, el, name, save, svg } from '../dom';
import { Kernel } from '../model';
import { t } from '../text';
import { exactNs, grouped, share, time } from '../units';
import { csv } from './csv';
import { Column, Grid } from './grid';
import { roofline } from './roofline';

function sparkline(trend: number[]): SVGElement {
    const most = Math.max(...trend, 1);
    const width = 64;
    const step = width / Math.max(trend.length - 1, 1);
    const points = trend.map((v, i) => `${(i * step).toFixed(1)},${(15 - (v / most) * 13).toFixed(1)}`);
    const chart = svg('svg', { class: 'spark', viewBox: `0 0 ${width} 16`, role: 'img' }, svg('title', {}, t('kernels.trend.title', { n: trend.length, most: time(most) })));
    chart.append(svg('polyline', { points: points.join(' ') }));
    return chart;
}

const exact = (ns: number): HTMLElement => el('span', { title: exactNs(ns) }, time(ns));

function columns(app: App, kernels: Kernel[]): Column<Kernel>[] {
    const has = (get: (kernel: Kernel) => unknown): boolean => kernels.some((kernel) => get(kernel) !== null && get(kernel) !== '');
    const number = (id: keyof Kernel & string, show: (kernel: Kernel) => Node | string): Column<Kernel> => ({
        id, head: t('kernels.' + id), title: t('kernels.' + id + '.what'), isNumber: true, value: (kernel) => kernel[id] as number | null, show,
    });
    const list: (Column<Kernel> | null)[] = [
        {
            id: 'name', head: t('kernels.name'), isNumber: false, className: 'wide', value: (kernel) => kernel.name,
            show: (kernel) => el('span', {}, el('span', { class: 'swatch f' + kernel.family, title: app.word('family.' + kernel.family) }), name(kernel.name, '', 48)),
        },
        number('per_step', (kernel) => exact(kernel.per_step)),
        number('share', (kernel) => share(kernel.share)),
        has((kernel) => kernel.headroom) ? number('headroom', (kernel) => (kernel.headroom === null ? '' : exact(kernel.headroom))) : null,
        has((kernel) => kernel.roof) ? number('roof', (kernel) => (kernel.roof === null ? '' : share(kernel.roof))) : null,
        has((kernel) => kernel.bound)
            ? { id: 'bound', head: t('kernels.bound'), isNumber: false, value: (kernel) => kernel.bound, show: (kernel) => (kernel.bound ? t('kernels.bound.' + kernel.bound) : '') }
            : null,
        number('count', (kernel) => grouped(kernel.count)),
        number('mean', (kernel) => exact(kernel.mean)),
        number('p95', (kernel) => exact(kernel.p95)),
        has((kernel) => kernel.wait) ? number('wait', (kernel) => (kernel.wait === null ? '' : exact(kernel.wait))) : null,
        has((kernel) => kernel.op) ? { id: 'op', head: t('kernels.op'), isNumber: false, className: 'mid', value: (kernel) => kernel.op, show: (kernel) => name(kernel.op ?? '') } : null,
        has((kernel) => kernel.shapes) ? { id: 'shapes', head: t('kernels.shapes'), isNumber: false, className: 'mid', value: (kernel) => kernel.shapes, show: (kernel) => name(kernel.shapes) } : null,
        has((kernel) => kernel.types) ? { id: 'types', head: t('kernels.types'), isNumber: false, className: 'mid', value: (kernel) => kernel.types, show: (kernel) => name(kernel.types) } : null,
        kernels.some((kernel) => kernel.trend.length > 2)
            ? { id: 'trend', head: t('kernels.trend'), isNumber: false, value: () => 0, show: (kernel) => sparkline(kernel.trend) }
            : null,
    ];
    return list.filter((column): column is Column<Kernel> => column !== null);
}

// The family of a class of the accounting bar, null for idle time.
function isOfClass(kernel: Kernel, id: string): boolean {
    if (id.startsWith('comm') || id.startsWith('exposed_comm')) return kernel.family === 4;
    if (id.startsWith('copy') || id.startsWith('exposed_copy') || id.startsWith('copies')) return kernel.family === 5;
    const byPart: [string, number[]][] = [
        ['gemm', [0]], ['conv', [0]], ['attention', [1]], ['norm', [2]], ['elementwise', [2]], ['optimizer', [2]], ['embedding', [2]],
        ['random', [2]], ['layout', [3]], ['index', [3]], ['sort', [3]], ['aicpu', [6]], ['other', [6]],
    ];
    const found = byPart.find(([part]) => id.includes(part));
    return !found || found[1].includes(kernel.family);
}

export function kernelsView(app: App): HTMLElement {
    const { set } = app;
    if (set.kernels.length === 0) return el('p', { class: 'hint' }, t('kernels.none'));
    const filter = el('input', { type: 'search', class: 'search', placeholder: t('kernels.filter'), 'aria-label': t('kernels.filter') });
    const count = el('output', { class: 'hits' });
    const grid = new Grid<Kernel>(columns(app, set.kernels), (kernel) => show(kernel), t('view.kernels'));
    const family = el('select', { class: 'tool', 'aria-label': t('detail.family') }, el('option', { value: '' }, t('kernels.all')));
    for (const f of [...new Set(set.kernels.map((kernel) => kernel.family))].sort()) family.append(el('option', { value: f }, app.word('family.' + f)));

    const show = (kernel: Kernel): void => {
        const { lane, index } = app.longest(kernel);
        app.shared.go({ view: 'timeline', selected: { set: app.shared.state.set, lane, index }, gap: null, range: null, window: null });
    };
    const update = (): void => {
        const text = filter.value.toLowerCase();
        const { class: ofClass } = app.shared.state;
        const rows = set.kernels.filter((kernel) =>
            (text === '' || [kernel.name, kernel.op ?? '', kernel.shapes].some((s) => s.toLowerCase().includes(text))) &&
            (family.value === '' || kernel.family === Number(family.value)) && (ofClass === null || isOfClass(kernel, ofClass)));
        grid.setRows(rows);
        count.textContent = t('kernels.rows', { n: grouped(rows.length), total: grouped(set.kernels_total) });
        cleared.hidden = ofClass === null;
        cleared.textContent = ofClass === null ? '' : app.word(ofClass) + ' ×';
    };
    const cleared = button('', () => app.shared.set({ class: null }), { class: 'tool' });
    filter.addEventListener('input', update);
    family.addEventListener('change', update);
    const { kernel: chosen } = app.shared.state;
    if (app.shared.state.query) filter.value = '';
    app.shared.on((state, before) => {
        if (state.class !== before.class) update();
        if (state.kernel !== before.kernel && state.kernel !== null) grid.choose(set.kernels[state.kernel] ?? null);
    });
    const download = button(t('kernels.csv'), () => save('kernels.csv', 'text/csv', kernelsCsv(grid.shown)), { class: 'tool' });
    update();
    if (chosen !== null) requestAnimationFrame(() => grid.choose(set.kernels[chosen] ?? null));
    const roof = roofline(set, (kernel) => app.shared.set({ kernel: set.kernels.indexOf(kernel) }));
    return el('div', {}, el('div', { class: 'toolbar' }, filter, family, cleared, count, download), grid.root, roof);
}

export function kernelsCsv(kernels: Kernel[]): string {
    const heads = ['name', 'op', 'family', 'kind', 'shapes', 'types', 'count', 'total_ns', 'mean_ns', 'p95_ns', 'max_ns', 'wait_ns', 'per_step_ns', 'share', 'roof', 'bound', 'headroom_ns'];
    return csv(heads, kernels.map((k) => [k.name, k.op, k.family, k.kind, k.shapes, k.types, k.count, k.total, k.mean, k.p95, k.max, k.wait, k.per_step, k.share, k.roof, k.bound, k.headroom]));
}
