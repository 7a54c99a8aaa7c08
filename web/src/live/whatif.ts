// The what-if box: changes to tick, the predicted step, and the device's timelines before and after: the run, and a step.
import { App } from '../app';
import { button, el, svg } from '../dom';
import { t } from '../text';
import { share, time } from '../units';
import { BusyLane, Prediction, Server, Task } from './server';

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

// The device's lanes over the run: the part of each bucket that is busy.
function wholeRun(app: App, lanes: BusyLane[], label: string): HTMLElement {
    const picture = svg('svg', { class: 'whatif-strip whatif-run', viewBox: `0 0 ${WIDTH} ${Math.max(1, lanes.length) * ROW}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
    [...lanes].sort((a, b) => a.lane - b.lane).forEach(({ lane, busy }, row) => {
        const width = WIDTH / busy.length;
        const path = busy.map((percent, i) => (percent > 0 ? `M${i * width} ${(row + 1) * ROW - 1}v${(-percent / 100) * (ROW - 2)}h${width}V${(row + 1) * ROW - 1}z` : '')).join('');
        const shape = svg('path', { class: 'busy', d: path });
        shape.append(svg('title', {}, app.model.sets[app.model.lead].lanes[lane]?.name ?? ''));
        picture.append(shape);
    });
    return el('figure', { class: 'whatif' }, el('figcaption', { class: 'second' }, label), picture as unknown as HTMLElement);
}

// `go` shows another step.
function predictionView(app: App, p: Prediction, go: (step: number) => void): HTMLElement {
    const [before, after] = p.is_calibrated ? [p.bare_ns ?? 0, p.changed_bare_ns ?? 0] : [p.recorded_ns, p.changed_ns];
    const saved = before > 0 ? (before - after) / before : 0;
    const text = t(p.is_calibrated ? 'whatif.bare' : 'whatif.recorded', { before: time(before), after: time(after), share: share(saved) });
    const length = Math.max(1, ...p.before.map(([, , from, dur]) => from + dur), ...p.after.map(([, , from, dur]) => from + dur));
    const id = app.model.sets[app.model.lead].steps[p.step]?.id ?? String(p.step);
    const turn = (to: number, key: string): HTMLElement => button(t(key), () => go(to), { class: 'tool', ...(to < 0 || to >= p.steps ? { disabled: true } : {}) });
    return el('div', {}, el('p', { class: 'whatif-result', role: 'status', 'data-before': before, 'data-after': after }, text),
        p.bound ? el('p', { class: 'second' }, t('whatif.bound', { why: p.bound })) : null,
        wholeRun(app, p.run_before, t('whatif.run.before', { time: time(p.run_ns) })), wholeRun(app, p.run_after, t('whatif.run.after', { time: time(p.changed_run_ns) })),
        strip(app, p.before, length, t('whatif.before', { step: id })), strip(app, p.after, length, t('whatif.after', { step: id })),
        el('p', {}, turn(p.step - 1, 'whatif.previous'), ' ', turn(p.step + 1, 'whatif.next')));
}

export function whatifView(app: App, server: Server): HTMLElement {
    const list = el('fieldset', { class: 'whatif-changes' }, el('legend', {}, t('whatif.changes')));
    const answer = el('div', { class: 'whatif-answer' }, el('p', { class: 'hint' }, t('whatif.tick')));
    let asked = 0;
    const ask = async (step = ''): Promise<void> => {
        const ticked = [...list.querySelectorAll<HTMLInputElement>('input:checked')].map((input) => input.value);
        const turn = ++asked;
        if (ticked.length === 0) {
            answer.replaceChildren(el('p', { class: 'hint' }, t('whatif.tick')));
            return;
        }
        answer.replaceChildren(el('p', { class: 'hint', role: 'status' }, t('sql.running')));
        const shown = await server.whatif(ticked, step).then((p) => predictionView(app, p, (to) => void ask(String(to))), (error: Error) => el('p', { class: 'note error', role: 'alert' }, error.message));
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
