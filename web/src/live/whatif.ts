// The what-if box: changes to tick, the predicted step, and a step's device work before and after.
import { App } from '../app';
import { el, svg } from '../dom';
import { t } from '../text';
import { exactNs, share } from '../units';
import { Prediction, Server, Task } from './server';

const ROW = 14;
const WIDTH = 1000;

// One row for each lane, in the colours of the families.
function strip(app: App, tasks: Task[], length: number, label: string): HTMLElement {
    const lanes = [...new Set(tasks.map(([lane]) => lane))].sort((a, b) => a - b);
    const family = app.store.dictionaries[app.model.lead]?.family ?? [];
    const picture = svg('svg', { class: 'whatif-strip', viewBox: `0 0 ${WIDTH} ${Math.max(1, lanes.length) * ROW}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
    for (const [lane, what, from, dur] of tasks) {
        picture.append(svg('rect', {
            class: 'f' + (family[what] ?? 6), x: (from / length) * WIDTH, y: lanes.indexOf(lane) * ROW + 1, width: Math.max((dur / length) * WIDTH, 0.3), height: ROW - 2,
        }));
    }
    return el('figure', { class: 'whatif' }, el('figcaption', { class: 'second' }, label), picture as unknown as HTMLElement);
}

function predictionView(app: App, p: Prediction): HTMLElement {
    const [before, after] = p.is_calibrated ? [p.bare_ns ?? 0, p.changed_bare_ns ?? 0] : [p.recorded_ns, p.changed_ns];
    const saved = before > 0 ? (before - after) / before : 0;
    const text = t(p.is_calibrated ? 'whatif.bare' : 'whatif.recorded', { before: exactNs(before), after: exactNs(after), share: share(saved) });
    const length = Math.max(1, ...p.before.map(([, , from, dur]) => from + dur), ...p.after.map(([, , from, dur]) => from + dur));
    return el('div', {}, el('p', { class: 'whatif-result', role: 'status', 'data-before': before, 'data-after': after }, text),
        p.bound ? el('p', { class: 'second' }, t('whatif.bound', { why: p.bound })) : null,
        strip(app, p.before, length, t('whatif.before')), strip(app, p.after, length, t('whatif.after')));
}

export function whatifView(app: App, server: Server): HTMLElement {
    const list = el('fieldset', { class: 'whatif-changes' }, el('legend', {}, t('whatif.changes')));
    const answer = el('div', { class: 'whatif-answer' }, el('p', { class: 'hint' }, t('whatif.tick')));
    let asked = 0;
    const ask = async (): Promise<void> => {
        const ticked = [...list.querySelectorAll<HTMLInputElement>('input:checked')].map((input) => input.value);
        const turn = ++asked;
        if (ticked.length === 0) {
            answer.replaceChildren(el('p', { class: 'hint' }, t('whatif.tick')));
            return;
        }
        answer.replaceChildren(el('p', { class: 'hint', role: 'status' }, t('sql.running')));
        const shown = await server.whatif(ticked).then((p) => predictionView(app, p), (error: Error) => el('p', { class: 'note error', role: 'alert' }, error.message));
        if (turn === asked) answer.replaceChildren(shown);
    };
    void server.whatif([]).then((p) => {
        for (const change of p.changes ?? []) {
            const box = el('input', { type: 'checkbox', value: change.id });
            box.addEventListener('change', () => void ask());
            list.append(el('label', {}, box, ' ', el('strong', {}, change.id), ' ' + change.summary));
        }
    }, (error: Error) => answer.replaceChildren(el('p', { class: 'note error', role: 'alert' }, error.message)));
    return el('div', {}, list, answer);
}
