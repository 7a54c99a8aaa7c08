// Ranks by steps or by ranks: cells whose colour tells how far a value is from the usual one.
import { App } from '../app';
import { button, el } from '../dom';
import { GridPart, Metric } from '../model';
import { t } from '../text';
import { numberText } from './panel';

const TEXT_COLUMNS = 20; // more of them have no room for texts
const TEXT_ROWS = 64;

const cellText = (metric: Metric, value: number): string => (metric.ratio ? value.toFixed(2) + ' ×' : numberText(metric.unit, value));

function heat(metric: Metric, value: number, most: number): number {
    if (metric.ratio) return value > 1 ? Math.round(((value - 1) / (Math.max(most, 1.05) - 1)) * 9) : 0;
    return Math.round(9 * (metric.low ? 1 - value / most : value / most));
}

function tableOf(app: App, part: GridPart, metric: Metric): HTMLElement {
    const most = Math.max(0, ...metric.values.map((value) => value ?? 0)) || 1;
    const hasText = part.columns.length <= TEXT_COLUMNS && part.rows.length <= TEXT_ROWS;
    const mark = (list: number[], i: number): string => (list.includes(i) ? ' marked' : '');
    const head = el('tr', {}, el('td'), ...part.columns.map((column, i) => el('th', { scope: 'col', class: 'number' + mark(part.columnsMarked, i) }, app.both(column))));
    const rows = part.rows.map((row, r) => el('tr', {}, el('th', { scope: 'row', class: mark(part.rowsMarked, r).trim() }, app.both(row)), ...part.columns.map((column, c) => {
        const at = r * part.columns.length + c;
        const value = metric.values[at];
        if (value === null) return el('td');
        const text = cellText(metric, value);
        const title = `${app.both(row)}, ${app.both(column)}: ${text}`;
        const link = part.links[at];
        const inner = link ? el('a', { href: link, title, 'aria-label': title }, hasText ? text : '\u00a0') : hasText ? text : '\u00a0';
        return el('td', { class: 'number heat' + heat(metric, value, most), title }, inner);
    })));
    return el('table', { class: 'matrix' + (hasText ? '' : ' small') }, el('thead', {}, head), el('tbody', {}, ...rows));
}

export function heatOf(app: App, part: GridPart): HTMLElement {
    const holder = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': part.title ? app.both(part.title) : t('panel.grid') });
    const choices = part.metrics.map((metric) => button(app.both(metric.name), () => show(metric), { class: 'tool' }));
    const show = (metric: Metric): void => {
        choices.forEach((choice, i) => choice.setAttribute('aria-pressed', String(part.metrics[i] === metric)));
        holder.replaceChildren(tableOf(app, part, metric));
    };
    if (part.metrics.length > 0) show(part.metrics[0]);
    return el('div', {}, ...(choices.length > 1 ? [el('div', { class: 'toolbar', role: 'group', 'aria-label': t('panel.metric') }, ...choices)] : []), holder);
}
