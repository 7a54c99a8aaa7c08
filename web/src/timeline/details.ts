// Details below the timeline: the selected item, gap or range.
import { App } from '../app';
import { SliceFacts } from '../live/server';
import { DETAIL } from '../live/tiles';
import { button, el, name, save, svg } from '../dom';
import { CAUSES, KINDS, STATES } from '../model';
import { Row } from '../rows';
import { Range, Ref } from '../state';
import { Stats } from '../stats';
import { known, t } from '../text';
import { exactNs, grouped, share, time } from '../units';
import { gapOf } from './gaps';
import { arrowsOf } from './overlay';
import type { Timeline } from './view';

const MOST_ROWS = 100;
const BINS = 24;

type Fact = [string, Node | string | null];

function facts(list: Fact[]): HTMLElement {
    const dl = el('dl', { class: 'facts' });
    for (const [label, value] of list) if (value !== null && value !== '') dl.append(el('div', {}, el('dt', {}, label), el('dd', {}, value)));
    return dl;
}

const exact = (ns: number): HTMLElement => el('span', { title: exactNs(ns) }, time(ns));

function bar(part: number, className: string): SVGElement {
    const mark = svg('svg', { class: 'bar', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    mark.append(svg('rect', { class: className, width: Math.max(0, Math.min(100, part * 100)), height: 8 }));
    return mark;
}

const attributeFacts = (slice: SliceFacts): HTMLElement => facts(Object.entries(slice.args ?? {}).map(([key, value]): Fact => [key, String(value)]));

// Counts of durations in bins of equal ratio, the selected one marked.
function histogram(values: number[], chosen: number): SVGElement {
    const low = Math.log(Math.max(1, values[0]));
    const high = Math.log(Math.max(2, values[values.length - 1]));
    const bin = (v: number): number => Math.min(BINS - 1, Math.floor(((Math.log(Math.max(1, v)) - low) / (high - low || 1)) * BINS));
    const counts = new Array<number>(BINS).fill(0);
    for (const v of values) counts[bin(v)]++;
    const most = Math.max(...counts);
    const chart = svg('svg', { class: 'histogram', viewBox: `0 0 ${BINS * 5} 32`, role: 'img' });
    chart.append(svg('title', {}, t('detail.histogram', { n: values.length, least: time(values[0]), most: time(values[values.length - 1]) })));
    counts.forEach((n, i) => {
        const height = n === 0 ? 0 : Math.max(1.5, (n / most) * 31);
        chart.append(svg('rect', { x: i * 5, y: 32 - height, width: 4, height, class: i === bin(chosen) ? 'chosen' : '' }));
    });
    return chart;
}

export class Details {
    readonly root: HTMLElement;
    private readonly body: HTMLElement;
    private shown = '';

    constructor(private readonly app: App, private readonly timeline: Timeline) {
        this.body = el('div', { class: 'details-body' });
        this.root = el('section', { class: 'details', 'aria-label': t('detail.title') }, this.body);
        app.shared.on(() => this.update());
        app.store.onPart(() => app.store.isDone && this.update(true));
        app.store.onDetail(() => this.update(true));
        this.update();
    }

    toggle(): void {
        this.root.hidden = !this.root.hidden;
    }

    update(isForced = false): void {
        const { selected, gap, range, lanes, set } = this.app.shared.state;
        const key = JSON.stringify([selected, gap, range, lanes, set, this.app.lang]);
        if (key === this.shown && !isForced) return;
        this.shown = key;
        if (selected) this.showItem(selected);
        else if (gap) this.showGap(gap);
        else if (range) void this.showRange(range);
        else this.body.replaceChildren(el('p', { class: 'hint' }, t('detail.hint')));
    }

    private link(ref: Ref | null, extra = ''): HTMLElement | null {
        if (!ref) return null;
        const place = this.app.store.place(ref.set, ref.lane, ref.index);
        if (!place) return null;
        const to = button('', () => this.timeline.select(ref), { class: 'link' });
        to.append(name(this.app.store.name(ref.set, place.row.what[place.k]), '', 56));
        return el('span', {}, to, ' ', exact(place.row.end[place.k] - place.row.start[place.k]), extra);
    }

    private showItem(ref: Ref): void {
        const { app } = this;
        const place = app.store.place(ref.set, ref.lane, ref.index);
        if (!place) {
            this.body.replaceChildren(el('p', { class: 'hint' }, t('detail.loading')));
            this.showUndrawn(ref);
            return;
        }
        const { row, k } = place;
        const what = row.what[k];
        const set = app.model.sets[ref.set];
        const data = app.store.lane(ref.set, ref.lane);
        const step = set.steps[app.store.step(ref.set, ref.lane, ref.index)];
        const wait = data?.columns.wait?.[ref.index] ?? 0;
        const bundle = row.bundle ? row.bundle[k] : -1;
        const list: Fact[] = [
            [t('detail.start'), exact(row.start[k])],
            [t('detail.duration'), exact(row.end[k] - row.start[k])],
            [t('detail.family'), app.word('family.' + row.family[k])],
            [t('detail.kind'), app.word('kind.' + KINDS[app.store.kind(ref.set, what)])],
            [t('detail.shapes'), app.store.text(ref.set, 'shapes', what)],
            [t('detail.types'), app.store.text(ref.set, 'types', what)],
            [t('detail.wait'), wait > 0 ? exact(wait) : null],
            [t('detail.step'), step && !set.is_pseudo ? step.id : null],
            [t('detail.lane'), set.groups[set.lanes[ref.lane].group].name + ' · ' + set.lanes[ref.lane].name],
            [t('detail.bundle'), bundle >= 0 && row.bundles ? t('detail.bundled', { n: grouped(row.bundles.more[bundle] + 1) }) : null],
        ];
        this.body.replaceChildren(
            this.head(name(app.store.name(ref.set, what), 'title')),
            facts(list),
            this.arrowLinks(ref),
            this.attributes(ref, row, k),
            this.occurrences(ref, row, k),
            this.itemActions(ref, what),
        );
    }

    private head(title: Node): HTMLElement {
        return el('header', { class: 'details-head' }, el('h3', {}, title), button('×', () => this.clear(), { class: 'close', 'aria-label': t('detail.close') }));
    }

    private clear(): void {
        this.app.shared.set({ selected: null, gap: null, range: null, lanes: [] });
        this.timeline.stage.focus({ preventScroll: true });
    }

    // All attributes of a slice, from the capture itself.
    private attributes(ref: Ref, row: Row, k: number): HTMLElement {
        const { server } = this.app;
        const holder = el('div', { class: 'attributes' });
        if (!server || (row.bundle && row.bundle[k] >= 0)) return holder;
        const asked = ref.index >= DETAIL ? server.slice(ref.set, ref.lane, ref.index - DETAIL) : server.sliceNear(ref.set, ref.lane, row.start[k], row.what[k]);
        void asked.then((slice) => holder.replaceChildren(attributeFacts(slice)), () => undefined);
        return holder;
    }

    // A slice of the capture that is not drawn now: an address names it, or it was zoomed out of.
    private showUndrawn(ref: Ref): void {
        const { server, model } = this.app;
        const set = model.sets[ref.set];
        const lane = set?.lanes[ref.lane];
        if (!server || !lane || ref.index < DETAIL) return;
        const key = this.shown;
        void server.slice(ref.set, ref.lane, ref.index - DETAIL).then((slice) => {
            if (this.shown !== key || this.app.store.place(ref.set, ref.lane, ref.index)) return;
            this.body.replaceChildren(this.head(name(slice.name, 'title')), facts([
                [t('detail.start'), exact(slice.start_ns)],
                [t('detail.duration'), exact(slice.dur_ns)],
                [t('detail.lane'), set.groups[lane.group].name + ' · ' + lane.name],
            ]), el('div', { class: 'attributes' }, attributeFacts(slice)));
        }, () => this.body.replaceChildren(el('p', { class: 'hint' }, t('detail.hint'))));
    }

    private arrowLinks(ref: Ref): HTMLElement {
        const list: Fact[] = arrowsOf(this.app, ref).slice(0, 6).map((arrow) => {
            const isFrom = arrow.from.lane === ref.lane && arrow.from.index === ref.index;
            return [t(isFrom ? 'arrow.to' : 'arrow.from', { kind: known('arrow.kind.', arrow.kind) }), this.link(isFrom ? arrow.to : arrow.from)];
        });
        return facts(list);
    }

    // Where the item stands among all of its name in the lane.
    private occurrences(ref: Ref, row: Row, k: number): HTMLElement {
        const same: number[] = [];
        for (let i = 0; i < row.what.length; i++) if (row.what[i] === row.what[k]) same.push(i);
        const durations = same.map((i) => row.end[i] - row.start[i]).sort((a, b) => a - b);
        const own = row.end[k] - row.start[k];
        const rank = durations.length - durations.lastIndexOf(own);
        const at = same.indexOf(k);
        const go = (i: number): void => this.timeline.select({ ...ref, index: row.index[same[(i + same.length) % same.length]] });
        if (same.length < 2) return el('div');
        return el(
            'div', { class: 'occurrences' }, histogram(durations, own),
            el('p', {}, t('detail.rank', { rank: grouped(rank), n: grouped(same.length) })),
            el('p', {}, button(t('detail.previous'), () => go(at - 1), { class: 'tool' }), ' ', button(t('detail.next'), () => go(at + 1), { class: 'tool' })),
        );
    }

    private itemActions(ref: Ref, what: number): HTMLElement {
        const { app } = this;
        const row = app.model.sets[ref.set].kernels.findIndex((kernel) => kernel.what === what);
        const shown = el('p', { class: 'actions' });
        if (row >= 0) shown.append(button(t('detail.kernel'), () => app.shared.go({ view: 'kernels', kernel: row, set: ref.set }), { class: 'tool' }));
        shown.append(button(t('detail.alike'), () => app.shared.set({ query: app.store.name(ref.set, what).slice(0, 80) }), { class: 'tool' }));
        return shown;
    }

    private showGap(range: Range): void {
        const { app, timeline } = this;
        const { set } = app.shared.state;
        const columns = app.store.gaps[set];
        const gap = gapOf(timeline.gaps[set] ?? [], range);
        if (!columns || !gap) {
            this.body.replaceChildren(el('p', { class: 'hint' }, t('detail.loading')));
            return;
        }
        const ref = (item: number): Ref | null => {
            const at = item < 0 ? null : app.store.item(set, item);
            return at ? { set, ...at } : null;
        };
        const total = gap.to - gap.from;
        const byCause = gap.pieces.map((i) => ({ i, cause: CAUSES[columns.cause[i]], ns: columns.end[i] - columns.start[i] })).sort((a, b) => b.ns - a.ns);
        const main = byCause[0];
        const last = gap.pieces[gap.pieces.length - 1];
        const rows = byCause.slice(0, 8).map(({ i, cause, ns }) => el('tr', {},
            el('td', {}, app.word('idle.' + cause)), el('td', { class: 'number' }, exact(ns)), el('td', { class: 'number' }, share(ns / total)),
            el('td', {}, this.link(ref(columns.filler[i])) ?? ''),
        ));
        this.body.replaceChildren(
            this.head(el('span', { class: 'gap-title' }, t('gap.title', { time: time(total), cause: app.word('idle.' + main.cause) }))),
            facts([
                [t('detail.start'), exact(gap.from)],
                [t('gap.state'), app.word('state.' + STATES[columns.state[main.i]])],
                [t('gap.drained'), this.link(ref(columns.drain[main.i]))],
                [t('gap.launch'), this.link(ref(columns.launch[last]))],
                [t('gap.waits'), this.link(ref(columns.task[main.i]))],
                [t('gap.ends'), this.link(ref(columns.ends[last]))],
            ]),
            el('table', { class: 'small' }, el('thead', {}, el('tr', {}, ...['gap.cause', 'detail.duration', 'gap.share', 'gap.filled'].map((key) => el('th', { scope: 'col' }, t(key))))), el('tbody', {}, ...rows)),
        );
    }

    private async showRange(range: Range): Promise<void> {
        const key = this.shown;
        const stats = await this.timeline.statistics(range);
        if (key !== this.shown) return;
        const length = range.to - range.from;
        const copy = button(t('range.copy'), () => void navigator.clipboard?.writeText(this.tsv(stats)), { class: 'tool' });
        const csv = button(t('range.save'), () => save('range.tsv', 'text/tab-separated-values', this.tsv(stats)), { class: 'tool' });
        this.body.replaceChildren(
            this.head(el('span', { class: 'range-title' }, t('range.title', { time: time(length) }))),
            facts([
                [t('detail.start'), exact(range.from)],
                [t('range.busy'), el('span', { class: 'range-busy', 'data-ns': stats.busy, title: exactNs(stats.busy) }, time(stats.busy) + ' · ' + share(stats.busy / length))],
                [t('range.sum'), el('span', { class: 'range-sum', 'data-ns': stats.sum, title: exactNs(stats.sum) }, time(stats.sum))],
                [t('range.count'), el('span', { class: 'range-count', 'data-n': stats.count }, grouped(stats.count))],
                [t('range.rounded'), stats.isRounded ? '±' : null],
            ]),
            el('div', { class: 'columns' }, this.byKernel(stats), this.byFamily(stats, length), this.byCause(stats, length)),
            el('p', { class: 'actions' }, copy, ' ', csv),
        );
    }

    private byKernel(stats: Stats): HTMLElement {
        const most = stats.byWhat[0]?.sum ?? 1;
        const rows = stats.byWhat.slice(0, MOST_ROWS).map((one) => {
            const label = this.app.store.name(one.set, one.what);
            const find = button('', () => this.app.shared.set({ query: label.slice(0, 80) }), { class: 'link' });
            find.append(name(label, '', 72));
            return el('tr', {}, el('td', { class: 'wide' }, find), el('td', { class: 'number' }, grouped(one.count)),
                el('td', { class: 'number', 'data-ns': one.sum }, exact(one.sum)), el('td', { class: 'barcell' }, bar(one.sum / most, 'f' + (this.app.store.dictionaries[one.set]?.family[one.what] ?? 7))));
        });
        return this.table(['range.name', 'range.count', 'range.sum', ''], rows, 'by-kernel');
    }

    private byFamily(stats: Stats, length: number): HTMLElement {
        const rows = stats.byFamily.map((ns, f) => ({ ns, f })).filter((one) => one.ns > 0).sort((a, b) => b.ns - a.ns).map(({ ns, f }) =>
            el('tr', {}, el('td', {}, el('span', { class: 'swatch f' + f }), this.app.word('family.' + f)), el('td', { class: 'number' }, exact(ns)), el('td', { class: 'number' }, share(ns / length))));
        return this.table(['range.family', 'range.sum', 'range.share'], rows, 'by-family');
    }

    private byCause(stats: Stats, length: number): HTMLElement {
        const rows = stats.idle.map(({ cause, ns }) => el('tr', {}, el('td', {}, this.app.word('idle.' + cause)), el('td', { class: 'number' }, exact(ns)), el('td', { class: 'number' }, share(ns / length))));
        return rows.length > 0 ? this.table(['range.idle', 'detail.duration', 'range.share'], rows, 'by-cause') : el('div');
    }

    private table(heads: string[], rows: HTMLElement[], className: string): HTMLElement {
        const head = el('tr', {}, ...heads.map((key) => el('th', { scope: 'col' }, key === '' ? '' : t(key))));
        return el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': t(heads[0]) }, el('table', { class: 'small ' + className }, el('thead', {}, head), el('tbody', {}, ...rows)));
    }

    private tsv(stats: Stats): string {
        const lines = [['name', 'count', 'sum_ns']];
        for (const one of stats.byWhat) lines.push([this.app.store.name(one.set, one.what).replace(/[\t\n]/g, ' '), String(one.count), String(one.sum)]);
        lines.push(['busy (union)', '', String(stats.busy)]);
        for (const { cause, ns } of stats.idle) lines.push(['idle: ' + cause, '', String(ns)]);
        return lines.map((line) => line.join('\t')).join('\n') + '\n';
    }
}
