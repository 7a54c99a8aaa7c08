// Pages that `strata view` serves, against what `strata query` and `strata whatif` answer.
import assert from 'assert';
import { ChildProcess, spawn } from 'child_process';
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
    assert.strictEqual(Number(await page.locator('.range-count').first().getAttribute('data-n')), count);
    assert.strictEqual(await ns(page, '.range-sum'), sum);
    assert(count > 5, 'kernels in the range');
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
    assert.strictEqual(await page.locator('.whatif-strip').count(), 2);
    await finish(opened);
});

test('view: the visible range as a trace; the end is told', async () => {
    const opened = await open(one);
    const { page } = opened;
    await page.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
    await page.locator('nav.views a[href="#v=data"]').click();
    for (const as of ['chrome', 'perfetto']) {
        const [download] = await Promise.all([page.waitForEvent('download'), page.locator(`[data-cut=${as}]`).click()]);
        assert((await download.path()) !== null);
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
    await finish(opened);
    viewer.process.kill('SIGINT');
});
