// Views of results that are no captures: bars, tables, charts and maps of memory, as the data lists them.
import { App } from '../app';
import { button, el, name, save, svg } from '../dom';
import { BarsPart, MapPart, Panel, Part, TablePart, Unit, Words } from '../model';
import { t } from '../text';
import { binaryBytes, bytes, cyclesWord, grouped, nanoseconds, rate, share, signed, time } from '../units';
import { chart } from './chart';
import { csv } from './csv';
import { Column, Grid } from './grid';
import { heatOf } from './heat';
import { lanesOf } from './lanes';

const MAP_W = 1200;
const MAP_H = 220;
const MAP_LEFT = 72;

const isText = (unit: Unit): boolean => unit === 'text' || unit === 'name' || unit === 'code';

export function flops(n: number): string {
    return rate(n).replace('B/s', 'FLOP/s');
}

export function numberText(unit: Unit, value: number): string {
    switch (unit) {
        case 'ticks':
            return time(value);
        case 'ns':
            return nanoseconds(value);
        case 'share':
            return share(value);
        case 'change':
            return signed(share(value));
        case 'bytes':
            return bytes(value);
        case 'bandwidth':
            return rate(value);
        case 'flops':
            return flops(value);
        case 'count':
            return grouped(value);
        default:
            return Number.isInteger(value) ? grouped(value) : Number(value.toPrecision(3)).toString();
    }
}

function track(value: number, most: number, before: number | null, family: number): SVGElement {
    const percent = (x: number): string => `${Math.max(0, Math.min(100, most > 0 ? (100 * x) / most : 0))}%`;
    const box = svg('svg', { class: 'track', height: 14, 'aria-hidden': 'true' });
    if (before) box.append(svg('rect', { class: 'before', width: percent(before), height: 14 }));
    box.append(svg('rect', { class: family >= 0 ? 'f' + family : 'f7', width: percent(value), height: 14 }));
    return box;
}

function linked(link: string | null, text: string): Node | string {
    return link ? el('a', { href: link }, text) : text;
}

function barsOf(app: App, part: BarsPart): HTMLElement {
    const list = el('ul', { class: 'bars' });
    for (const bar of part.bars) {
        const value = el('span', { class: 'value' }, numberText(part.unit, bar.value));
        if (part.stack && part.most > 0) value.append(' · ' + share(bar.value / part.most));
        if (part.saved && bar.before) value.append(' ', el('b', { class: 'better-text' }, signed(share(bar.value / bar.before - 1))));
        list.append(el('li', {}, el('span', { class: 'label' }, linked(bar.link, app.both(bar.label))), track(bar.value, part.most, bar.before, bar.family), value));
    }
    return list;
}

interface Row {
    place: number;
    cells: (Words | number | null)[];
}

function columnsOf(app: App, part: TablePart): Column<Row>[] {
    return part.columns.map((column, c) => {
        const isCycles = column.unit === 'ticks' && cyclesWord() !== null;
        const text = (row: Row): string => {
            const cell = row.cells[c];
            return cell === null ? '' : typeof cell === 'number' ? numberText(isCycles ? 'count' : column.unit, cell) : app.both(cell);
        };
        const most = column.bar ? part.rows.reduce((m, row) => Math.max(m, Number(row[c]) || 0), 0) : 0;
        const show = (row: Row): Node | string => {
            if (column.unit === 'name') return name(text(row), '', 60);
            if (column.unit === 'code') return el('code', { title: text(row) }, text(row));
            return column.bar ? el('span', { class: 'with-bar' }, track(Number(row.cells[c]) || 0, most, null, 0), text(row)) : text(row);
        };
        return {
            id: String(c), head: app.both(column.head) + (isCycles ? ` (${cyclesWord()})` : ''), isNumber: !isText(column.unit), className: column.unit === 'code' ? 'wide' : column.unit === 'text' ? 'mid' : undefined,
            value: (row) => (typeof row.cells[c] === 'number' || row.cells[c] === null ? (row.cells[c] as number | null) : text(row)), show,
        };
    });
}

function plainCell(app: App, cell: Words | number | null): string | number | null {
    return cell === null || typeof cell === 'number' ? cell : app.both(cell);
}

function tableOf(app: App, panel: Panel, part: TablePart, isMain: boolean): HTMLElement {
    const columns = columnsOf(app, part).filter((_, i) => part.rows.length === 0 || part.rows.some((row) => row[i] !== null));
    const label = part.title ? app.both(part.title) : app.both(panel.title);
    const act = (row: Row): void => {
        const link = part.links[row.place];
        if (link) location.hash = link;
        else if (isMain) app.shared.set({ row: row.place });
    };
    const grid = new Grid<Row>(columns, act, label);
    const rows = part.rows.map((cells, place) => ({ place, cells }));
    const filter = el('input', { type: 'search', class: 'search', placeholder: t('panel.filter'), 'aria-label': t('panel.filter') });
    const count = el('output', { class: 'hits' });
    const update = (): void => {
        const text = filter.value.toLowerCase();
        const kept = rows.filter((row) => text === '' || row.cells.some((cell) => cell !== null && typeof cell !== 'number' && app.both(cell).toLowerCase().includes(text)));
        grid.setRows(kept);
        count.textContent = t('kernels.rows', { n: grouped(kept.length), total: grouped(rows.length) });
    };
    const download = button('CSV', () => save(`${app.model.title}-${panel.id}.csv`, 'text/csv',
        csv(part.columns.map((column) => column.head.en), part.rows.map((row) => row.map((cell) => plainCell(app, cell))))), { class: 'tool' });
    filter.addEventListener('input', update);
    update();
    const mark = (): void => {
        const { state } = app.shared;
        grid.choose(isMain && state.view === panel.id && state.row !== null ? rows[state.row] ?? null : null);
    };
    if (isMain) {
        app.shared.on((state, before) => {
            if (state.row !== before.row || state.view !== before.view) mark();
        });
        requestAnimationFrame(mark);
    }
    return el('div', {}, el('div', { class: 'toolbar' }, ...(rows.length > 8 ? [filter, count] : []), download), grid.root);
}

// Address against time: which buffer lies where, and how long.
function mapOf(app: App, part: MapPart): HTMLElement {
    const x = (v: number): number => MAP_LEFT + (v / (part.until || 1)) * (MAP_W - MAP_LEFT - 8);
    const y = (v: number): number => MAP_H - 24 - (v / (part.size || 1)) * (MAP_H - 40);
    const used = Math.max(0, ...part.boxes.map((box) => box.at + box.size));
    const drawing = svg('svg', { class: 'chart memory-map', viewBox: `0 0 ${MAP_W} ${MAP_H}`, role: 'img' }, svg('title', {}, app.both(part.name)),
        svg('desc', {}, t('panel.map', { used: binaryBytes(used), size: binaryBytes(part.size) })));
    for (const at of [0, part.size / 2, part.size]) {
        drawing.append(svg('line', { class: 'rule', x1: MAP_LEFT, x2: MAP_W - 8, y1: y(at), y2: y(at) }));
        drawing.append(svg('text', { class: 'tick', x: MAP_LEFT - 6, y: y(at) + 4, 'text-anchor': 'end' }, binaryBytes(at)));
    }
    for (const box of part.boxes) {
        const [left, width] = [x(box.from), Math.max(1, x(box.to) - x(box.from))];
        const group = svg('g', { class: 'box' }, svg('title', {}, `${app.both(box.name)}: ${binaryBytes(box.size)}, ${time(box.from)} – ${time(box.to)}`),
            svg('rect', { class: 'f' + Math.max(0, box.family), x: left, y: y(box.at + box.size), width, height: Math.max(1, y(box.at) - y(box.at + box.size)) }));
        const height = y(box.at) - y(box.at + box.size);
        const label = app.both(box.name);
        if (width > label.length * 7 + 12 && height > 15) group.append(svg('text', { class: 'on' + Math.max(0, box.family), x: left + 6, y: y(box.at) - height / 2 + 4 }, label));
        drawing.append(group);
    }
    drawing.append(svg('text', { class: 'tick', x: MAP_LEFT, y: MAP_H - 6 }, '0'), svg('text', { class: 'tick', x: MAP_W - 8, y: MAP_H - 6, 'text-anchor': 'end' }, time(part.until)));
    return el('figure', { tabindex: 0 }, el('figcaption', {}, el('h3', {}, app.both(part.name)), el('p', { class: 'second' }, t('panel.map', { used: binaryBytes(used), size: binaryBytes(part.size) }))), drawing);
}

function partOf(app: App, panel: Panel, part: Part, isMain: boolean): HTMLElement {
    switch (part.type) {
        case 'bars':
            return barsOf(app, part);
        case 'table':
            return tableOf(app, panel, part, isMain);
        case 'chart':
            return chart(app, panel, part);
        case 'map':
            return mapOf(app, part);
        case 'grid':
            return heatOf(app, part);
        case 'lanes':
            return lanesOf(app, part);
    }
}

export function panelView(app: App, panel: Panel): HTMLElement {
    const root = el('div', { class: 'panel' });
    const main = panel.parts.find((part) => part.type === 'table');
    for (const part of panel.parts) {
        if (part.title && part.type !== 'map') root.append(el('h3', {}, app.both(part.title)));
        if (part.text) root.append(el('p', { class: 'second' }, app.both(part.text)));
        root.append(partOf(app, panel, part, part === main));
    }
    return root;
}
