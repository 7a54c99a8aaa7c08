// Details of lanes that the page holds only in part: asks for the tiles around what is shown, and keeps some.
import { App } from '../app';
import { Range } from '../state';
import { Server } from './server';
import { BUCKETS, readTiles, rowsOf, Tile } from './tiles';

const CACHE = 64 << 20; // bytes
const MOST_LANES = 64; // of a request
const FLIGHT = 6; // requests at a time

interface Wanted {
    set: number;
    lane: number;
}

export class LaneDetails {
    private readonly cache = new Map<string, Tile>(); // oldest first
    private bytes = 0;
    private pending: AbortController | null = null;

    constructor(private readonly app: App, private readonly server: Server) {}

    // Forgets details that do not cover the window; true when there were some.
    leave(windows: Range[]): boolean {
        return this.app.store.dropDetails((set, from, to) => windows[set].from < from || windows[set].to > to);
    }

    // Fetches what the lanes need to show the window, in the time of each set. Calls `done` when something came.
    async look(lanes: Wanted[], windows: Range[], done: () => void): Promise<void> {
        this.pending?.abort();
        const abort = (this.pending = new AbortController());
        const wanted = lanes.filter(({ set, lane }) => {
            const l = this.app.model.sets[set].lanes[lane];
            return l.slices > l.n && !this.app.store.hasDetail(set, lane);
        });
        const bySet = new Map<number, number[]>();
        for (const { set, lane } of wanted) bySet.set(set, [...(bySet.get(set) ?? []), lane]);
        try {
            for (const [set, all] of bySet) await this.fill(set, all.slice(0, MOST_LANES), windows[set], abort.signal);
        } catch {
            return; // left behind, or the server has ended: the page's own rows stay
        }
        if (wanted.length > 0 && !abort.signal.aborted) done();
    }

    private levelOf(window: Range): number {
        return Math.min(43, Math.max(0, Math.ceil(Math.log2(Math.max(1, window.to - window.from) / 2 / BUCKETS))));
    }

    private async fill(set: number, lanes: number[], window: Range, signal: AbortSignal): Promise<void> {
        const { model, store } = this.app;
        const level = this.levelOf(window);
        const width = BUCKETS * 2 ** level;
        const last = Math.floor(model.sets[set].to / width);
        const first = Math.min(last, Math.max(0, Math.floor(window.from / width)));
        const end = Math.min(last, Math.max(first, Math.floor(window.to / width)));
        const indices = Array.from({ length: end - first + 1 }, (_, i) => first + i);
        for (let i = 0; i < indices.length; i += FLIGHT) {
            await Promise.all(indices.slice(i, i + FLIGHT).map((index) => this.fetch(set, level, index, lanes, signal)));
        }
        const dictionary = store.dictionaries[set];
        if (!dictionary || signal.aborted) return;
        const familyOf = Uint8Array.from(dictionary.family);
        const to = end === last ? Infinity : (end + 1) * width;
        for (const lane of lanes) {
            const tiles = indices.map((index) => this.cache.get(`${set}.${lane}.${level}.${index}`)).filter((tile): tile is Tile => tile !== undefined);
            const l = model.sets[set].lanes[lane];
            if (tiles.length !== indices.length) continue;
            const rows = rowsOf(tiles, lane, familyOf, model.sets[set].to, l.kind === 'pipe', l.depth);
            if (rows) store.setDetail(set, lane, { from: first === 0 ? -Infinity : first * width, to, rows });
        }
    }

    private async fetch(set: number, level: number, index: number, lanes: number[], signal: AbortSignal): Promise<void> {
        const key = (lane: number): string => `${set}.${lane}.${level}.${index}`;
        const missing = lanes.filter((lane) => !this.cache.has(key(lane)));
        if (missing.length === 0) return;
        for (const tile of readTiles(await this.server.tiles(set, level, index, missing, signal))) {
            this.cache.set(key(tile.lane), tile);
            this.bytes += tile.bytes;
        }
        for (const [old, tile] of this.cache) {
            if (this.bytes <= CACHE) break;
            this.cache.delete(old);
            this.bytes -= tile.bytes;
        }
    }
}
