// Search over all rows: matched once for each distinct name, then per item for duration and step.
import { App } from '../app';
import { inPieces } from '../dom';
import { Server } from '../live/server';
import { DETAIL } from '../live/tiles';
import { matchInWorker } from '../load';
import { KINDS } from '../model';
import { isEmpty, matchWords, parseQuery, Query } from '../query';
import { firstEndingAfter, Row, subRow } from '../rows';
import { Ref } from '../state';

export interface Hit extends Ref {
    start: number; // ns of its set
    end: number;
}

export interface Found {
    rows: Map<Row, Row>;
    hits: Hit[]; // by start
    error: string;
}

async function matchNames(app: App, query: Query, set: number): Promise<Uint8Array | string> {
    const names = app.store.namesOf(set);
    const kinds = names.map((_, what) => KINDS[app.store.kind(set, what)] ?? '');
    const hit = matchWords(query, names, kinds);
    if (query.patterns.length === 0) return hit;
    const matched = await matchInWorker(query.patterns, names);
    if (typeof matched === 'string') return matched;
    return hit.map((one, i) => one & matched[i]);
}

// The number in a step's id: 6 of "6" and of "ProfilerStep#6".
function stepNumber(id: string | undefined): number {
    const number = /\d+$/.exec(id ?? '');
    return number ? Number(number[0]) : -1;
}

function* findRows(app: App, query: Query, set: number, names: Uint8Array, found: Found): Generator<void, void> {
    const s = app.model.sets[set];
    for (let lane = 0; lane < s.lanes.length; lane++) {
        const data = app.store.lane(set, lane);
        if (!data) continue;
        for (const row of data.rows) {
            const keep = (k: number): boolean => {
                const duration = row.end[k] - row.start[k];
                if (!names[row.what[k]] || duration <= query.longerThan || duration >= query.shorterThan) return false;
                return query.step === null || stepNumber(s.steps[data.columns.step[row.index[k]] - 1]?.id) === query.step;
            };
            const part = subRow(row, keep, s.to);
            found.rows.set(row, part);
            for (let k = 0; k < part.start.length; k++) {
                found.hits.push({ set, lane, index: part.index[k], start: part.start[k], end: part.end[k] });
            }
            yield;
        }
    }
}

function itemAt(app: App, set: number, lane: number, start: number, word: string): number {
    for (const row of app.store.lane(set, lane)?.rows ?? []) {
        const k = firstEndingAfter(row, start);
        if (row.start[k] === start && app.store.name(set, row.what[k]).toLowerCase().includes(word)) return row.index[k];
    }
    return -1;
}

// The hits of one word among all slices, also those that the page holds in bundles.
async function exactHits(app: App, server: Server, word: string): Promise<Hit[]> {
    const hits: Hit[] = [];
    for (let set = 0; set < app.model.sets.length; set++) {
        const { lanes } = app.model.sets[set];
        const answer = await server.search(set, word);
        for (const [lane, n, start] of answer.hits) {
            // A lane that is whole in the page has its slices as items.
            const isWhole = lanes[lane].slices === lanes[lane].n;
            hits.push({ set, lane, index: isWhole ? itemAt(app, set, lane, start, word) : DETAIL + n, start, end: start + 1 });
        }
    }
    return hits;
}

export async function search(app: App, text: string): Promise<Found | null> {
    const query = parseQuery(text);
    if (isEmpty(query)) return null;
    const found: Found = { rows: new Map(), hits: [], error: '' };
    for (let set = 0; set < app.model.sets.length; set++) {
        const names = await matchNames(app, query, set);
        if (typeof names === 'string') return { ...found, error: names };
        await inPieces(findRows(app, query, set, names, found));
    }
    if (app.server && query.words.length === 1 && text.trim().toLowerCase() === query.words[0]) found.hits = await exactHits(app, app.server, query.words[0]);
    found.hits.sort((a, b) => a.set - b.set || a.start - b.start);
    return found;
}
