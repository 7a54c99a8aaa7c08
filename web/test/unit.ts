// The parts of the script that need no browser.
import assert from 'assert';
import { readdirSync, readFileSync, statSync } from 'fs';
import { join } from 'path';
import { paintRow } from '../src/paint';
import { matchPatterns, matchWords, parseQuery } from '../src/query';
import { bucketRow, buildRows, busyWithin, Columns, FAMILIES, Row, subRow, unionRow } from '../src/rows';
import { addressOf, applyAddress, initialState } from '../src/state';
import { difference } from '../src/timeline/difference';
import { gapOf, gapsOf } from '../src/timeline/gaps';
import { briefName, bytes, middleCut, share, signed, tickLabel, tickStep, time } from '../src/units';
import { fromPlanes, unzigzag } from '../src/unpack';
import { csv } from '../src/views/csv';
import { unionOf } from './fixture';
import { test } from './harness';
import { random } from './samples';

const LENGTH = 1_000_000;

function columnsOf(spans: [number, number][], what: (i: number) => number = (i) => i % FAMILIES): Columns {
    return {
        start: Float64Array.from(spans, ([start]) => start), end: Float64Array.from(spans, ([, end]) => end),
        what: Uint32Array.from(spans, (_, i) => what(i)), step: new Uint32Array(spans.length), wait: null, bundle: null, bundles: null,
    };
}

const identity = Uint8Array.from({ length: FAMILIES }, (_, f) => f);

function randomRow(seed: number, n: number): Row {
    const next = random(seed);
    const spans: [number, number][] = [];
    let t = 0;
    for (let i = 0; i < n; i++) {
        t += Math.floor(next() ** 8 * 2000);
        const end = t + Math.floor(next() ** 6 * 3000);
        spans.push([t, end]);
        t = end;
    }
    return buildRows(0, columnsOf(spans), identity, LENGTH)[0];
}

function slowBusy(row: Row, t0: number, t1: number): number[] {
    const busy = new Array<number>(FAMILIES).fill(0);
    for (let i = 0; i < row.start.length; i++) busy[row.family[i]] += Math.max(0, Math.min(row.end[i], t1) - Math.max(row.start[i], t0));
    return busy;
}

test('byte planes and zigzag code give the numbers back', () => {
    const bytes = Uint8Array.from([1, 2, 255, 0, 1, 255]);
    assert.deepStrictEqual([...fromPlanes(bytes, 0, 3, 2)], [1, 258, 65535]);
    assert.deepStrictEqual([...unzigzag(Float64Array.from([0, 1, 2, 3, 2 ** 52, 2 ** 52 - 1]))], [0, -1, 1, -2, 2 ** 51, -(2 ** 51)]);
});

test('rows by depth are disjoint, and every slice is in one', () => {
    const next = random(11);
    const spans: [number, number][] = Array.from({ length: 3000 }, () => {
        const start = Math.floor(next() * LENGTH);
        return [start, start + Math.floor(next() ** 4 * 5000)];
    });
    spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    const rows = buildRows(0, columnsOf(spans), identity, LENGTH + 5000);
    assert.strictEqual(rows.reduce((n, row) => n + row.start.length, 0), spans.length);
    for (const row of rows) for (let k = 1; k < row.start.length; k++) assert(row.start[k] >= row.end[k - 1]);
});

test('busy time of a window is exact by family', () => {
    const row = randomRow(5, 4000);
    const next = random(6);
    for (let i = 0; i < 500; i++) {
        const t0 = Math.floor(next() * LENGTH);
        const t1 = t0 + 1 + Math.floor(next() ** 3 * LENGTH);
        const busy = new Float64Array(FAMILIES);
        busyWithin(row, t0, t1, busy);
        assert.deepStrictEqual([...busy], slowBusy(row, t0, t1));
    }
});

test('a painted column is as high as its busy share', () => {
    const row = randomRow(7, 4000);
    const next = random(8);
    const [width, height] = [97, 20];
    const inks = Uint32Array.from({ length: FAMILIES }, (_, f) => f + 1);
    for (let i = 0; i < 300; i++) {
        const from = Math.floor(next() * LENGTH * 0.8);
        const perPixel = Math.max(3, next() ** 4 * 5000);
        const pixels = new Uint32Array(width * height);
        paintRow({ pixels, width, top: 0, bottom: height }, { from, perPixel, left: 0, columns: width, coarse: 1 }, row, 0, height, inks, inks);
        for (let x = 0; x < width; x += 7) {
            let inked = 0;
            for (let y = 0; y < height; y++) if (pixels[y * width + x] !== 0) inked++;
            const busy = slowBusy(row, from + x * perPixel, from + (x + 1) * perPixel).reduce((a, b) => a + b, 0);
            const exact = (busy / perPixel) * height;
            assert(Math.abs(inked - exact) <= 1.01, `${inked} px for ${exact} in window ${i}`);
            if (busy > 0) assert(inked >= 1);
        }
    }
});

test('the row of a group is the union of its lanes', () => {
    const lanes = [21, 22, 23].map((seed) => randomRow(seed, 300 * (seed - 20)));
    const isBusy = Uint8Array.from({ length: FAMILIES }, (_, f) => (f === 3 ? 0 : 1));
    const row = unionRow(lanes, identity, isBusy, LENGTH);
    const busy = new Float64Array(FAMILIES);
    busyWithin(row, 0, LENGTH * 10, busy);
    const spans = lanes.flatMap((lane) => [...lane.start].flatMap((start, k) => (isBusy[lane.what[k]] ? [{ start, dur: lane.end[k] - start }] : [])));
    assert.strictEqual(busy.reduce((x, y) => x + y, 0), unionOf(spans));
    for (let k = 1; k < row.start.length; k++) assert(row.start[k] >= row.end[k - 1]);
});

test('buckets of the overview keep their shares; several lanes fill one at most', () => {
    const shares = new Uint8Array(FAMILIES * 4);
    shares[2 * 4 + 1] = 255;
    shares[3 * 4 + 2] = 51;
    const busy = new Float64Array(FAMILIES);
    busyWithin(bucketRow([shares], 4000), 0, 4000, busy);
    assert.deepStrictEqual([...busy.slice(0, 4)].map(Math.round), [0, 0, 1000, 200]);
    const both = new Float64Array(FAMILIES);
    busyWithin(bucketRow([shares, shares], 4000), 1000, 2000, both);
    assert.strictEqual(both[2], 1000);
});

test('a part of a row keeps index and time', () => {
    const row = randomRow(9, 200);
    const part = subRow(row, (k) => k % 3 === 0, LENGTH);
    assert.strictEqual(part.start.length, 67);
    assert.strictEqual(part.index[1], 3);
    assert.strictEqual(part.start[1], row.start[3]);
});

test('a bundle counts its busy time only, in proportion where it is cut', () => {
    const columns = columnsOf([[0, 1000]], () => 0);
    columns.bundle = Int32Array.of(0);
    columns.bundles = { more: Uint32Array.of(9), busy: Float64Array.of(300, 100, 0, 0, 0, 0, 0, 0) };
    const row = buildRows(0, columns, identity, 1000)[0];
    const busy = new Float64Array(FAMILIES);
    busyWithin(row, 0, 500, busy);
    assert.deepStrictEqual([...busy.slice(0, 2)], [150, 50]);
});

test('queries: words, expressions, durations, steps, kinds', () => {
    const query = parseQuery('gemm /a b\\d/ dur>100us dur<2ms step:6 kind:comm');
    assert.deepStrictEqual(query, { words: ['gemm'], patterns: ['a b\\d'], kinds: ['comm'], step: 6, longerThan: 100_000, shorterThan: 2_000_000 });
    assert.deepStrictEqual([...matchWords(parseQuery('GEMM'), ['my_gemm', 'copy'], ['', ''])], [1, 0]);
    assert.deepStrictEqual([...(matchPatterns(['^c'], ['my_gemm', 'copy']) as Uint8Array)], [0, 1]);
    assert.strictEqual(typeof matchPatterns(['('], ['x']), 'string');
});

test('the address gives the state back; wrong parts are ignored', () => {
    const state = {
        ...initialState(), view: 'timeline', window: { from: 10, to: 2_000 }, range: { from: 20, to: 30 }, selected: { set: 1, lane: 3, index: 77 }, set: 1,
        step: 6, query: 'a&b=c', pins: ['0.3', '1.7'], closed: ['0.g1'], lanes: ['0.2'], lang: 'zh' as const, theme: 'dark' as const, align: 'first' as const,
    };
    assert.deepStrictEqual(applyAddress(initialState(), addressOf(state)), state);
    assert.deepStrictEqual(applyAddress(initialState(), '#v=nowhere&t=9-3&sel=x&step=-1&pin=a&lang=fr&theme=blue&layer=1'), initialState());
});

test('numbers for people', () => {
    assert.strictEqual(time(3_261_000), '3.26\u202fms');
    assert.strictEqual(time(999_960), '1.00\u202fms');
    assert.strictEqual(time(12), '12\u202fns');
    assert.strictEqual(signed(time(-7_000_000)), '\u22127.00\u202fms');
    assert.strictEqual(share(0.1234), '12.3\u202f%');
    assert.strictEqual(bytes(1.5e9), '1.50\u202fGB');
    assert.strictEqual(tickStep(300), 500);
    assert.strictEqual(tickLabel(1_500_000, 500_000, 2_000_000), '1.5\u202fms');
    assert.strictEqual(middleCut('abcdefghij', 5), 'ab…ij');
    assert.strictEqual(briefName('void at::native::vectorized_elementwise_kernel<4, at::native::F>(int)'), 'vectorized_elementwise_kernel');
    assert.strictEqual(briefName('void cutlass::Kernel2<x>(y)'), 'Kernel2');
    assert.strictEqual(briefName('aten::mm'), 'aten::mm');
});

test('gaps: pieces of one number are one gap', () => {
    const none = new Int32Array(3);
    const gaps = gapsOf({
        start: Float64Array.of(0, 10, 50), end: Float64Array.of(10, 30, 60), cause: new Uint8Array(3), step: new Uint32Array(3), number: Uint32Array.of(1, 1, 2),
        state: new Uint8Array(3), ends: none, launch: none, filler: none, drain: none, task: none,
    });
    assert.deepStrictEqual(gaps, [{ from: 0, to: 30, pieces: [0, 1] }, { from: 50, to: 60, pieces: [2] }]);
    assert.strictEqual(gapOf(gaps, { from: 12, to: 25 }), gaps[0]);
});

test('the running difference follows equal names and lists the rest', () => {
    const a = buildRows(0, columnsOf([[0, 10], [20, 30], [40, 50], [60, 70]]), identity, 100)[0];
    const b = buildRows(0, columnsOf([[0, 10], [15, 20], [33, 40]]), identity, 100)[0];
    const [nameA, nameB] = [['g', 'h', 'x', 'k'], ['g', 'h', 'k']];
    const range = { from: 0, to: 100 };
    const d = difference(a, b, range, range, (k) => nameA[k], (k) => nameB[k]);
    assert.deepStrictEqual(d, { t: [0, 15, 33], ns: [0, -5, -27], onlyA: [2], onlyB: [] });
});

test('CSV cells cannot run as formulas', () => {
    assert.strictEqual(csv(['a'], [['=1+1'], ['x,"y"'], [null], [-5]]), "a\n'=1+1\n\"x,\"\"y\"\"\"\n\n-5\n");
});

function sources(folder: string): string[] {
    return readdirSync(folder).flatMap((name) => {
        const path = join(folder, name);
        return statSync(path).isDirectory() ? sources(path) : name.endsWith('.ts') ? [readFileSync(path, 'utf8')] : [];
    });
}

test('texts: both languages, the same places, all used and none missing', () => {
    const entries = readFileSync('src/text.tsv', 'utf8').trim().split('\n').map((line) => line.split('\t'));
    const code = sources('src').join('\n');
    const places = (text: string): string => (text.match(/\{\w+/g) ?? []).sort().join();
    const keys = new Set(entries.map(([key]) => key));
    assert.strictEqual(keys.size, entries.length, 'a key is there twice');
    for (const [key, en, zh] of entries) {
        assert(en && zh, key);
        assert.strictEqual(places(en), places(zh), key);
        // Keys are written whole, or with a prefix that ends in a dot and a computed end.
        const parts = key.split('.');
        const isUsed = code.includes(`'${key}'`) || parts.some((_, i) => i > 0 && code.includes(`'${parts.slice(0, i).join('.')}.'`));
        assert(isUsed, key + ' is not used');
    }
    for (const [, key] of code.matchAll(/\bt\('([\w.]+)'[,)]/g)) assert(keys.has(key), key + ' is missing');
});

test('no markup from strings in the sources', () => {
    for (const code of sources('src')) assert(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(code));
});
