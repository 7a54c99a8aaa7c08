// Pages in a browser: made by hand, so that every number is known apart from the engine.
import assert from 'assert';
import { readFileSync, writeFileSync } from 'fs';
import { Browser, Page } from 'playwright-core';
import { launch, open, Opened } from './browser';
import { Item, LaneSpec, SetSpec, unionOf, writePage } from './fixture';
import { test } from './harness';
import { diffOf, hostileNames, hostileRun, trainingRun } from './samples';

export const OUT = process.env.OUT ?? '/tmp';
const BUNDLE = OUT + '/page.js';
const STYLE = OUT + '/page.css';
export const VIEWS = ['summary', 'timeline', 'kernels', 'model', 'memory', 'comm', 'data'];

const run = trainingRun(1, 6);
const twin = trainingRun(1, 6, true);
const ONE = OUT + '/one.html';
const TWO = OUT + '/two.html';
const HOSTILE = OUT + '/hostile.html';

let browser: Browser;

export const theBrowser = async (): Promise<Browser> => (browser ??= await launch());

test('the sample pages are written', () => {
    writePage(ONE, [run], {}, BUNDLE, STYLE);
    writePage(TWO, [run, twin], { diff: diffOf(run, twin) }, BUNDLE, STYLE);
    writePage(HOSTILE, [hostileRun()], {}, BUNDLE, STYLE);
});

export async function openPage(file: string, hash = '', options = {}): Promise<Opened> {
    const opened = await open(await theBrowser(), file, hash, options);
    if (/v=timeline/.test(hash)) await opened.page.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
    return opened;
}

// Drawn in full, with the view in the address.
export async function settled(page: Page): Promise<void> {
    await page.locator('html[data-address=written] .timeline[data-rest=true]').waitFor({ state: 'attached' });
}

export async function finish({ page, problems }: Opened): Promise<void> {
    await page.context().close();
    assert.deepStrictEqual(problems, []);
}

const text = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();
const number = async (page: Page, selector: string, attribute: string): Promise<number> => Number(await page.locator(selector).first().getAttribute(attribute));
const clipped = (items: Item[], from: number, to: number): { start: number; dur: number; what: number }[] =>
    items.map((item) => ({ what: item.what, start: Math.max(item.start, from), dur: Math.min(item.start + item.dur, to) - Math.max(item.start, from) })).filter((item) => item.dur > 0);

async function checkRange(page: Page, set: SetSpec, lanes: LaneSpec[], from: number, to: number): Promise<void> {
    await page.locator('.range-busy').waitFor();
    const parts = lanes.flatMap((lane) => clipped(lane.items, from, to));
    assert.strictEqual(await number(page, '.range-busy', 'data-ns'), unionOf(parts));
    assert.strictEqual(await number(page, '.range-sum', 'data-ns'), parts.reduce((sum, part) => sum + part.dur, 0));
    assert.strictEqual(await number(page, '.range-count', 'data-n'), parts.length);
    const rows = await page.locator('.by-kernel tbody tr').evaluateAll((list) => list.map((tr) => [tr.querySelector('bdi')?.textContent, Number(tr.querySelector('td[data-ns]')?.getAttribute('data-ns'))]));
    const byName = new Map<string, number>();
    for (const part of parts) byName.set(set.whats[part.what].name, (byName.get(set.whats[part.what].name) ?? 0) + part.dur);
    assert.deepStrictEqual(new Map(rows as [string, number][]), byName);
}

test('range statistics equal the sums over the slices, to the nanosecond', async () => {
    const opened = await openPage(ONE, '#v=timeline&r=1000001-5432101');
    await checkRange(opened.page, run, run.lanes.slice(0, 2), 1_000_001, 5_432_101);
    await finish(opened);
});

test('range statistics count the checked lanes only', async () => {
    const opened = await openPage(ONE, '#v=timeline&r=7000000-9000000&l=0.2');
    await checkRange(opened.page, run, [run.lanes[2]], 7_000_000, 9_000_000);
    await finish(opened);
});

test('without a Worker the page unpacks by itself', async () => {
    const context = await (await theBrowser()).newContext();
    await context.addInitScript(() => Object.defineProperty(window, 'Worker', { value: undefined }));
    const page = await context.newPage();
    await page.goto('file://' + ONE + '#v=timeline&r=1000001-5432101');
    await checkRange(page, run, run.lanes.slice(0, 2), 1_000_001, 5_432_101);
    await context.close();
});

test('a drag measures a range over the rows it crosses', async () => {
    const opened = await openPage(ONE, '#v=timeline&t=0-4000000', { viewport: { width: 1280, height: 500 } });
    const { page } = opened;
    const box = await page.locator('.stage').boundingBox();
    assert(box);
    const y = box.y + 38 + 26 + 22 + 10;
    await page.mouse.move(box.x + 400, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, y, { steps: 4 });
    await page.mouse.up();
    await page.locator('.range-busy').waitFor();
    await page.waitForURL(/[#&]r=/);
    const hash = await page.evaluate(() => location.hash);
    const [, from, to] = /[#&]r=(\d+)-(\d+)/.exec(hash)?.map(Number) ?? [];
    assert(/l=0\.0/.test(hash), hash);
    await checkRange(page, run, [run.lanes[0]], from, to);
    await finish(opened);
});

test('search: substring, expression, duration, step, kind', async () => {
    const opened = await openPage(ONE, '#v=timeline');
    const { page } = opened;
    const all = run.lanes.flatMap((lane) => lane.items);
    const count = (keep: (item: Item) => boolean): string => String(all.filter(keep).length).replace(/\B(?=(\d{3})+$)/g, '\u202f') + ' hits';
    const named = (part: string) => (item: Item): boolean => run.whats[item.what].name.includes(part);
    const cases: [string, (item: Item) => boolean][] = [
        ['flash', named('flash')], ['/^cuda.*Kernel$/', named('cudaLaunch')], ['dur>100us', (item) => item.dur > 100_000], ['gemm step:2', (item) => named('gemm')(item) && item.step === 2],
        ['kind:comm', (item) => item.what === 4],
    ];
    for (const [query, keep] of cases) {
        await page.locator('.timeline .search').fill(query);
        await page.locator('.hits', { hasText: count(keep) }).first().waitFor({ timeout: 5000 });
    }
    await page.locator('.timeline .search').fill('/(/');
    await page.locator('.hits', { hasText: 'Not searched' }).first().waitFor();
    await page.locator('.timeline .search').fill('flash');
    await page.locator('.timeline .search').press('Enter');
    await page.locator('.details bdi', { hasText: 'flash_fwd_kernel' }).first().waitFor();
    await finish(opened);
});

// Columns of the canvas with ink on a line, as "first-last".
export const inkOf = (page: Page, y: number): Promise<number[]> => page.evaluate((line) => {
    const canvas = document.querySelector('canvas.rows') as HTMLCanvasElement;
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
    context.drawImage(canvas, 0, 0);
    const data = context.getImageData(216, line, canvas.width - 216, 1).data;
    const ground = [data[0], data[1], data[2]].join();
    const ink: number[] = [];
    for (let x = 0; x < canvas.width - 216; x++) if ([data[4 * x], data[4 * x + 1], data[4 * x + 2]].join() !== ground) ink.push(x);
    return ink;
}, y);

const pictureOf = (page: Page): Promise<string> =>
    page.evaluate(() => (document.querySelector('canvas.rows') as HTMLCanvasElement).toDataURL());

test('keys and wheel zoom, pan, undo; the address gives the same pixels in a new tab', async () => {
    const opened = await openPage(ONE, '#v=timeline');
    const { page } = opened;
    const stage = page.locator('.stage');
    await stage.focus();
    const whole = await page.evaluate(() => location.hash);
    assert(!/t=/.test(whole));
    for (const key of ['w', 'w', 'w', 'd', 's']) await page.keyboard.press(key);
    await page.waitForURL(/t=\d+-\d+/);
    await settled(page);
    const zoomed = await page.evaluate(() => location.hash);
    const box = await stage.boundingBox();
    assert(box);
    await page.mouse.move(box.x + 600, box.y + 100);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await page.mouse.move(5, 5);
    await page.waitForURL((url) => url.hash !== zoomed);
    await settled(page);
    await stage.evaluate((element) => (element as HTMLElement).blur());
    // The address follows the picture a moment later: the one read first may be of a picture on the way.
    let isSame = false;
    for (let tries = 0; tries < 4 && !isSame; tries++) {
        const again = await openPage(ONE, await page.evaluate(() => location.hash));
        await settled(page);
        await settled(again.page);
        isSame = (await pictureOf(page)) === (await pictureOf(again.page));
        await finish(again);
    }
    assert(isSame, 'the address gives another picture');
    await stage.focus();
    await page.keyboard.press('0');
    await page.waitForURL((url) => !url.hash.includes('t='));
    await finish(opened);
});

test('two captures are aligned at the start of their steps', async () => {
    const low = { viewport: { width: 1280, height: 500 } };
    const opened = await openPage(TWO, '#v=timeline&step=3&t=12000000-16000000', low);
    await settled(opened.page);
    const lines = [38 + 26 + 44 + 10, 38 + 26 + 44 + 34]; // stream 7 of A and of B
    const [a, b] = [await inkOf(opened.page, lines[0]), await inkOf(opened.page, lines[1])];
    assert(a.length > 50 && b.length > 50);
    assert.strictEqual(a[0], b[0]);
    assert(b[b.length - 1] < a[a.length - 1], 'B ends earlier');
    await finish(opened);
    const ends = await openPage(TWO, '#v=timeline&step=3&ab=end', low);
    await settled(ends.page);
    await finish(ends);
});

test('lanes of B alone are in the group of that name, others in one of their own', async () => {
    const other = trainingRun(1, 6, true);
    other.lanes[2].name = 'thread 9 (python3)';
    other.lanes.push({ ...other.lanes[2], name: 'loader', group: 2 });
    other.groups.push({ name: 'Loader', kind: 'host', open: true });
    const file = OUT + '/apart.html';
    const lanes = [[0, 0], [1, 1], [2, -1], [-1, 2], [-1, 3]];
    writePage(file, [run, other], { diff: { ...diffOf(run, twin), lanes } }, BUNDLE, STYLE);
    const opened = await openPage(file, '#v=timeline');
    await settled(opened.page);
    await opened.page.locator('.stage').focus();
    const heard: string[] = [];
    for (let i = 0; i < 12; i++) {
        await opened.page.keyboard.press('ArrowDown');
        await opened.page.waitForTimeout(550); // the live region speaks twice a second
        heard.push((await opened.page.locator('.timeline [aria-live]').first().textContent()) ?? '');
    }
    const place = (name: string): number => heard.findIndex((text) => text.includes(name));
    assert(place('Host') >= 0 && place('B · thread 9') > place('Host') && place('B · Loader') > place('B · thread 9') && place('B · loader') > place('B · Loader'), heard.join(' | '));
    await finish(opened);
});

test('the worst gap, by keys alone: cause, time and who drained the queue', async () => {
    const opened = await openPage(ONE, '#v=timeline');
    const { page } = opened;
    await page.locator('.stage').focus();
    await page.keyboard.press('g');
    await page.locator('.gap-title', { hasText: '900\u202fµs' }).waitFor();
    assert((await text(page, '.gap-title')).includes('idle: sync'));
    assert((await text(page, '.details')).includes('cudaLaunchKernel'));
    await page.locator('.timeline [aria-live]', { hasText: '900\u202fµs' }).waitFor({ state: 'attached' });
    await page.waitForURL(/gap=/);
    const longest = run.gaps.reduce((best, gap) => (gap.dur > best.dur ? gap : best));
    assert((await page.evaluate(() => location.hash)).includes(`gap=${longest.start}-${longest.start + longest.dur}`));
    await finish(opened);
});

test('arrows lead from a kernel to its launch', async () => {
    const opened = await openPage(ONE, '#v=timeline&sel=0.40&t=900000-1200000');
    const { page } = opened;
    await page.locator('.details dt', { hasText: 'Launch from' }).waitFor();
    await page.locator('.stage').focus();
    await page.keyboard.press('[');
    await page.locator('.details h3', { hasText: 'cudaLaunchKernel' }).waitFor();
    await page.keyboard.press(']');
    await page.locator('.details h3', { hasText: run.whats[run.lanes[0].items[40].what].name }).waitFor();
    await finish(opened);
});

test('kernel table: sort, filter, row to the timeline', async () => {
    const opened = await openPage(ONE, '#v=kernels');
    const { page } = opened;
    await page.locator('#view-kernels th button', { hasText: 'Count' }).click();
    const counts = await page.locator('#view-kernels tbody tr td:nth-child(7)').allInnerTexts();
    assert.deepStrictEqual(counts, [...counts].sort((a, b) => Number(b) - Number(a)));
    await page.locator('#view-kernels .search').fill('flash');
    assert.strictEqual(await page.locator('#view-kernels tbody tr').count(), 1);
    await page.locator('#view-kernels tbody tr th button').click();
    await page.locator('.details h3', { hasText: 'flash_fwd_kernel' }).waitFor();
    await page.goBack();
    await page.locator('#view-kernels').waitFor();
    await finish(opened);
});

test('hostile names are text; the longest are cut', async () => {
    const opened = await openPage(HOSTILE, '#v=kernels');
    const { page } = opened;
    let dialogs = 0;
    page.on('dialog', () => dialogs++);
    const names = await page.locator('#view-kernels tbody bdi').evaluateAll((list) => list.map((bdi) => bdi.getAttribute('title') ?? bdi.textContent));
    for (const name of hostileNames) assert(names.includes(name), name.slice(0, 40));
    for (const view of VIEWS) await page.locator(`nav.views a[href="#v=${view}"]`).click();
    await page.locator('nav.views a[href="#v=timeline"]').click();
    await page.locator('.stage').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', '.', '.', 't', 't']) await page.keyboard.press(key);
    assert.strictEqual(dialogs, 0);
    assert.strictEqual(await page.locator('img').count(), 0);
    await finish(opened);
});

test('a damaged chunk is reported, the rest is shown', async () => {
    const file = OUT + '/damaged.html';
    const page = readFileSync(ONE, 'utf8');
    const at = page.indexOf('id="d0">') + 8;
    writeFileSync(file, page.slice(0, at + 3000) + 'A'.repeat(400) + page.slice(at + 3400));
    const opened = await openPage(file, '#v=timeline');
    await opened.page.locator('.note.errors').waitFor();
    await finish(opened);
});

// Text of a file that a button of the section Data saves.
export async function saved(page: Page, label: string): Promise<string> {
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('.downloads button', { hasText: label }).click()]);
    return readFileSync((await download.path()) as string, 'utf8');
}

interface SavedSet {
    names: string[];
    groups: { kind: string }[];
    lanes: { group: number; kind: string; items: { start: number[]; duration: number[]; what: number[] } }[];
}

test('saved files: CSV, a Chrome trace of the visible range, and JSON that gives the same statistics', async () => {
    const [from, to] = [1_000_000, 2_000_000];
    const opened = await openPage(ONE, `#v=timeline&t=${from}-${to}&r=${from}-${to}`);
    const { page } = opened;
    await page.locator('.range-busy').waitFor();
    const shown = [await number(page, '.range-busy', 'data-ns'), await number(page, '.range-sum', 'data-ns'), await number(page, '.range-count', 'data-n')];
    await page.locator('nav.views a[href="#v=data"]').click();
    const trace = JSON.parse(await saved(page, 'Perfetto')) as { traceEvents: { ph: string; ts: number; dur: number }[] };
    const slices = trace.traceEvents.filter((event) => event.ph === 'X');
    assert.strictEqual(slices.length, run.lanes.flatMap((lane) => clipped(lane.items, from, to)).length);
    assert.strictEqual((await saved(page, 'Slices as CSV')).trim().split('\n').length, 1 + run.lanes.reduce((n, lane) => n + lane.items.length, 0));
    const [set] = (JSON.parse(await saved(page, 'JSON')) as { sets: SavedSet[] }).sets;
    const parts = set.lanes.filter((lane) => set.groups[lane.group].kind === 'device').flatMap(({ items }) =>
        items.start.map((start, i) => ({ start: Math.max(start, from), dur: Math.min(start + items.duration[i], to) - Math.max(start, from) })).filter((part) => part.dur > 0));
    assert.deepStrictEqual(shown, [unionOf(parts), parts.reduce((sum, part) => sum + part.dur, 0), parts.length]);
    assert.strictEqual(set.names[set.lanes[0].items.what[40]], run.whats[run.lanes[0].items[40].what].name);
    await finish(opened);
});

test('gaps are hatched, and a click tells the cause', async () => {
    const gap = run.gaps.reduce((best, one) => (one.dur > best.dur ? one : best));
    const opened = await openPage(ONE, `#v=timeline&t=${gap.start - 100_000}-${gap.start + gap.dur + 100_000}`, { viewport: { width: 1280, height: 500 } });
    const { page } = opened;
    await settled(page);
    const idle = 38 + 26 + 9;
    const colours = await page.evaluate((y) => {
        const canvas = document.querySelector('canvas.rows') as HTMLCanvasElement;
        const copy = document.createElement('canvas');
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const context = copy.getContext('2d') as CanvasRenderingContext2D;
        context.drawImage(canvas, 0, 0);
        const data = context.getImageData(900, y, 80, 9).data;
        return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 3).join())).size;
    }, idle - 4);
    assert(colours >= 2, 'a pattern, not one colour');
    const box = await page.locator('.stage').boundingBox();
    assert(box);
    await page.mouse.click(box.x + 700, box.y + idle + 22);
    await page.locator('.gap-title', { hasText: 'idle: sync' }).waitFor();
    await page.waitForURL(new RegExp(`gap=${gap.start}-${gap.start + gap.dur}`));
    await finish(opened);
});
