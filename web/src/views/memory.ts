// Memory: allocated and reserved bytes over time, the peak marked. Other counters below.
import { App } from '../app';
import { button, el, name, svg } from '../dom';
import { Counter, MemoryPool } from '../model';
import { t } from '../text';
import { binaryBytes, share, time } from '../units';

const W = 1200;
const H = 220;
const LEFT = 84;
const BOTTOM = 28;
const FLAT = 0.8; // share of the peak that is always taken

const amount = (counter: Counter, value: number): string => (counter.unit === 'B' ? binaryBytes(value) : `${Number(value.toPrecision(4))}\u202f${counter.unit}`);

// Index of the largest value.
const peakOf = (counter: Counter): number => counter.v.reduce((best, v, i) => (v > counter.v[best] ? i : best), 0);

function chart(app: App, counters: Counter[], title: string): HTMLElement {
    const { set } = app;
    const most = Math.max(...counters.map((c) => c.v[peakOf(c)] ?? 0), 1);
    const least = Math.min(...counters[0].v);
    const low = least > FLAT * most && least < most ? least : 0; // a curve that hardly moves would be a line
    const x = (ns: number): number => LEFT + (ns / Math.max(set.to, 1)) * (W - LEFT - 8);
    const y = (v: number): number => H - BOTTOM - ((v - low) / Math.max(most - low, 1)) * (H - BOTTOM - 24);
    const top = counters[0];
    const peak = peakOf(top);
    const picture = svg('svg', { class: 'chart memory', viewBox: `0 0 ${W} ${H}`, role: 'img' }, svg('title', {}, title),
        svg('desc', {}, t('memory.desc', { name: top.name, peak: amount(top, top.v[peak]), time: time(top.t[peak]) })));
    for (const part of [0, 0.5, 1]) {
        const v = low + (most - low) * part;
        picture.append(svg('line', { class: 'rule', x1: LEFT, x2: W - 8, y1: y(v), y2: y(v) }));
        picture.append(svg('text', { class: 'tick', x: LEFT - 8, y: y(v) + 4, 'text-anchor': 'end' }, amount(top, v)));
    }
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
        picture.append(svg('text', { class: 'tick', x: x(set.to * part), y: H - 8, 'text-anchor': part === 1 ? 'end' : 'middle' }, time(set.to * part)));
    }
    counters.forEach((counter, k) => {
        const path = counter.t.map((ns, i) => `${i === 0 ? 'M' : 'H' + x(ns).toFixed(1) + 'V'}${i === 0 ? x(ns).toFixed(1) + ',' : ''}${y(counter.v[i]).toFixed(1)}`).join('');
        if (k === 0) picture.append(svg('path', { class: 'area', d: `${path}V${y(low)}H${x(counter.t[0] ?? 0)}Z` }));
        picture.append(svg('path', { class: 'curve c' + k, d: path }));
    });
    const px = x(top.t[peak]);
    picture.append(svg('circle', { class: 'peak', cx: px, cy: y(top.v[peak]), r: 4 }));
    picture.append(svg('text', { class: 'label', x: Math.min(Math.max(px, LEFT + 60), W - 120), y: Math.max(14, y(top.v[peak]) - 8), 'text-anchor': 'middle' }, t('memory.peak', { peak: amount(top, top.v[peak]), time: time(top.t[peak]) })));
    picture.addEventListener('click', (event) => {
        const box = picture.getBoundingClientRect();
        const at = (((event.clientX - box.left) / box.width) * W - LEFT) / (W - LEFT - 8) * set.to;
        app.shared.go({ view: 'timeline', window: { from: at - set.to / 100, to: at + set.to / 100 } });
    });
    const legend = el('ul', { class: 'legend' }, ...counters.map((counter, k) => el('li', {}, el('span', { class: 'swatch c' + k }), app.word(counter.role ?? counter.name))));
    return el('figure', { tabindex: 0 }, el('figcaption', {}, el('h3', {}, title)), picture, legend);
}

// What lived at the peak, largest first.
function uses(app: App, pool: MemoryPool): HTMLElement {
    const rows = pool.uses.map((use) => ({ label: name(use.name), bytes: use.bytes, n: String(use.n) }));
    if (pool.before > 0) rows.push({ label: el('span', {}, t('memory.before')), bytes: pool.before, n: '' });
    rows.sort((a, b) => b.bytes - a.bytes);
    const at = button(t('memory.show'), () => app.shared.go({ view: 'timeline', window: { from: pool.at - app.set.to / 100, to: pool.at + app.set.to / 100 } }), { class: 'tool' });
    const head = [pool.held ? 'memory.column.stack' : 'memory.column.name', 'memory.column.bytes', 'memory.column.share', 'memory.column.count'].map((key, i) => el('th', { scope: 'col', class: i > 0 ? 'number' : '' }, t(key)));
    return el('div', { class: 'uses' }, el('div', { class: 'toolbar' }, el('h4', {}, t('memory.uses', { peak: binaryBytes(pool.peak) })), at),
        el('div', { class: 'scroll', tabindex: 0 }, el('table', { class: 'small' }, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows.map((row) => el('tr', {},
            el('td', {}, row.label), el('td', { class: 'number' }, binaryBytes(row.bytes)), el('td', { class: 'number' }, share(row.bytes / Math.max(pool.peak, 1))), el('td', { class: 'number' }, row.n)))))));
}

const BAR = 14; // height of a segment
const SWATCHES = 8;
const swatch = (use: number): string => (use === -1 ? 'free' : use < 0 ? 'f7' : 'f' + (use % (SWATCHES - 1)));

// The allocator at the end: a bar a segment, a part of it a block.
function blocks(pool: MemoryPool): HTMLElement {
    const held = pool.held as NonNullable<MemoryPool['held']>;
    const most = Math.max(...held.segments.map((segment) => segment.bytes), 1);
    const height = held.segments.length * (BAR + 2);
    const picture = svg('svg', { class: 'chart segments', viewBox: `0 0 ${W} ${height}`, role: 'img' }, svg('title', {}, t('memory.blocks')),
        svg('desc', {}, t('memory.held', { reserved: binaryBytes(held.reserved), requested: binaryBytes(held.requested), inactive: binaryBytes(held.inactive), fragmented: binaryBytes(held.fragmented) })));
    held.segments.forEach((segment, row) => {
        let at = 0;
        for (const [bytes, use] of segment.blocks) {
            const label = use === -1 ? t('memory.free') : use < 0 ? t('memory.others') : held.uses[use].name;
            picture.append(svg('rect', { class: swatch(use), x: ((at / most) * W).toFixed(1), y: row * (BAR + 2), width: Math.max((bytes / most) * W - 0.5, 0.5).toFixed(1), height: BAR },
                svg('title', {}, `${label} · ${binaryBytes(bytes)}`)));
            at += bytes;
        }
    });
    const legend = el('ul', { class: 'legend' }, ...held.uses.map((use, i) => el('li', {}, el('span', { class: 'swatch ' + swatch(i) }), name(use.name), el('span', {}, '\u00a0\u00b7 ' + binaryBytes(use.bytes)))),
        el('li', {}, el('span', { class: 'swatch f7' }), t('memory.others')), el('li', {}, el('span', { class: 'swatch free' }), t('memory.free')));
    const more = held.segments_total - held.segments.length;
    return el('figure', { tabindex: 0 }, el('figcaption', {}, el('h4', {}, t('memory.blocks'))),
        el('p', { class: 'hint' }, t('memory.held', { reserved: binaryBytes(held.reserved), requested: binaryBytes(held.requested), inactive: binaryBytes(held.inactive), fragmented: binaryBytes(held.fragmented) })),
        picture, legend, more > 0 ? el('p', { class: 'hint' }, t('memory.more', { n: String(more) })) : '');
}

function poolPart(app: App, pool: MemoryPool): HTMLElement {
    const curves = pool.curves.filter((curve) => curve.v.length > 0);
    const part = el('div', {}, curves.length > 0 ? chart(app, curves, t('memory.title') + ' · ' + pool.name) : el('h3', {}, t('memory.title') + ' · ' + pool.name));
    if (pool.uses.length > 0) part.append(uses(app, pool));
    if (pool.held && pool.held.segments.length > 0) part.append(blocks(pool));
    return part;
}

export function memoryView(app: App): HTMLElement {
    const { counters, memory } = app.set;
    const byRole = (role: string): Counter | undefined => counters.find((counter) => counter.role === role);
    const main = memory.length > 0 ? [] : [byRole('allocated'), byRole('reserved')].filter((c): c is Counter => c !== undefined && c.v.length > 0);
    const others = counters.filter((counter) => !main.includes(counter) && !(memory.length > 0 && counter.role) && counter.v.some((v) => v !== 0)).slice(0, 12);
    if (memory.length + main.length + others.length === 0) return el('p', { class: 'hint' }, t('memory.none'));
    return el('div', {},
        ...memory.map((pool) => poolPart(app, pool)),
        memory.length > 0 ? '' : main.length > 0 ? chart(app, main, t('memory.title')) : el('p', { class: 'hint' }, t('memory.none')),
        ...others.map((counter) => chart(app, [counter], counter.name + (counter.process && counter.process !== counter.name ? ' · ' + counter.process : ''))));
}
