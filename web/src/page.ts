// The page around the views: tools in the title line, section links, language and theme.
import { App } from './app';
import { button, el } from './dom';
import { Server } from './live/server';
import { sqlView } from './live/sql';
import { whatifView } from './live/whatif';
import { Model } from './model';
import { Shared, State } from './state';
import { Store } from './store';
import { setLang, t } from './text';
import { setCycles } from './units';
import { commView } from './views/comm';
import { dataView } from './views/data';
import { diffView } from './views/diff';
import { kernelsView } from './views/kernels';
import { memoryView } from './views/memory';
import { modelView } from './views/model';
import { panelView } from './views/panel';
import { timelineView, TimelineView } from './views/timeline';

const PHONE = 600; // px: the timeline comes on request

class Page {
    private timeline: TimelineView | null = null;
    private readonly sections = new Map<string, { link: HTMLAnchorElement; section: HTMLElement; isMade: boolean }>();
    private readonly nav = el('nav', { class: 'views' });

    constructor(private readonly app: App) {}

    build(): void {
        const { app } = this;
        setLang(app.lang);
        setCycles(app.model.sets.some((set) => set.hz !== 1e9) ? t('unit.cycles') : null);
        app.shared.off();
        app.store.off();
        this.applyLang();
        this.applyTheme();
        this.sections.clear();
        const root = document.getElementById('app');
        this.nav.setAttribute('aria-label', t('page.sections'));
        this.nav.replaceChildren(...this.viewIds().map((id) => this.link(id)));
        root?.replaceChildren(this.nav, ...[...this.sections.values()].map((one) => one.section));
        this.tools();
        app.shared.on((state, before) => this.onState(state, before));
        this.show(this.current(app.shared.state), app.shared.state.view !== '');
    }

    // The views that this kind of page has, in order.
    private viewIds(): string[] {
        const { model } = this.app;
        if (model.panels.length > 0 && model.kind !== 'ranks') return ['summary', ...(model.sets.length > 0 ? ['timeline'] : []), ...model.panels.map((panel) => panel.id), 'data'];
        const hasLanes = model.sets.some((set) => set.lanes.length > 0);
        const isRun = model.sets.length > 0 && (model.kind === 'capture' || model.kind === 'compare' || model.kind === 'ranks');
        const ids = ['summary'];
        if (model.diff) ids.push('diff');
        if (hasLanes) ids.push('timeline');
        if (isRun && !this.isEarly()) ids.push('kernels', 'model', 'memory', 'comm');
        if (isRun && this.app.server && !this.isEarly()) ids.push('whatif', 'sql');
        ids.push(...model.panels.map((panel) => panel.id), 'data');
        return ids;
    }

    // A viewer's first picture, before anything is analysed.
    private isEarly(): boolean {
        return this.app.server !== null && document.documentElement.dataset.live === 'rows';
    }

    private title(id: string): string {
        const panel = this.app.model.panels.find((one) => one.id === id);
        return panel ? this.app.both(panel.title) : t('view.' + id);
    }

    private link(id: string): HTMLElement {
        const link = el('a', { href: '#v=' + id }, this.title(id));
        link.addEventListener('click', (event) => {
            event.preventDefault();
            this.app.shared.go({ view: id, row: null });
        });
        if (id === 'summary') return link;
        const section = el('section', { id: 'view-' + id, class: 'view', 'aria-labelledby': 'title-' + id, hidden: true }, el('h2', { id: 'title-' + id }, this.title(id)));
        this.sections.set(id, { link, section, isMade: false });
        return link;
    }

    private current(state: State): string {
        return [state.view, this.app.model.view ?? ''].find((id) => this.sections.has(id)) ?? [...this.sections.keys()][0];
    }

    private onState(state: State, before: State): void {
        if (state.lang !== before.lang) {
            this.build();
            return;
        }
        if (state.theme !== before.theme) this.applyTheme();
        // A link into a view scrolls there even when it is the one shown.
        const isAsked = state.view !== before.view || (state.row !== before.row && state.row !== null) || (state.view !== '' && state.layer !== null) || (state.view === 'timeline' && (state.gap !== before.gap && state.gap !== null && document.activeElement?.closest('.static') !== null));
        if (state.view !== before.view || isAsked) this.show(this.current(state), true);
        if (state.step !== before.step) this.markStep(state.step);
    }

    private show(id: string, isAsked: boolean): void {
        for (const [key, one] of this.sections) {
            one.section.hidden = key !== id;
            if (key === id) one.link.setAttribute('aria-current', 'page');
            else one.link.removeAttribute('aria-current');
        }
        const chosen = this.sections.get(id);
        if (!chosen) return;
        if (!chosen.isMade) {
            chosen.isMade = true;
            chosen.section.append(this.make(id));
        }
        this.timeline?.timeline.invalidate();
        if (!isAsked) return;
        if (this.app.shared.state.view === 'summary') window.scrollTo({ top: 0 });
        else this.nav.scrollIntoView({ block: 'start' });
    }

    private make(id: string): HTMLElement {
        const { app } = this;
        if (id === 'timeline') return innerWidth <= PHONE ? this.onRequest() : this.makeTimeline();
        if (id === 'data') {
            this.ensureTimeline();
            return dataView(app, this.timeline?.timeline ?? null);
        }
        if (app.server && id === 'sql') return sqlView(app, app.server);
        if (app.server && id === 'whatif') return whatifView(app, app.server);
        const panel = app.model.panels.find((one) => one.id === id);
        if (panel) return panelView(app, panel);
        const views = new Map([['kernels', kernelsView], ['model', modelView], ['memory', memoryView], ['comm', commView], ['diff', diffView]]);
        return views.get(id)?.(app) ?? el('div');
    }

    private ensureTimeline(): void {
        if (this.timeline || !this.sections.has('timeline')) return;
        this.timeline = timelineView(this.app);
    }

    private makeTimeline(): HTMLElement {
        this.ensureTimeline();
        this.timeline?.timeline.start();
        return this.timeline?.root ?? el('div');
    }

    private onRequest(): HTMLElement {
        const holder = el('div');
        holder.append(button(t('timeline.show'), () => holder.replaceChildren(this.makeTimeline()), { class: 'tool' }));
        return holder;
    }

    private tools(): void {
        const { app } = this;
        const tools = document.getElementById('tools');
        const other = app.lang === 'en' ? 'zh' : 'en';
        const language = button(other === 'zh' ? '中文' : 'English', () => app.shared.set({ lang: other }), { class: 'tool', lang: other, 'data-do': 'lang' });
        const theme = button(t('page.theme'), () => app.shared.set({ theme: this.isDark() ? 'light' : 'dark' }), { class: 'tool', 'data-do': 'theme' });
        const data = button(t('page.save'), () => app.shared.go({ view: 'data' }), { class: 'tool', 'data-do': 'save' });
        const help = button('?', () => {
            this.ensureTimeline();
            this.timeline?.help();
        }, { class: 'tool', 'aria-label': t('bar.help'), 'data-do': 'help' });
        tools?.replaceChildren(language, theme, data, ...(this.sections.has('timeline') ? [help] : []));
    }

    private isDark(): boolean {
        const { theme } = this.app.shared.state;
        return theme === null ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
    }

    private applyTheme(): void {
        const { theme } = this.app.shared.state;
        if (theme) document.documentElement.dataset.theme = theme;
        else delete document.documentElement.dataset.theme;
        this.restyle();
    }

    restyle(): void {
        this.timeline?.timeline.restyle();
    }

    private applyLang(): void {
        this.timeline = null;
        document.documentElement.lang = this.app.lang;
        for (const part of document.querySelectorAll<HTMLElement>('.static')) part.hidden = part.lang !== this.app.lang;
    }

    // The selected step in the strip of the first screen.
    private markStep(step: number | null): void {
        for (const bar of document.querySelectorAll('.static [data-step]')) {
            bar.classList.toggle('selected', step !== null && bar.getAttribute('data-step') === String(step));
        }
    }
}

export function startPage(model: Model, server: Server | null = null): Store {
    const store = new Store(model);
    const page = new Page(new App(model, store, new Shared(model.lead), server));
    page.build();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => page.restyle());
    return store;
}
