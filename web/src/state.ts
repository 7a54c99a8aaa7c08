// The one selection that all views share, kept in the address.
import { Lang } from './text';

export interface Ref {
    set: number;
    lane: number;
    index: number;
}

export interface Range {
    from: number;
    to: number;
}

// Times are ns since the origin of `set`.
export interface State {
    view: string;
    set: number;
    window: Range | null; // null: all
    range: Range | null;
    selected: Ref | null;
    gap: Range | null;
    step: number | null;
    kernel: number | null;
    class: string | null;
    layer: string | null;
    row: number | null; // of the view's first table
    query: string;
    pins: string[]; // "set.lane"
    ranks: number[]; // sets that the timeline shows, in this order; none: all
    lanes: string[]; // "set.lane": what statistics count; none: the first device
    closed: string[]; // groups and lanes that were opened or closed by hand
    align: 'step' | 'first' | 'end';
    lang: Lang | null;
    theme: 'light' | 'dark' | null;
}


export const VIEWS = [
    'summary', 'timeline', 'kernels', 'model', 'memory', 'comm', 'diff', 'sql', 'data',
    // of results that are no captures
    'path', 'whatif', 'source', 'instructions', 'waits', 'buffers', 'moved', 'metrics', 'pipes', 'limits', 'roofline', 'stalls', 'hot', 'opportunities',
    'errors', 'coverage', 'tables', 'findings', 'ranks', 'links', 'slowest',
];

export const initialState = (): State => ({
    view: '',
    set: 0,
    window: null,
    range: null,
    selected: null,
    gap: null,
    step: null,
    kernel: null,
    class: null,
    layer: null,
    row: null,
    query: '',
    pins: [],
    ranks: [],
    lanes: [],
    closed: [],
    align: 'step',
    lang: null,
    theme: null,
});

function rangeOf(text: string | null): Range | null {
    const m = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(text ?? '');
    if (!m) return null;
    const [from, to] = [Number(m[1]), Number(m[2])];
    return to > from ? { from, to } : null;
}

function natural(text: string | null): number | null {
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function oneOf<T extends string>(text: string | null, allowed: readonly T[]): T | null {
    return allowed.find((word) => word === text) ?? null;
}

const listOf = (text: string | null, form: RegExp): string[] => (text ?? '').split(',').filter((part) => form.test(part));

// Applies an address to a state. Wrong parts are ignored; what a link leaves out of the selection is cleared, while
// the window, language, theme, pins and open groups stay.
export function applyAddress(before: State, hash: string, lead = 0): State {
    const p = new URLSearchParams(hash.replace(/^#/, ''));
    const state: State = { ...before };
    state.view = oneOf(p.get('v'), VIEWS) ?? before.view;
    state.set = natural(p.get('set')) ?? lead;
    state.window = rangeOf(p.get('t')) ?? before.window;
    state.range = rangeOf(p.get('r'));
    const sel = /^(\d{1,6})\.(\d{1,9})$/.exec(p.get('sel') ?? '');
    state.selected = sel ? { set: state.set, lane: Number(sel[1]), index: Number(sel[2]) } : null;
    state.gap = rangeOf(p.get('gap'));
    state.step = natural(p.get('step'));
    state.kernel = natural(p.get('kernel'));
    state.class = p.get('class');
    state.layer = /^\d+\.\d+$/.test(p.get('layer') ?? '') ? p.get('layer') : null;
    state.row = natural(p.get('row'));
    state.query = p.get('q') ?? '';
    if (p.has('pin')) state.pins = listOf(p.get('pin'), /^\d+\.\d+$/);
    if (p.has('rank')) state.ranks = listOf(p.get('rank'), /^\d{1,3}$/).map(Number);
    state.lanes = listOf(p.get('l'), /^\d+\.\d+$/);
    if (p.has('x')) state.closed = listOf(p.get('x'), /^\d+\.[gl]\d+$/);
    state.align = oneOf(p.get('ab'), ['step', 'first', 'end'] as const) ?? before.align;
    state.lang = oneOf(p.get('lang'), ['en', 'zh'] as const) ?? before.lang;
    state.theme = oneOf(p.get('theme'), ['light', 'dark'] as const) ?? before.theme;
    return state;
}

const plain = (range: Range): string => `${Math.round(range.from)}-${Math.round(range.to)}`;

export function addressOf(state: State, lead = 0): string {
    const parts: string[] = [];
    const put = (key: string, value: string | number | null): void => {
        if (value !== null && value !== '') parts.push(key + '=' + encodeURIComponent(value).replace(/%2C/g, ','));
    };
    put('v', state.view);
    put('set', state.set === lead ? null : state.set);
    put('t', state.window && plain(state.window));
    put('r', state.range && plain(state.range));
    put('sel', state.selected && `${state.selected.lane}.${state.selected.index}`);
    put('gap', state.gap && plain(state.gap));
    put('step', state.step);
    put('kernel', state.kernel);
    put('class', state.class);
    put('layer', state.layer);
    put('row', state.row);
    put('q', state.query);
    put('rank', state.ranks.join(','));
    put('l', state.lanes.join(','));
    put('pin', state.pins.join(','));
    put('x', state.closed.join(','));
    put('ab', state.align === 'step' ? null : state.align);
    put('lang', state.lang);
    put('theme', state.theme);
    return '#' + parts.join('&');
}

type Listener = (state: State, before: State) => void;

// Inside a notebook the base of links is the notebook, not the page.
const whole = (hash: string): string => location.href.replace(/#.*/s, '') + hash;

export class Shared {
    state: State;
    private readonly listeners: Listener[] = [];
    private timer = 0;
    private seen = location.hash; // the address that the state has

    // `lead` is the set that the first screen is about.
    constructor(private readonly lead = 0) {
        this.state = applyAddress(initialState(), location.hash, lead);
        this.mark('written');
        window.addEventListener('hashchange', () => {
            this.seen = location.hash;
            this.replace(applyAddress(this.state, location.hash, lead));
        });
    }

    on(act: Listener): void {
        this.listeners.push(act);
    }

    off(): void {
        this.listeners.length = 0;
    }

    set(change: Partial<State>): void {
        this.replace({ ...this.state, ...change });
        clearTimeout(this.timer);
        this.mark('late');
        this.timer = window.setTimeout(() => this.write(), 200);
    }

    // A step that "Back" returns from.
    go(change: Partial<State>): void {
        this.write();
        history.pushState(null, '', whole(addressOf({ ...this.state, ...change }, this.lead)));
        this.seen = location.hash;
        this.set(change);
    }

    private write(): void {
        clearTimeout(this.timer);
        // A link was followed just now: what it asks for comes with its event, and is not written over.
        if (location.hash === this.seen) history.replaceState(null, '', whole(addressOf(this.state, this.lead)));
        this.seen = location.hash;
        this.mark('written');
    }

    // Whether the address says what is shown, for whoever copies it by script.
    private mark(how: 'late' | 'written'): void {
        document.documentElement.dataset.address = how;
    }

    private replace(state: State): void {
        const before = this.state;
        this.state = state;
        for (const act of [...this.listeners]) act(state, before);
    }
}
