// Data: downloads, what the file keeps, and tables of kinds without a view of their own.
import { App } from '../app';
import { button, el, save, saveBlob } from '../dom';
import { Server } from '../live/server';
import { Set } from '../model';
import { firstEndingAfter } from '../rows';
import { t } from '../text';
import { exactNs, grouped } from '../units';
import { Cell, csv } from './csv';
import { kernelsCsv } from './kernels';
import { Timeline } from '../timeline/view';

interface TraceEvent {
    name: string;
    ph: string;
    pid: number;
    tid: number;
    ts?: number;
    dur?: number;
    args?: { [key: string]: string };
}

// The visible range as a Chrome trace, which Perfetto opens; µs with three decimals keep every nanosecond.
export function chromeTrace(app: App, timeline: Timeline): string {
    const events: TraceEvent[] = [];
    app.model.sets.forEach((set, s) => {
        const from = timeline.axis.from + timeline.zeros[s];
        const to = timeline.axis.to + timeline.zeros[s];
        set.groups.forEach((group, g) => events.push({ name: 'process_name', ph: 'M', pid: s * 1000 + g, tid: 0, args: { name: group.name } }));
        set.lanes.forEach((lane, l) => {
            const [pid, tid] = [s * 1000 + lane.group, l];
            events.push({ name: 'thread_name', ph: 'M', pid, tid, args: { name: lane.name } });
            for (const row of app.store.lane(s, l)?.rows ?? []) {
                for (let k = firstEndingAfter(row, from); k < row.start.length && row.start[k] < to; k++) {
                    events.push({ name: app.store.name(s, row.what[k]), ph: 'X', pid, tid, ts: row.start[k] / 1000, dur: (row.end[k] - row.start[k]) / 1000 });
                }
            }
        });
    });
    return JSON.stringify({ traceEvents: events, displayTimeUnit: 'ns' });
}

export function slicesCsv(app: App, set: number): string {
    const rows: Cell[][] = [];
    app.model.sets[set].lanes.forEach((lane, l) => {
        for (const row of app.store.lane(set, l)?.rows ?? []) {
            for (let k = 0; k < row.start.length; k++) {
                rows.push([app.model.sets[set].groups[lane.group].name, lane.name, row.depth, app.store.name(set, row.what[k]), row.start[k], row.end[k] - row.start[k]]);
            }
        }
    });
    return csv(['group', 'lane', 'depth', 'name', 'start_ns', 'duration_ns'], rows);
}

interface LaneColumns {
    start: number[];
    duration: number[];
    what: number[]; // place in `names`
}

// The items of a lane in its own order.
function laneColumns(app: App, set: number, lane: number): LaneColumns {
    const { n } = app.model.sets[set].lanes[lane];
    const columns: LaneColumns = { start: new Array<number>(n).fill(0), duration: new Array<number>(n).fill(0), what: new Array<number>(n).fill(0) };
    for (const row of app.store.lane(set, lane)?.rows ?? []) {
        for (let k = 0; k < row.start.length; k++) {
            columns.start[row.index[k]] = row.start[k];
            columns.duration[row.index[k]] = row.end[k] - row.start[k];
            columns.what[row.index[k]] = row.what[k];
        }
    }
    return columns;
}

// The model with the slices as plain columns in place of the packed ones.
export function modelJson(app: App): string {
    const packed = ['dictionary', 'chunks', 'arrows', 'gaps', 'overview'];
    const sets = app.model.sets.map((set, s) => ({
        ...set, names: app.store.namesOf(s), lanes: set.lanes.map((lane, l) => ({ ...lane, items: laneColumns(app, s, l) })),
    }));
    return JSON.stringify({ ...app.model, sets }, (key, value) => (packed.includes(key) ? undefined : value));
}

// The visible range as the engine writes it.
function cutButtons(app: App, timeline: Timeline, server: Server): HTMLElement[] {
    const status = el('p', { class: 'second cut-status', role: 'status' });
    const saved = async (as: string, file: string): Promise<void> => {
        const { set } = app.shared.state;
        const zero = timeline.zeros[set] ?? 0;
        const from = Math.max(0, Math.round(timeline.axis.from + zero));
        status.textContent = t('sql.running');
        try {
            saveBlob(file, await server.cut(set, from, Math.max(from + 1, Math.round(timeline.axis.to + zero)), as));
            status.textContent = '';
        } catch (error) {
            status.textContent = (error as Error).message;
        }
    };
    return [...[['page', 'cut.html'], ['chrome', 'cut.json'], ['perfetto', 'cut.pftrace']].map(([as, file]) => button(t('data.cut.' + as), () => void saved(as, file), { class: 'tool', 'data-cut': as })), status];
}

function setFacts(set: Set): HTMLElement {
    const fact = (label: string, value: string): HTMLElement => el('div', {}, el('dt', {}, label), el('dd', {}, value));
    return el('dl', { class: 'facts' }, fact(t('data.name'), set.name), fact(t('data.device'), set.device ?? '–'), fact(t('data.slices'), grouped(set.slices)),
        fact(t('data.items'), grouped(set.items)), fact(t('data.length'), exactNs(set.to)), fact(t('data.lanes'), grouped(set.lanes.length)));
}

export function dataView(app: App, timeline: Timeline | null): HTMLElement {
    const file = app.model.title.replace(/[^\w.-]+/g, '_').slice(0, 60) || 'strata';
    const list = el('div', { class: 'downloads' },
        button(t('data.json'), () => save(file + '.json', 'application/json', modelJson(app)), { class: 'tool' }));
    if (app.model.sets.length > 0) {
        list.append(button(t('data.kernels'), () => save(file + '-kernels.csv', 'text/csv', kernelsCsv(app.set.kernels)), { class: 'tool' }),
            button(t('data.slicesCsv'), () => save(file + '-slices.csv', 'text/csv', slicesCsv(app, app.shared.state.set)), { class: 'tool' }));
    }
    if (timeline && app.server) list.append(...cutButtons(app, timeline, app.server));
    if (timeline && !app.server) list.append(button(t('data.perfetto'), () => save(file + '-trace.json', 'application/json', chromeTrace(app, timeline)), { class: 'tool', title: t('data.perfetto.what') }));
    return el('div', {}, list, el('p', { class: 'second' }, t('data.offline')), ...app.model.sets.map(setFacts),
        app.model.redacted ? el('p', { class: 'note' }, t('data.redacted')) : null, el('p', { class: 'second' }, `strata ${app.model.strata}`));
}
