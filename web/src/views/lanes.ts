// Several ranks over one axis of time: work above, communication below, the critical path through them.
import { App } from '../app';
import { el, svg } from '../dom';
import { LanesPart, Span } from '../model';
import { t } from '../text';
import { time } from '../units';

const WIDTH = 1200;
const LEFT = 84;
const ROW = 30;

// "0, 5, 8-11": numbers in the names of rows.
export function chosenRows(text: string, names: string[]): number[] {
    const wanted = text.split(/[\s,]+/).filter(Boolean).map((one) => one.split('-').map(Number));
    return names.flatMap((name, i) => {
        const number = Number(/\d+/.exec(name)?.[0] ?? NaN);
        return wanted.some(([from, to]) => number >= from && number <= (to ?? from)) ? [i] : [];
    });
}

function spanOf(app: App, part: LanesPart, span: Span, place: number): SVGElement {
    const [, below, from, to, family, name] = span;
    const scale = (WIDTH - LEFT) / (part.until || 1);
    const x = LEFT + from * scale;
    const fill: { [key: string]: string } = family >= 0 ? { class: 'f' + family } : { fill: 'url(#h-sync)' };
    return svg('rect', { ...fill, x, y: place * ROW + (below ? 15 : 3), width: Math.max(0.5, (to - from) * scale), height: below ? 10 : 12 },
        svg('title', {}, `${app.both(part.names[name])}: ${time(to - from)} (${time(from)} – ${time(to)})`));
}

function drawing(app: App, part: LanesPart, rows: number[]): SVGElement {
    const height = rows.length * ROW + 20;
    const root = svg('svg', { class: 'chart lanes', viewBox: `0 0 ${WIDTH} ${height}`, role: 'img' }, svg('title', {}, part.title ? app.both(part.title) : ''));
    rows.forEach((row, place) => {
        root.append(svg('text', { class: 'tick' + (part.rowsMarked.includes(row) ? ' marked' : ''), x: 0, y: place * ROW + 18 }, app.both(part.rows[row])));
        root.append(svg('line', { class: 'rule', x1: LEFT, x2: WIDTH, y1: place * ROW + ROW - 1, y2: place * ROW + ROW - 1 }));
    });
    for (const span of part.spans) {
        const place = rows.indexOf(span[0]);
        if (place >= 0) root.append(spanOf(app, part, span, place));
    }
    const scale = (WIDTH - LEFT) / (part.until || 1);
    const points = part.path.filter((span) => rows.includes(span[0])).flatMap(([row, below, from, to]) => {
        const y = rows.indexOf(row) * ROW + (below ? 20 : 9);
        return [`${LEFT + from * scale},${y}`, `${LEFT + to * scale},${y}`];
    });
    if (points.length > 0) root.append(svg('polyline', { class: 'critical', points: points.join(' ') }));
    root.append(svg('text', { class: 'tick', x: LEFT, y: height - 5 }, '0'), svg('text', { class: 'tick', x: WIDTH, y: height - 5, 'text-anchor': 'end' }, time(part.until)));
    return root;
}

export function lanesOf(app: App, part: LanesPart): HTMLElement {
    const names = part.rows.map((row) => app.both(row));
    const input = el('input', { type: 'search', class: 'search', placeholder: t('panel.ranks'), 'aria-label': t('panel.ranks') });
    const holder = el('div', { class: 'scroll', tabindex: 0 });
    const count = el('output', { class: 'hits' });
    const show = (): void => {
        const wanted = chosenRows(input.value, names);
        const rows = wanted.length > 0 ? [...new Set([...wanted, ...part.first.slice(0, 2)])] : part.first;
        holder.replaceChildren(drawing(app, part, rows));
        count.textContent = t('panel.rows', { n: String(rows.length), all: String(part.rows.length) });
    };
    const follow = (view: string, row: number | null): void => {
        const number = view === 'slowest' && row !== null ? /\d+/.exec(names[row] ?? '') : null;
        if (number) input.value = number[0];
        show();
    };
    input.addEventListener('input', show);
    app.shared.on((state, before) => {
        if (state.row !== before.row || state.view !== before.view) follow(state.view, state.row);
    });
    follow(app.shared.state.view, app.shared.state.row);
    const legend = el('ul', { class: 'legend' }, ...part.legend.map((one) => el('li', {}, one.family >= 0 ? el('span', { class: 'swatch f' + one.family }) : svg('svg', { class: 'swatch', width: 12, height: 12 }, svg('rect', { width: 12, height: 12, fill: 'url(#h-sync)' })), app.both(one.label))));
    return el('div', {}, el('div', { class: 'toolbar' }, input, count), holder, legend);
}
