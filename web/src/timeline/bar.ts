// The line above the timeline: search, what is measured, buttons.
import { App } from '../app';
import { button, el, name } from '../dom';
import { t } from '../text';
import { grouped, middleCut, time } from '../units';
import { Commands } from './keys';
import type { Timeline } from './view';

export class Bar {
    private readonly input: HTMLInputElement;
    private readonly count: HTMLElement;
    private readonly measured: HTMLElement;
    private at = -1;
    private isPending = false; // typed, not yet searched
    private nextWhenFound = 0;

    constructor(private readonly app: App, private readonly timeline: Timeline, commands: Omit<Commands, 'focusSearch' | 'nextHit'>) {
        this.input = el('input', { type: 'search', class: 'search', placeholder: t('search.hint'), 'aria-label': t('search.label'), spellcheck: 'false' });
        this.count = el('output', { class: 'hits' });
        this.measured = el('output', { class: 'measured' });
        let timer = 0;
        this.input.addEventListener('input', () => {
            clearTimeout(timer);
            this.isPending = true;
            timer = window.setTimeout(() => app.shared.set({ query: this.input.value }), 150);
        });
        this.input.addEventListener('keydown', (event) => this.key(event));
        timeline.toolbar.append(
            this.input, this.count,
            button('‹', () => this.next(-1), { class: 'tool', 'aria-label': t('search.previous') }),
            button('›', () => this.next(1), { class: 'tool', 'aria-label': t('search.next') }),
            this.measured,
            ...this.alignment(),
            ...this.ranks(),
            button(t('bar.whole'), () => this.whole(), { class: 'tool', title: '0' }),
            button('−', () => this.zoom(1.5), { class: 'tool', 'aria-label': t('bar.out'), title: 'S' }),
            button('+', () => this.zoom(1 / 1.5), { class: 'tool', 'aria-label': t('bar.in'), title: 'W' }),
            button(t('bar.table'), () => commands.table(), { class: 'tool', title: 'T' }),
            button('?', () => commands.help(), { class: 'tool', 'aria-label': t('bar.help'), title: '?' }),
        );
        timeline.onFound = () => this.onFound();
        timeline.onFrame = () => this.measure();
        app.shared.on((state) => {
            if (document.activeElement !== this.input && this.input.value !== state.query) this.input.value = state.query;
        });
        this.input.value = app.shared.state.query;
    }

    focus(): void {
        this.input.focus();
        this.input.select();
    }

    next(by: number): void {
        const hits = this.timeline.found?.hits ?? [];
        if (hits.length === 0) return;
        this.at = this.at < 0 ? (by > 0 ? 0 : hits.length - 1) : (this.at + by + hits.length) % hits.length;
        const { set, lane, index } = hits[this.at];
        this.timeline.select({ set, lane, index });
        this.show();
    }

    private alignment(): HTMLElement[] {
        if (!this.app.model.diff) return [];
        const choice = el('select', { class: 'tool', 'aria-label': t('bar.align') });
        for (const align of ['step', 'first', 'end'] as const) choice.append(el('option', { value: align }, t('bar.align.' + align)));
        choice.value = this.app.shared.state.align;
        choice.addEventListener('change', () => this.app.shared.set({ align: choice.value as 'step' | 'first' | 'end' }));
        return [choice];
    }

    // Which ranks the timeline shows.
    private ranks(): HTMLElement[] {
        const { model, shared } = this.app;
        if (model.kind !== 'ranks') return [];
        const label = el('summary', { class: 'tool' });
        const boxes = model.sets.map((set, k) => {
            const box = el('input', { type: 'checkbox' });
            box.addEventListener('change', () => {
                const { ranks } = shared.state;
                shared.set({ ranks: box.checked ? [...ranks, k] : ranks.filter((one) => one !== k) });
            });
            return { box, row: el('label', {}, box, ' ', name(set.rank === null ? set.name : String(set.rank))) };
        });
        const update = (): void => {
            const { ranks } = shared.state;
            boxes.forEach(({ box }, k) => (box.checked = ranks.includes(k)));
            const shown = ranks.map((k) => model.sets[k]?.rank ?? k).join(', ');
            label.textContent = t('bar.ranks', { ranks: ranks.length === 0 ? t('bar.ranks.all') : middleCut(shown, 20) });
        };
        shared.on(update);
        update();
        const all = button(t('bar.ranks.all'), () => shared.set({ ranks: [] }), { class: 'tool' });
        return [el('details', { class: 'choose' }, label, el('div', { class: 'choices', role: 'group', 'aria-label': t('bar.ranks.choose') }, all, ...boxes.map(({ row }) => row)))];
    }

    private key(event: KeyboardEvent): void {
        if (event.key === 'Enter') {
            const by = event.shiftKey ? -1 : 1;
            if (this.input.value === this.app.shared.state.query && !this.isPending) this.next(by);
            else {
                this.nextWhenFound = by;
                this.app.shared.set({ query: this.input.value });
            }
            event.preventDefault();
        } else if (event.key === 'Escape') {
            this.app.shared.set({ query: '' });
            this.timeline.stage.focus({ preventScroll: true });
        }
    }

    private onFound(): void {
        this.isPending = false;
        const by = this.nextWhenFound;
        this.nextWhenFound = 0;
        this.at = -1;
        this.show();
        if (by !== 0) this.next(by);
    }

    private show(): void {
        const found = this.timeline.found;
        if (!found) {
            this.count.textContent = '';
            return;
        }
        const n = found.hits.length;
        if (this.at >= n) this.at = -1;
        this.count.textContent = found.error
            ? t('search.error', { error: found.error })
            : (this.at >= 0 ? grouped(this.at + 1) + ' / ' : '') + t('search.hits', { n: grouped(n) });
    }

    private whole(): void {
        this.timeline.axis.jump(this.timeline.axis.bounds);
        this.timeline.moved();
    }

    private zoom(factor: number): void {
        const { axis } = this.timeline;
        axis.zoom((axis.from + axis.to) / 2, factor);
        this.timeline.moved();
    }

    private measure(): void {
        const { drag, app } = this.timeline;
        const range = drag ?? app.shared.state.range;
        const text = range ? t('bar.measured', { time: time(range.to - range.from) }) : '';
        if (this.measured.textContent !== text) this.measured.textContent = text;
    }
}
