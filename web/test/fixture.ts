// Pages by hand, after docs/page-data.md, apart from the writer in C: for unit tests, hostile data and the bench.
import { createHash } from 'crypto';
import { readFileSync, writeFileSync } from 'fs';
import { deflateRawSync } from 'zlib';

export interface Item {
    start: number;
    dur: number;
    what: number;
    step?: number; // place in the steps
    wait?: number;
    bundle?: { count: number; busy: number[] }; // ns by family
}

export interface LaneSpec {
    name: string;
    group: number;
    kind: string;
    open: boolean;
    items: Item[];
}

export interface WhatSpec {
    name: string;
    family: number;
    kind: number;
    shapes?: string;
}

export interface SetSpec {
    name: string;
    groups: { name: string; kind: string; open: boolean }[];
    lanes: LaneSpec[];
    whats: WhatSpec[];
    steps: { id: string; from: number; to: number; by: number[] }[];
    classes: string[];
    gaps: { start: number; dur: number; cause: number; step: number; number: number; state: number; links: number[] }[];
    arrows: { to: number; from: number; kind: number }[];
    rest?: object;
}

const zigzag = (v: number): number => (v >= 0 ? 2 * v : -2 * v - 1);
const deltas = (values: number[]): number[] => values.map((v, i) => v - (i > 0 ? values[i - 1] : 0));

// Byte planes of the smallest width, one column after the other.
function planes(columns: number[][]): { bytes: Buffer; widths: number[] } {
    const parts: Buffer[] = [];
    const widths = columns.map((column) => {
        const most = column.reduce((a, b) => Math.max(a, b), 0);
        let width = 0;
        for (let v = most; v > 0; v = Math.floor(v / 256)) width++;
        for (let plane = 0, scale = 1; plane < width; plane++, scale *= 256) {
            parts.push(Buffer.from(column.map((v) => Math.floor(v / scale) % 256)));
        }
        return width;
    });
    return { bytes: Buffer.concat(parts), widths };
}

class Packer {
    private readonly parts: Buffer[] = [];
    private at = 0;

    pack(bytes: Buffer): [number, number, number] {
        const packed = deflateRawSync(bytes, { level: 6 });
        this.parts.push(packed);
        this.at += packed.length;
        return [0, this.at - packed.length, packed.length];
    }

    element(): string {
        return Buffer.concat(this.parts).toString('base64');
    }
}

const gapsBetween = (items: { start: number; dur: number }[]): number[] =>
    items.map((item, i) => (i === 0 ? 0 : zigzag(item.start - items[i - 1].start - items[i - 1].dur)));

function laneChunks(packer: Packer, lane: LaneSpec, place: number, whats: WhatSpec[]): object[] {
    const chunks: object[] = [];
    for (let from = 0; from < lane.items.length; from += 65536) {
        const items = lane.items.slice(from, from + 65536);
        const families = Array.from({ length: 8 }, (_, f) =>
            items.map((item) => (item.bundle && whats[item.what].family !== f ? item.bundle.busy[f] : 0)));
        const { bytes, widths } = planes([
            gapsBetween(items),
            items.map((item) => item.dur),
            items.map((item) => item.what),
            deltas(items.map((item) => (item.step ?? -1) + 1)).map(zigzag),
            items.map((item) => item.wait ?? 0),
            items.map((item) => (item.bundle ? item.bundle.count - 1 : 0)),
            items.map((item) => (item.bundle ? item.dur - item.bundle.busy.reduce((a, b) => a + b, 0) : 0)),
            ...families,
        ]);
        const last = items[items.length - 1];
        chunks.push({ at: packer.pack(bytes), n: items.length, widths, first: items[0].start, lane: place, end: last.start + last.dur });
    }
    return chunks;
}

function gapChunks(packer: Packer, gaps: SetSpec['gaps']): object[] {
    if (gaps.length === 0) return [];
    const { bytes, widths } = planes([
        gapsBetween(gaps),
        gaps.map((gap) => gap.dur),
        gaps.map((gap) => gap.cause),
        deltas(gaps.map((gap) => gap.step + 1)).map(zigzag),
        deltas(gaps.map((gap) => gap.number)).map(zigzag),
        gaps.map((gap) => gap.state),
        ...[0, 1, 2, 3, 4].map((k) => deltas(gaps.map((gap) => (gap.links[k] ?? -1) + 1)).map(zigzag)),
    ]);
    return [{ at: packer.pack(bytes), n: gaps.length, widths, first: gaps[0].start, lane: 0, end: 0 }];
}

function arrowChunks(packer: Packer, arrows: SetSpec['arrows']): object[] {
    if (arrows.length === 0) return [];
    const { bytes, widths } = planes([
        deltas(arrows.map((arrow) => arrow.to)), deltas(arrows.map((arrow) => arrow.from)).map(zigzag), arrows.map((arrow) => arrow.kind),
    ]);
    return [{ at: packer.pack(bytes), n: arrows.length, widths, first: 0, lane: 0, end: 0 }];
}

export function unionOf(spans: { start: number; dur: number }[]): number {
    const sorted = [...spans].sort((a, b) => a.start - b.start);
    let [busy, reached] = [0, -Infinity];
    for (const { start, dur } of sorted) {
        busy += Math.max(0, start + dur - Math.max(start, reached));
        reached = Math.max(reached, start + dur);
    }
    return busy;
}

function depthOf(items: Item[]): number {
    const open: number[] = [];
    let most = 0;
    for (const item of items) {
        while (open.length > 0 && open[open.length - 1] <= item.start) open.pop();
        open.push(item.start + item.dur);
        most = Math.max(most, open.length);
    }
    return most;
}

function kernelsOf(set: SetSpec): object[] {
    const rows: object[] = [];
    set.whats.forEach((what, w) => {
        const runs = set.lanes.flatMap((lane, l) => (set.groups[lane.group].kind === 'device' ? lane.items.map((item, i) => ({ item, at: [l, i] })).filter((run) => run.item.what === w) : []));
        if (runs.length === 0) return;
        const durations = runs.map((run) => run.item.dur).sort((a, b) => a - b);
        const total = durations.reduce((a, b) => a + b, 0);
        const longest = runs.reduce((best, run) => (run.item.dur > best.item.dur ? run : best));
        rows.push({
            what: w, name: what.name, op: null, family: what.family, kind: 'compute', shapes: what.shapes ?? '', types: what.shapes ? 'bf16' : '', count: runs.length,
            total, mean: Math.round(total / runs.length), p95: durations[Math.floor(durations.length * 0.95)], max: durations[durations.length - 1],
            wait: null, per_step: Math.round(total / Math.max(set.steps.length, 1)), share: 0.1, roof: 0.2 + (w % 7) / 10, bound: w % 2 ? 'memory' : 'compute',
            headroom: Math.round(total / 10), flops: 1e8 * (w + 1), bytes: 1e6 * ((w % 5) + 1), trend: set.steps.map((_, i) => total * (1 + (i % 3) / 10)), at: longest.at,
        });
    });
    return rows.sort((a, b) => (b as { total: number }).total - (a as { total: number }).total);
}

function setModel(packer: Packer, set: SetSpec): object {
    let first = 0;
    const to = Math.max(...set.lanes.flatMap((lane) => lane.items.slice(-1000).map((item) => item.start + item.dur)));
    const chunks: object[] = [];
    const lanes = set.lanes.map((lane, place) => {
        chunks.push(...laneChunks(packer, lane, place, set.whats));
        const out = {
            name: lane.name, group: lane.group, kind: lane.kind, open: lane.open, first, n: lane.items.length,
            slices: lane.items.length, depth: depthOf(lane.items), busy: unionOf(lane.items),
        };
        first += lane.items.length;
        return out;
    });
    const texts = ['', ...new Set(set.whats.flatMap((what) => [what.name, what.shapes ?? '']).filter((text) => text !== ''))];
    const place = (text: string | undefined): number => Math.max(0, texts.indexOf(text ?? ''));
    const dictionary = Buffer.from(JSON.stringify({
        texts, name: set.whats.map((what) => place(what.name)), family: set.whats.map((what) => what.family), kind: set.whats.map((what) => what.kind),
        shapes: set.whats.map((what) => place(what.shapes)), types: set.whats.map(() => 0),
    }));
    const kernels = kernelsOf(set);
    return {
        name: set.name, rank: null, device: 'H200', hz: 1e9, unix: null, origin: '0', to, simulated: false, slices: first, items: first,
        groups: set.groups, lanes, dictionary: { at: packer.pack(dictionary), size: dictionary.length }, chunks,
        arrows: arrowChunks(packer, set.arrows), gaps: gapChunks(packer, set.gaps), overview: [], classes: set.classes,
        steps: set.steps.map((step) => ({ ...step, host: null, slow: false, group: 0 })), step_mean: { n: set.steps.length, time: 1, by: [] }, is_pseudo: false,
        kernels, kernels_total: kernels.length, layers: null, counters: [], memory: [], comm: null,
        device_info: { name: 'H200', source: 'data sheet', flops: { fp16: 989e12, fp32: 67e12 }, bandwidth: 4.8e12 },
        ...set.rest,
    };
}

const both = (en: string, zh = en): object => ({ en, zh });

export function words(): object {
    const list: { [id: string]: object } = { idle: both('Idle', '空闲'), step: both('step', '迭代') };
    ['matrix', 'attention', 'vector', 'layout', 'communication', 'copies', 'other', 'host'].forEach((name, f) => (list['family.' + f] = both(name)));
    for (const cause of ['launch', 'sync', 'input', 'untraced']) list['idle.' + cause] = both('idle: ' + cause, '空闲：' + cause);
    return list;
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const json = (value: object): string => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

// Writes a page with an empty first screen.
export function writePage(file: string, sets: SetSpec[], rest: object, bundle: string, style: string): void {
    const packer = new Packer();
    const model = {
        format: 'strata.page/1', strata: '0.0.0', kind: sets.length === 2 ? 'compare' : 'capture', title: 'fixture', facts: [], missing: [], thinned: null,
        redacted: false, words: words(), sets: sets.map((set) => setModel(packer, set)), diff: null, panels: [], ...rest,
    };
    const code = readFileSync(bundle, 'utf8');
    const css = readFileSync(style, 'utf8');
    const policy = `default-src 'none'; script-src ${hash(code)}; style-src ${hash(css)}; worker-src blob:; img-src blob: data:; base-uri 'none'; form-action 'none'`;
    writeFileSync(file, `<!DOCTYPE html><html lang="en" data-kind="${model.kind}"><head><meta http-equiv="Content-Security-Policy" content="${policy}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>fixture</title><style>${css}</style></head><body>
<header id="top"><b class="name">fixture</b><span id="tools"></span></header><main id="main">
<div class="static" lang="en"><h1>Verdict</h1></div><div class="static" lang="zh" hidden><h1>结论</h1></div><div id="app"></div></main>
<script type="application/json" id="model">${json(model)}</script><script id="code">${code}</script>
<script type="text/plain" id="overview"></script><script type="text/plain" id="d0">${packer.element()}</script></body></html>`);
}
