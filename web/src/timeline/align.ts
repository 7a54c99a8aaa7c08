// Common zero of several sets: steps of a comparison start together; ranks share their wall clock.
import { Model } from '../model';
import { Row, firstEndingAfter } from '../rows';
import { State } from '../state';
import { Store } from '../store';

// The pair of steps side by side: the one that holds the selected step, else the first.
export function pairOf(model: Model, state: State): [number, number] | null {
    const pairs = model.diff?.steps ?? [];
    return pairs.find((pair) => state.step !== null && pair[state.set === 1 ? 1 : 0] === state.step) ?? pairs[0] ?? null;
}

function firstKernel(rows: Row[], from: number): number {
    let first = Infinity;
    for (const row of rows) {
        const k = firstEndingAfter(row, from);
        if (k < row.start.length) first = Math.min(first, row.start[k]);
    }
    return first === Infinity ? from : first;
}

function deviceRows(model: Model, store: Store, set: number): Row[] {
    const s = model.sets[set];
    return s.lanes.flatMap((lane, i) => (s.groups[lane.group].kind === 'device' ? store.lane(set, i)?.rows ?? [] : []));
}

function pairZero(model: Model, store: Store, state: State, set: number, step: number): number {
    const place = model.sets[set].steps[step];
    if (!place) return 0;
    if (state.align === 'end') return place.to;
    return state.align === 'first' ? firstKernel(deviceRows(model, store, set), place.from) : place.from;
}

// ns to subtract from the times of each set.
export function zeros(model: Model, store: Store, state: State): number[] {
    if (model.diff) {
        const pair = pairOf(model, state);
        return model.sets.map((_, set) => (pair ? pairZero(model, store, state, set, pair[set]) : 0));
    }
    // Clocks that were fitted count from the origin in the files; a drift is taken at the step that is shown.
    const fitted = model.sets.map((set) => {
        if (!set.clock) return null;
        const at = state.step === null ? set.to / 2 : set.steps[state.step]?.from ?? set.to / 2;
        return BigInt(set.origin) - BigInt(Math.round(set.clock[0] + at * set.clock[1] * 1e-6));
    });
    const clocks = fitted.every((clock) => clock !== null) ? fitted : model.sets.map((set) => (set.unix === null ? null : BigInt(set.unix)));
    const first = clocks[0];
    return clocks.map((clock) => (clock === null || first === null ? 0 : Number(first - clock)));
}
