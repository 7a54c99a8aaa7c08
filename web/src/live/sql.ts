// The SQL box: statement, tables, recipes; the result as a sortable table, as CSV, and over the timeline.
import { App } from '../app';
import { button, el, name, save } from '../dom';
import { t } from '../text';
import { csv } from '../views/csv';
import { Grid } from '../views/grid';
import { Server, SqlCell, SqlResult } from './server';

const CELL = 60; // characters

const RECIPES: [string, string][] = [
    ['sql.byKernel', 'SELECT name, count(*) AS n, sum(dur) AS total, avg(dur) AS mean\nFROM kernels GROUP BY name ORDER BY total DESC LIMIT 50'],
    ['sql.longest', 'SELECT name, ts, dur FROM kernels ORDER BY dur DESC LIMIT 100'],
    ['sql.steps', 'SELECT * FROM steps'],
    ['sql.accounting', 'SELECT class, part, sum(ns) AS ns FROM accounting GROUP BY class, part ORDER BY ns DESC'],
    ['sql.host', 'SELECT name, count(*) AS n, sum(dur) AS total FROM host_events GROUP BY name ORDER BY total DESC LIMIT 50'],
];

// Times of rows as ranges of the selected set; null without the columns ts and dur.
function rangesOf(app: App, result: SqlResult): { from: number; to: number }[] | null {
    const ts = result.columns.indexOf('ts');
    const dur = result.columns.indexOf('dur');
    if (ts < 0 || dur < 0) return null;
    const origin = BigInt(app.set.origin);
    return result.rows.flatMap((row) => {
        if (row[ts] === null || row[dur] === null || !/^-?\d+$/.test(String(row[ts]))) return [];
        const from = Number(BigInt(row[ts] as string | number) - origin);
        return [{ from, to: from + Number(row[dur]) }];
    });
}

function resultView(app: App, result: SqlResult): HTMLElement {
    const show = (cell: SqlCell): Node | string => (cell === null ? '–' : typeof cell === 'number' ? String(cell) : name(cell, '', CELL));
    const grid = new Grid<SqlCell[]>(result.columns.map((head, i) => {
        const isNumber = result.rows.some((row) => typeof row[i] === 'number') && result.rows.every((row) => row[i] === null || typeof row[i] === 'number');
        return { id: String(i), head, isNumber, value: (row: SqlCell[]) => row[i], show: (row: SqlCell[]) => show(row[i]) };
    }), (row) => {
        const at = rangesOf(app, { ...result, rows: [row] })?.[0];
        if (at) app.shared.go({ view: 'timeline', range: at, window: { from: at.from - (at.to - at.from), to: at.to + (at.to - at.from) } });
    }, t('sql.result'));
    grid.setRows(result.rows);
    const ranges = rangesOf(app, result);
    const tools = el('div', { class: 'downloads' }, button(t('sql.csv'), () => save('result.csv', 'text/csv', csv(result.columns, result.rows)), { class: 'tool' }));
    if (ranges) {
        tools.append(button(t('sql.overlay'), () => {
            app.laid = ranges;
            app.shared.go({ view: 'timeline' });
        }, { class: 'tool', 'data-do': 'overlay' }));
    }
    const count = t(result.truncated ? 'sql.truncated' : 'sql.rows', { n: result.rows.length });
    return el('div', {}, el('p', { class: 'second', role: 'status' }, count), tools, grid.root);
}

export function sqlView(app: App, server: Server): HTMLElement {
    const box = el('textarea', { class: 'sql', rows: 5, spellcheck: 'false', 'aria-label': t('sql.statement') });
    const answer = el('div', { class: 'sql-answer' });
    const tables = el('div', { class: 'sql-tables' });
    const run = async (): Promise<void> => {
        answer.replaceChildren(el('p', { class: 'hint', role: 'status' }, t('sql.running')));
        try {
            answer.replaceChildren(resultView(app, await server.sql(box.value)));
        } catch (error) {
            answer.replaceChildren(el('p', { class: 'note error', role: 'alert' }, (error as Error).message));
        }
    };
    box.value = RECIPES[0][1];
    box.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run();
    });
    const recipes = el('select', { 'aria-label': t('sql.recipes') }, ...RECIPES.map(([key], i) => el('option', { value: i }, t(key))));
    recipes.addEventListener('change', () => (box.value = RECIPES[Number(recipes.value)][1]));
    void server.tables().then((list) => tables.replaceChildren(el('details', {}, el('summary', {}, t('sql.tables')),
        el('dl', {}, ...list.flatMap((table) => [el('dt', {}, table.name), el('dd', { class: 'second' }, table.summary + ': ' + table.columns)])))));
    return el('div', {}, recipes, box, el('div', { class: 'downloads' }, button(t('sql.run'), () => void run(), { class: 'tool', 'data-do': 'run' })), tables, answer);
}
