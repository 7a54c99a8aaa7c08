// What `strata view` answers. The token comes in the address's fragment, which no server sees, and is kept for the tab.
import { Stats } from '../stats';
import { CAUSES } from '../model';

const KEY = 'strata.token';

export interface Progress {
    phase: 'reading' | 'rows' | 'ready' | 'failed';
    label: string;
    done: number;
    total: number;
    error: string;
}

export interface Table {
    name: string;
    summary: string;
    columns: string;
}

export type SqlCell = string | number | null;

export interface SqlResult {
    columns: string[];
    rows: SqlCell[][];
    truncated: boolean;
}

// Lane, place in the dictionary, from, duration; ns of the step.
export type Task = [number, number, number, number];

export interface Prediction {
    changes?: { id: string; summary: string }[];
    recorded_ns: number;
    changed_ns: number;
    saving: number;
    is_calibrated: boolean;
    bare_ns?: number;
    changed_bare_ns?: number;
    low_ns?: number;
    high_ns?: number;
    bound: string | null;
    step: number; // that is shown
    steps: number;
    before: Task[];
    after: Task[];
    run_ns: number;
    changed_run_ns: number;
    run_before: BusyLane[]; // on one scale, that of the longer run
    run_after: BusyLane[];
}

// Percent of each bucket.
export interface BusyLane {
    lane: number;
    busy: number[];
}

export interface SliceFacts {
    name: string;
    start_ns: number;
    dur_ns: number;
    args?: { [key: string]: string | number };
}

interface RangeAnswer {
    from: number;
    to: number;
    busy_ns: number;
    sum_ns: number;
    count: number;
    by_name: { name: string; what: number; count: number; sum_ns: number }[];
    families: number[];
    idle?: number[];
}

export class ServerError extends Error {}

export class Server {
    private readonly token: string;

    constructor() {
        const hash = new URLSearchParams(location.hash.replace(/^#/, ''));
        const given = hash.get('k');
        if (given) {
            sessionStorage.setItem(KEY, given);
            hash.delete('k');
            const rest = hash.toString();
            history.replaceState(null, '', location.pathname + (rest ? '#' + rest : ''));
        }
        this.token = given ?? sessionStorage.getItem(KEY) ?? '';
    }

    // The answer, or an error with the server's reason.
    async ask(path: string, init: RequestInit = {}): Promise<Response> {
        const response = await fetch(path, { ...init, headers: { Authorization: 'Bearer ' + this.token }, cache: 'no-store' });
        if (response.ok) return response;
        let reason = String(response.status);
        try {
            reason = ((await response.json()) as { error?: string }).error ?? reason;
        } catch {
            // Refusals have no reason.
        }
        throw new ServerError(reason);
    }

    private async json<T>(path: string, init: RequestInit = {}): Promise<T> {
        return (await (await this.ask(path, init)).json()) as T;
    }

    progress(): Promise<Progress> {
        return this.json('/api/state');
    }

    async page(isEarly: boolean): Promise<string> {
        return (await this.ask('/api/page' + (isEarly ? '?early=1' : ''))).text();
    }

    async tiles(set: number, level: number, index: number, lanes: number[], signal: AbortSignal): Promise<ArrayBuffer> {
        return (await this.ask(`/api/tiles?s=${set}&l=${level}&i=${index}&r=${lanes.join(',')}`, { signal })).arrayBuffer();
    }

    slice(set: number, lane: number, n: number): Promise<SliceFacts> {
        return this.json(`/api/slice?s=${set}&r=${lane}&n=${n}`);
    }

    // The slice of this dictionary entry that begins nearest to a time.
    sliceNear(set: number, lane: number, start: number, what: number): Promise<SliceFacts> {
        return this.json(`/api/slice?s=${set}&r=${lane}&at=${Math.max(0, Math.round(start))}&w=${what}`);
    }

    search(set: number, query: string): Promise<{ hits: [number, number, number][]; found: number; more: boolean }> {
        return this.json(`/api/search?s=${set}&q=${encodeURIComponent(query)}`);
    }

    tables(): Promise<Table[]> {
        return this.json('/api/tables');
    }

    sql(statement: string): Promise<SqlResult> {
        return this.json('/api/sql', { method: 'POST', body: statement });
    }

    whatif(changes: string[], step = ''): Promise<Prediction> {
        return this.json(`/api/whatif?step=${step}&` + changes.map((change) => 'c=' + encodeURIComponent(change)).join('&'));
    }

    async cut(set: number, from: number, to: number, as: string): Promise<Blob> {
        return (await this.ask(`/api/cut?s=${set}&from=${from}&to=${to}&as=${as}`)).blob();
    }

    // Exact, over the slices themselves.
    async statistics(set: number, lanes: number[], from: number, to: number, hasGaps: boolean): Promise<Stats> {
        const query = `s=${set}&from=${from}&to=${to}&r=${lanes.join(',')}${hasGaps ? '&gaps=1' : ''}`;
        const answer = await this.json<RangeAnswer>('/api/range?' + query);
        return {
            from: answer.from,
            to: answer.to,
            busy: answer.busy_ns,
            sum: answer.sum_ns,
            count: answer.count,
            byWhat: answer.by_name.map((one) => ({ what: one.what, set, count: one.count, sum: one.sum_ns })),
            byFamily: answer.families,
            idle: (answer.idle ?? []).map((ns, i) => ({ cause: CAUSES[i], ns })).filter((one) => one.ns > 0).sort((a, b) => b.ns - a.ns),
            isRounded: false,
        };
    }
}
