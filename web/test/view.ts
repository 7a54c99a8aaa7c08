// Pages that `strata view` serves, against what `strata query` and `strata whatif` answer.
import assert from 'assert';
import { ChildProcess, spawn } from 'child_process';
import { readFileSync } from 'fs';
import { Page } from 'playwright-core';
import { test } from './harness';
import { violations } from './looks';
import { finish, theBrowser } from './pages';
import { OPTIMIZER, sql, strata } from './real';
import { Opened } from './browser';

const STRATA = process.env.STRATA ?? '';
const ROOT = process.env.ROOT ?? '..';
const LAYOUT = ROOT + '/tests/data/planted/layout_changes.json.gz';
const FIXED = ROOT + '/tests/data/planted/fixed_layout_changes.json.gz';

interface Viewer {
    url: string;
    process: ChildProcess;
}

// A viewer whose page holds little, so that the rest has to come from the server.
async function start(...args: string[]): Promise<Viewer> {
    const process = spawn(STRATA, ['view', ...args, '--no-browser', '--max-size', '400k', '--idle', '60'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const url = await new Promise<string>((resolve, reject) => {
        process.stdout?.once('data', (line: Buffer) => resolve(line.toString().trim()));
        process.once('exit', () => reject(new Error('strata view ended')));
    });
    return { url, process };
}

async function open(viewer: Viewer, view = 'timeline'): Promise<Opened> {
    const context = await (await theBrowser()).newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.type() + ': ' + message.text()));
    page.on('pageerror', (error) => problems.push('error: ' + error.message));
    page.on('request', (request) => {
        if (!request.url().startsWith(new URL(viewer.url).origin) && !request.url().startsWith('blob:')) problems.push('request: ' + request.url());
    });
    await page.goto(viewer.url);
    await page.locator('html[data-live=ready]').waitFor({ state: 'attached', timeout: 30_000 });
    assert(!page.url().includes('k='), 'the token leaves the address');
    await page.locator(`nav.views a[href="#v=${view}"]`).click();
    return { page, problems };
}

const at = (page: Page, from: number, to: number, more = ''): Promise<void> => page.evaluate((hash) => void (location.hash = hash), `#v=timeline&t=${from}-${to}${more}`);
const settled = (page: Page): Promise<void> => page.locator('.timeline[data-done=true][data-rest=true][data-detail=true]').waitFor({ state: 'attached' });
const ns = async (page: Page, selector: string): Promise<number> => Number(await page.locator(selector).first().getAttribute('data-ns'));

// The same question that the page would ask.
async function api<T>(viewer: Viewer, path: string): Promise<T> {
    const { origin, hash } = new URL(viewer.url);
    return (await (await fetch(origin + path, { headers: { Authorization: 'Bearer ' + hash.replace('#k=', '') } })).json()) as T;
}

const rangeCount = async (page: Page): Promise<number> => Number(await page.locator('.range-count').first().getAttribute('data-n'));

let one: Viewer;

test('view: serves a page; zoom brings every slice; range statistics equal strata query', async () => {
    one = await start(OPTIMIZER);
    const opened = await open(one);
    const { page } = opened;
    await page.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
    assert((await page.locator('section#view-timeline p.note').first().innerText()).length > 10, 'the page is thinned');
    const [[first, last]] = sql(OPTIMIZER, "SELECT min(ts), max(ts) FROM slices") as number[][];
    const [from, to] = [Math.floor((last - first) * 0.4), Math.floor((last - first) * 0.4) + 3_000_000];
    await at(page, from, to, `&r=${from}-${to}`);
    await settled(page);
    await page.locator('.range-busy').waitFor();
    const inside = `ts < ${first + to} AND ts + dur > ${first + from}`;
    const clip = `min(ts + dur, ${first + to}) - max(ts, ${first + from})`;
    const [[count, sum]] = sql(OPTIMIZER, `SELECT count(*), sum(${clip}) FROM kernels WHERE ${inside}`) as number[][];
    assert.strictEqual(await rangeCount(page), count);
    assert.strictEqual(await ns(page, '.range-sum'), sum);
    assert(count > 5, 'kernels in the range');
    // A slice by its address: not drawn in the whole run, drawn when zoomed in, and with all attributes in both.
    const { hits } = await api<{ hits: [number, number, number][] }>(one, '/api/search?q=gemm&max=1');
    const [lane, n, begin] = hits[0];
    const facts = await api<{ dur_ns: number; args: { [key: string]: string } }>(one, `/api/slice?r=${lane}&n=${n}`);
    assert(Object.keys(facts.args).length > 3, 'attributes');
    for (const [a, b] of [[0, last - first], [begin - 1000, begin + 100_000]]) {
        await at(page, a, b, `&sel=${lane}.${500_000_000 + n}`);
        await settled(page);
        await page.locator('.details-head h3', { hasText: /gemm/i }).waitFor();
        await page.locator('.attributes dt').first().waitFor();
        assert.deepStrictEqual(await page.locator('.attributes dt').allInnerTexts(), Object.keys(facts.args));
    }
    await finish(opened);
});

test('view: search counts all slices', async () => {
    const opened = await open(one);
    const { page } = opened;
    await page.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
    await page.locator('input.search').fill('gemm');
    const [[hits]] = sql(OPTIMIZER, "SELECT count(*) FROM slices WHERE name LIKE '%gemm%'") as number[][];
    await page.locator('.hits', { hasText: new RegExp(String(hits).replace(/(\d)(\d{3})$/, '$1\\D?$2')) }).waitFor();
    await finish(opened);
});

test('view: SQL box with table, CSV and overlay; what if as strata whatif', async () => {
    const opened = await open(one, 'sql');
    const { page } = opened;
    await page.locator('textarea.sql').fill('SELECT name, ts, dur FROM kernels ORDER BY dur DESC LIMIT 7');
    await page.locator('[data-do=run]').click();
    await page.locator('.sql-answer [role=status]', { hasText: '7' }).waitFor();
    const longest = sql(OPTIMIZER, 'SELECT max(dur) FROM kernels')[0][0];
    assert((await page.locator('.sql-answer tbody').innerText()).includes(String(longest)));
    const column = async (): Promise<number[]> => (await page.locator('.sql-answer tbody tr td:last-child').allInnerTexts()).map((text) => Number(text.replace(/\D/g, '')));
    const falling = await column();
    await page.locator('.sql-answer thead').getByText('dur', { exact: true }).click();
    const sorted = await column();
    assert.deepStrictEqual([sorted, falling].map((list) => [...list].sort((a, b) => a - b)), [sorted, sorted].map((list) => [...list].sort((a, b) => a - b)));
    assert(sorted.every((ns, i) => i === 0 || ns >= sorted[i - 1]) || sorted.every((ns, i) => i === 0 || ns <= sorted[i - 1]), 'sorted by a click');
    const [table] = await Promise.all([page.waitForEvent('download'), page.getByText(/CSV/).last().click()]);
    assert.strictEqual(readFileSync((await table.path()) ?? '', 'utf8').trim().split('\n').length, 8);
    assert.deepStrictEqual(await violations(page), []);
    await page.locator('[data-do=overlay]').click();
    await page.locator('.timeline[data-rest=true]').waitFor({ state: 'attached' });
    const painted = await page.evaluate(() => {
        const canvas = document.querySelector('canvas.marks') as HTMLCanvasElement;
        const { data } = (canvas.getContext('2d') as CanvasRenderingContext2D).getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    });
    assert(painted > 100, 'bands are drawn');
    await page.locator('nav.views a[href="#v=sql"]').click();
    await page.locator('textarea.sql').fill('DELETE FROM kernels');
    await page.locator('[data-do=run]').click();
    await page.locator('.sql-answer [role=alert]').waitFor();
    opened.problems.length = 0; // the refused statement
    await page.locator('nav.views a[href="#v=whatif"]').click();
    await page.locator('.whatif-changes input[value=no_launch_cost]').check();
    await page.locator('.whatif-result').waitFor();
    const told = JSON.parse(strata('whatif', OPTIMIZER, '--change', 'no_launch_cost', '--json')) as { result: { together: { unprofiled_ms: number }[] } };
    const shown = Number(await page.locator('.whatif-result').getAttribute('data-after'));
    assert.strictEqual(shown / 1e6, told.result.together[0].unprofiled_ms);
    assert.strictEqual(await page.locator('.whatif-strip').count(), 4);
    assert((await page.locator('.whatif-run path').count()) >= 2, 'the run before and after');
    await finish(opened);
});

test('view: the visible range as a trace; the end is told', async () => {
    const opened = await open(one);
    const { page } = opened;
    await page.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
    const [[first, last]] = sql(OPTIMIZER, 'SELECT min(ts), max(ts) FROM slices') as number[][];
    const [from, to] = [Math.floor((last - first) * 0.4), Math.floor((last - first) * 0.4) + 3_000_000];
    await at(page, from, to);
    await settled(page);
    await page.locator('nav.views a[href="#v=data"]').click();
    const [[count]] = sql(OPTIMIZER, `SELECT count(*) FROM slices WHERE ts < ${first + to} AND ts + max(dur, 1) > ${first + from}`) as number[][];
    const counted: { [as: string]: (text: string) => number } = {
        chrome: (text) => (JSON.parse(text) as { traceEvents: { ph: string }[] }).traceEvents.filter((event) => event.ph === 'X').length,
        page: (text) => (JSON.parse(/<script[^>]*id="?model"?[^>]*>(.*?)<\/script>/s.exec(text)?.[1] ?? '') as { sets: { slices: number }[] }).sets[0].slices,
        perfetto: (text) => (text.length > 100 ? count : 0),
    };
    for (const as of Object.keys(counted)) {
        const [download] = await Promise.all([page.waitForEvent('download'), page.locator(`[data-cut=${as}]`).click()]);
        assert.strictEqual(counted[as](readFileSync((await download.path()) ?? '', 'utf8')), count, as);
    }
    one.process.kill('SIGINT');
    await new Promise((ended) => one.process.once('exit', ended));
    await page.reload().catch(() => undefined);
    await page.context().close();
});

test('view: A against B', async () => {
    const viewer = await start(LAYOUT, FIXED);
    const opened = await open(viewer, 'diff');
    const { page } = opened;
    assert.strictEqual(await page.locator('html').getAttribute('data-kind'), 'compare');
    await page.locator('nav.views a[href="#v=timeline"]').click();
    await page.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
    for (const [set, path] of [LAYOUT, FIXED].entries()) {
        const [[first]] = sql(path, 'SELECT min(ts) FROM slices') as number[][];
        const [[count]] = sql(path, `SELECT count(*) FROM kernels WHERE ts < ${first + 2_000_000} AND ts + dur > ${first + 500_000}`) as number[][];
        await at(page, 500_000, 2_000_000, `&set=${set}&r=500000-2000000`);
        await page.locator(`.range-count[data-n="${count}"]`).first().waitFor();
        assert(count > 5, 'kernels in the range');
    }
    await finish(opened);
    viewer.process.kill('SIGINT');
});
