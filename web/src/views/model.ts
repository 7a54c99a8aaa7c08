// Model: passes, layers and what they hold as an icicle; layers by wall time.
import { App } from '../app';
import { button, el, name, svg } from '../dom';
import { Layer, Layers, Pass } from '../model';
import { Range } from '../state';
import { t } from '../text';
import { exactNs, middleCut, share, time } from '../units';
import { Column, Grid } from './grid';

const W = 1200;
const ROW = 30;

interface Entry {
    layer: Layer;
    pass: number;
    place: number;
}

const wall = (layer: Range): number => layer.to - layer.from;
const exact = (ns: number): HTMLElement => el('span', { title: exactNs(ns) }, time(ns));

class Icicle {
    readonly root: SVGSVGElement;
    private shown: Range;

    constructor(private readonly app: App, private readonly layers: Layers, private readonly pass: number) {
        this.shown = { ...this.layers.passes[pass] };
        this.root = svg('svg', { class: 'chart icicle', viewBox: `0 0 ${W} ${ROW * 4}`, role: 'img' });
        this.draw();
    }

    private cell(from: number, to: number, row: number, label: string, title: string, className: string, act: () => void, open?: () => void): void {
        const span = this.shown.to - this.shown.from;
        const x0 = Math.max(0, ((from - this.shown.from) / span) * W);
        const x1 = Math.min(W, ((to - this.shown.from) / span) * W);
        if (x1 - x0 < 0.4) return;
        const group = svg('g', { class: 'cell ' + className }, svg('title', {}, title),
            svg('rect', { x: x0, y: row * ROW, width: Math.max(x1 - x0 - 1, 0.5), height: ROW - 2 }));
        const fits = Math.floor((x1 - x0 - 10) / 7);
        if (fits >= 2) group.append(svg('text', { x: x0 + 5, y: row * ROW + 18 }, middleCut(label, fits)));
        group.addEventListener('click', act);
        if (open) group.addEventListener('dblclick', open);
        this.root.append(group);
    }

    private zoom(range: Range): void {
        this.shown = { from: range.from, to: range.to };
        this.draw();
    }

    private draw(): void {
        const pass = this.layers.passes[this.pass];
        this.root.replaceChildren(svg('title', {}, t('model.icicle')), svg('desc', {}, t('model.desc', { n: pass.layers.length, time: time(wall(pass)) })));
        this.cell(pass.from, pass.to, 0, t('model.pass', { name: pass.name }) + ' · ' + time(wall(pass)), time(wall(pass)), 'pass', () => this.zoom(pass));
        pass.layers.forEach((layer, i) => this.layer(layer, i));
    }

    private layer(layer: Layer, place: number): void {
        const type = layer.type === null ? null : this.layers.types[layer.type];
        const span = this.shown.to - this.shown.from;
        const open = (): void => this.app.shared.go({ view: 'timeline', layer: `${this.pass}.${place}`, selected: null, gap: null });
        const title = `${t('model.layer', { n: layer.index })} ${type?.name ?? ''}: ${time(wall(layer))}, ${t('model.idle', { share: share(1 - layer.busy / Math.max(wall(layer), 1)) })}`;
        this.cell(layer.from, layer.to, 1, String(layer.index), title, 'layer type' + ((layer.type ?? 0) % 4) + (layer.outlier ? ' outlier' : ''), () => this.zoom(layer), open);
        if (!type || wall(layer) / span < 0.05) return;
        // Roles are known for the type, so they share the busy time in proportion; the rest is idle.
        const total = type.roles.reduce((sum, role) => sum + role.wall, 0) || 1;
        const busy = Math.min(layer.busy, wall(layer));
        let at = layer.from;
        for (const role of type.roles) {
            const width = (role.wall / total) * busy;
            this.cell(at, at + width, 2, this.app.word('role.' + role.name).replace(/^role\./, ''), `${role.name}: ${time(role.wall)}, ${share(role.share)}`, 'role', () => this.zoom(layer), open);
            const ops = role.ops.reduce((sum, op) => sum + op.total, 0) || 1;
            let from = at;
            for (const op of role.ops) {
                const part = (op.total / ops) * width;
                this.cell(from, from + part, 3, op.name, `${op.name}: ${op.count} × ${time(op.total / Math.max(op.count, 1))}`, 'op', () => this.zoom(layer), open);
                from += part;
            }
            at += width;
        }
        const idle = t('model.idle', { share: share(1 - busy / Math.max(wall(layer), 1)) });
        this.cell(layer.from + busy, layer.to, 2, idle, `${idle}: ${time(wall(layer) - busy)}`, 'idle', () => this.zoom(layer), open);
    }
}

function layerGrid(app: App, layers: Layers): Grid<Entry> {
    const entries = layers.passes.flatMap((pass, p) => pass.layers.map((layer, place) => ({ layer, pass: p, place })));
    entries.sort((a, b) => wall(b.layer) - wall(a.layer));
    const typeOf = (entry: Entry): string => (entry.layer.type === null ? '' : layers.types[entry.layer.type].name);
    const columns: Column<Entry>[] = [
        { id: 'layer', head: t('model.column.layer'), isNumber: false, value: (e) => e.layer.index, show: (e) => t('model.layer', { n: e.layer.index }) },
        { id: 'pass', head: t('model.column.pass'), isNumber: false, value: (e) => e.pass, show: (e) => String(layers.passes[e.pass].name) },
        { id: 'type', head: t('model.column.type'), isNumber: false, value: typeOf, show: (e) => name(typeOf(e)) },
        { id: 'phase', head: t('model.column.phase'), isNumber: false, value: (e) => e.layer.phase, show: (e) => e.layer.phase },
        { id: 'wall', head: t('model.column.wall'), isNumber: true, value: (e) => wall(e.layer), show: (e) => exact(wall(e.layer)) },
        { id: 'busy', head: t('model.column.busy'), isNumber: true, value: (e) => e.layer.busy, show: (e) => exact(e.layer.busy) },
        { id: 'idle', head: t('model.column.idle'), isNumber: true, value: (e) => 1 - e.layer.busy / Math.max(wall(e.layer), 1), show: (e) => share(1 - e.layer.busy / Math.max(wall(e.layer), 1)) },
        { id: 'outlier', head: t('model.column.note'), isNumber: false, value: (e) => (e.layer.outlier ? 1 : 0), show: (e) => (e.layer.outlier ? t('model.outlier') : '') },
    ];
    const open = (entry: Entry): void => app.shared.go({ view: 'timeline', layer: `${entry.pass}.${entry.place}`, selected: null, gap: null });
    const grid = new Grid<Entry>(columns, open, t('model.layers'));
    grid.setRows(entries);
    return grid;
}

export function modelView(app: App): HTMLElement {
    const layers = app.set.layers;
    if (!layers || layers.passes.length === 0) return el('p', { class: 'hint' }, t('model.none'));
    const holder = el('div', { class: 'chart-holder', tabindex: 0, role: 'group', 'aria-label': t('model.icicle') });
    const show = (pass: number): void => holder.replaceChildren(new Icicle(app, layers, pass).root);
    const choice = el('select', { class: 'tool', 'aria-label': t('model.column.pass') });
    layers.passes.forEach((pass: Pass, i) => choice.append(el('option', { value: i }, t('model.pass', { name: pass.name }) + ' · ' + time(wall(pass)))));
    choice.addEventListener('change', () => show(Number(choice.value)));
    show(0);
    const reset = button(t('bar.whole'), () => show(Number(choice.value)), { class: 'tool' });
    return el('div', {},
        app.model.view === 'model' ? '' : el('p', { class: 'lead' }, app.both(layers.summary)), // the verdict already
        el('h3', {}, t('model.layers')), layerGrid(app, layers).root,
        el('h3', {}, t('model.icicle')), el('div', { class: 'toolbar' }, choice, reset, el('span', { class: 'second' }, t('model.hint'))), holder,
    );
}
