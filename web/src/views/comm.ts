// Communication: collectives by name, and the matrix of links.
import { App } from '../app';
import { el, name } from '../dom';
import { CommOp, Link } from '../model';
import { t } from '../text';
import { bytes, exactNs, grouped, rate, time } from '../units';
import { Column, Grid } from './grid';

const exact = (ns: number | null): Node | string => (ns === null ? '–' : el('span', { title: exactNs(ns) }, time(ns)));

function opColumns(ops: CommOp[]): Column<CommOp>[] {
    const number = (id: 'count' | 'bytes' | 'total' | 'transit' | 'wait' | 'bandwidth', show: (op: CommOp) => Node | string): Column<CommOp> => ({
        id, head: t('comm.' + id), isNumber: true, value: (op) => op[id], show,
    });
    const list: Column<CommOp>[] = [
        { id: 'name', head: t('comm.name'), isNumber: false, className: 'wide', value: (op) => op.name, show: (op) => name(op.name) },
        { id: 'group', head: t('comm.group'), isNumber: false, className: 'mid', value: (op) => op.group, show: (op) => name(op.group) },
        number('count', (op) => grouped(op.count)),
        number('total', (op) => exact(op.total)),
        number('transit', (op) => exact(op.transit)),
        number('wait', (op) => exact(op.wait)),
        number('bytes', (op) => (op.bytes === null ? '–' : bytes(op.bytes))),
        number('bandwidth', (op) => (op.bandwidth === null ? '–' : rate(op.bandwidth))),
    ];
    return list.filter((column) => ops.some((op) => column.value(op) !== null && column.value(op) !== ''));
}

function matrix(links: Link[]): HTMLElement {
    const ranks = [...new Set(links.flatMap((link) => [link.from, link.to]))].sort((a, b) => a - b);
    const senders = ranks.filter((rank) => links.some((link) => link.from === rank));
    const most = Math.max(...links.map((link) => (link.from === link.to ? 0 : link.bandwidth ?? 0)), 1); // copies on a rank use no link
    const head = el('tr', {}, el('th', { scope: 'col' }, t('comm.fromto')), ...ranks.map((rank) => el('th', { scope: 'col', class: 'number' }, String(rank))));
    const rows = senders.map((from) => el('tr', {}, el('th', { scope: 'row' }, String(from)), ...ranks.map((to) => {
        const link = links.find((one) => one.from === from && one.to === to);
        if (!link) return el('td', { class: 'number' }, '');
        const heat = from === to ? 0 : Math.round(((link.bandwidth ?? 0) / most) * 9);
        const title = [link.type, link.bytes === null ? '' : bytes(link.bytes), link.time === null ? '' : time(link.time)].filter(Boolean).join(' · ');
        return el('td', { class: 'number heat' + heat, title }, link.bandwidth === null ? (link.bytes === null ? '–' : bytes(link.bytes)) : rate(link.bandwidth));
    })));
    return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('comm.matrix') }, el('table', { class: 'matrix' }, el('thead', {}, head), el('tbody', {}, ...rows)));
}

export function commView(app: App): HTMLElement {
    const { comm } = app.set;
    if (!comm || comm.ops.length + comm.links.length === 0) return el('p', { class: 'hint' }, t('comm.none'));
    const find = (op: CommOp): void => app.shared.go({ view: 'timeline', query: op.name });
    const grid = new Grid<CommOp>(opColumns(comm.ops), find, t('comm.ops'));
    grid.setRows(comm.ops);
    return el('div', {},
        el('h3', {}, t('comm.ops')), grid.root,
        el('h3', {}, t('comm.matrix')), comm.links.length > 0 ? matrix(comm.links) : el('p', { class: 'hint' }, t('comm.nolinks')));
}
