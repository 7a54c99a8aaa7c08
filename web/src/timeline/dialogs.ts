// Help, the context menu, and the table of what is visible.
import { App } from '../app';
import { button, el, name } from '../dom';
import { firstEndingAfter } from '../rows';
import { Ref } from '../state';
import { t } from '../text';
import { exactNs, time } from '../units';
import type { Keys } from './keys';
import { Placed } from './layout';
import type { Timeline } from './view';

const MOST_ROWS = 500;

const HELP: [string, string][] = [
    ['W S  + −', 'zoom'], ['A D  ← →', 'pan'], ['↑ ↓', 'rows'], ['F, F F', 'fit'], ['0  Backspace', 'whole'],
    [', .', 'items'], ['[ ]', 'arrows'], ['G  Shift G', 'gaps'], ['/  Enter', 'search'], ['J K', 'steps'],
    ['M', 'mark'], ['P', 'pin'], ['E', 'expand'], ['T', 'table'], ['Q', 'details'], ['L R', 'align'], ['Esc', 'clear'],
];
const MOUSE = ['wheel', 'drag', 'shift', 'alt', 'double', 'name', 'right'];

export function helpDialog(keys: Keys): HTMLDialogElement {
    const box = el('input', { type: 'checkbox' });
    box.checked = keys.isOn;
    box.addEventListener('change', () => (keys.isOn = box.checked));
    const dialog: HTMLDialogElement = el('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
        el('h2', { id: 'help-title' }, t('help.title')),
        el('div', { class: 'columns' },
            el('dl', { class: 'keys' }, ...HELP.map(([key, id]) => el('div', {}, el('dt', {}, el('kbd', {}, key)), el('dd', {}, t('help.' + id))))),
            el('dl', { class: 'keys' }, ...MOUSE.map((id) => el('div', {}, el('dt', {}, t('help.' + id + '.do')), el('dd', {}, t('help.' + id + '.does'))))),
        ),
        el('p', {}, t('help.words')),
        el('label', {}, box, ' ', t('help.single')),
        el('p', { class: 'actions' }, button(t('help.close'), () => dialog.close(), { class: 'tool' })),
    );
    dialog.addEventListener('close', () => dialog.remove());
    return dialog;
}

export function openMenu(app: App, timeline: Timeline, x: number, y: number, ref: Ref | null, placed: Placed): void {
    const { track } = placed;
    const menu = el('div', { class: 'menu', role: 'menu' });
    const close = (): void => {
        menu.remove();
        timeline.stage.focus({ preventScroll: true });
    };
    const entry = (label: string, act: () => void): void => {
        menu.append(button(label, () => {
            close();
            act();
        }, { role: 'menuitem' }));
    };
    const place = ref ? app.store.place(ref.set, ref.lane, ref.index) : null;
    if (place && ref) {
        const label = app.store.name(ref.set, place.row.what[place.k]);
        entry(t('menu.copy'), () => void navigator.clipboard?.writeText(label));
        entry(t('menu.alike'), () => app.shared.set({ query: label.slice(0, 80) }));
    }
    const isPinned = app.shared.state.pins.includes(`${track.set}.${track.lane}`);
    entry(t(isPinned ? 'menu.unpin' : 'menu.pin'), () => timeline.togglePin(track.set, track.lane));
    if (track.canOpen) entry(t(track.isOpen ? 'menu.close' : 'menu.open'), () => timeline.toggle(track.key));
    menu.addEventListener('keydown', (event) => {
        const items = [...menu.querySelectorAll('button')];
        const now = items.indexOf(document.activeElement as HTMLButtonElement);
        if (event.key === 'Escape') close();
        if (event.key === 'ArrowDown') items[(now + 1) % items.length].focus();
        if (event.key === 'ArrowUp') items[(now - 1 + items.length) % items.length].focus();
    });
    menu.addEventListener('focusout', (event) => {
        if (!menu.contains(event.relatedTarget as Node | null)) menu.remove();
    });
    document.body.append(menu);
    menu.style.left = Math.min(x, innerWidth - menu.offsetWidth - 8) + 'px';
    menu.style.top = Math.min(y, innerHeight - menu.offsetHeight - 8) + 'px';
    menu.querySelector('button')?.focus();
}

// A real table of the items in view, in place of the canvas.
export function visibleTable(app: App, timeline: Timeline): HTMLElement {
    const rows: HTMLElement[] = [];
    for (const { track } of timeline.layout.placed) {
        if (track.kind !== 'lane') continue;
        const zero = timeline.zeros[track.set];
        for (const row of track.rows) {
            for (let k = firstEndingAfter(row, timeline.axis.from + zero); k < row.start.length && row.start[k] - zero < timeline.axis.to; k++) {
                if (rows.length >= MOST_ROWS) break;
                const go = button('', () => timeline.select({ set: track.set, lane: track.lane, index: row.index[k] }), { class: 'link' });
                go.append(name(app.store.name(track.set, row.what[k])));
                rows.push(el('tr', {}, el('td', {}, track.label), el('td', { class: 'wide' }, go),
                    el('td', { class: 'number' }, exactNs(row.start[k])), el('td', { class: 'number' }, time(row.end[k] - row.start[k]))));
            }
        }
    }
    const heads = ['detail.lane', 'range.name', 'detail.start', 'detail.duration'].map((key) => el('th', { scope: 'col' }, t(key)));
    return el('div', { class: 'scroll visible-table', tabindex: 0, role: 'region', 'aria-label': t('table.title') },
        el('p', {}, t('table.count', { n: rows.length, most: MOST_ROWS })),
        el('table', { class: 'small' }, el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...rows)));
}
