// Pages that strata writes from captures of the repository; numbers are compared with its JSON and SQL answers.
import assert from 'assert';
import { execFileSync } from 'child_process';
import { readFileSync, writeFileSync } from 'fs';
import { Page } from 'playwright-core';
import { unionOf } from './fixture';
import { test } from './harness';
import { checkViews, showAll, violations } from './looks';
import { finish, openPage, saved } from './pages';

export const OUT = process.env.OUT ?? '/tmp';
const STRATA = process.env.STRATA ?? '';
const ROOT = process.env.ROOT ?? '..';
export const OPTIMIZER = ROOT + '/tests/data/diagnosis/optimizer_loop.json.gz';
const COPIES = ROOT + '/tests/data/planted/logits_to_host.json.gz';
const LAYOUT = ROOT + '/tests/data/planted/layout_changes.json.gz';
const FIXED = ROOT + '/tests/data/planted/fixed_layout_changes.json.gz';
const MOE = ROOT + '/examples/ascend-moe';

const MATMUL = ROOT + '/examples/pto/matmul.pto';
const RUN = ROOT + '/examples/gpu-rules/run';
const PREDICTED = ROOT + '/examples/perfdb-compare/predicted.json';
const MEASURED = ROOT + '/examples/perfdb-compare/measured.csv';

const KINDS: [string, string[]][] = [
    ['capture', [OPTIMIZER]], ['copies', [COPIES]], ['ascend', [MOE]], ['compare', [LAYOUT, FIXED]], ['ranks', [OUT + '/ranks']],
    ['incore', [ROOT + '/examples/incore/visualize_data.bin']], ['pto', [MATMUL]], ['kernels', [ROOT + '/examples/pto']], ['gpu', [RUN]],
    ['database', [ROOT + '/examples/perfdb/db']], ['errors', [PREDICTED, MEASURED]],
];

// Pages of results that are no captures.
const PANELS = ['incore', 'pto', 'gpu', 'database', 'errors'];

export const strata = (...args: string[]): string => execFileSync(STRATA, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
export const page = (name: string): string => `${OUT}/real-${name}.html`;

export function sql(path: string, statement: string): (string | number)[][] {
    return (JSON.parse(strata('query', path, statement, '--json')) as { result: { rows: (string | number)[][] } }).result.rows;
}

// Time of the page's zero on the clock of the capture.
export const originOf = (name: string): string => /"origin":"(-?\d+)"/.exec(readFileSync(page(name), 'utf8'))?.[1] ?? '';

const SLOW = 2;

test('strata writes a page of every kind', () => {
    const slow = ['--straggler', String(SLOW), '--slow', '1.6', '--ranks', '4', '--steps', '4', '--mode', 'train', '--model', 'llama-8b', '--layers', '2'];
    strata('synth', '-o', OUT + '/ranks', ...slow, '--force', '-q');
    for (const [name, paths] of KINDS) strata(...paths, '-o', page(name));
});

for (const [name] of KINDS) {
    test(`${name}: opens from disk without messages and requests; axe finds nothing serious`, async () => {
        const opened = await openPage(page(name));
        await opened.page.locator('nav.views').waitFor();
        assert((await opened.page.locator('h1:visible').innerText()).length > 10);
        for (const link of await opened.page.locator('nav.views a').all()) await link.click();
        for (const tool of await opened.page.locator('.downloads button').all()) {
            const saved = opened.page.waitForEvent('download');
            await tool.click();
            assert((await saved).suggestedFilename().length > 4);
        }
        await showAll(opened.page);
        assert.deepStrictEqual(await violations(opened.page), []);
        await finish(opened);
        const policy = /Content-Security-Policy" content="([^"]*)"/.exec(readFileSync(page(name), 'utf8'))?.[1] ?? '';
        assert(policy.startsWith("default-src 'none'") && !/https?:|unsafe/.test(policy), policy);
    });
}

// The heading of a page and the line below it, in English.
function firstLines(path: string): string {
    strata(path, '-o', page('lines'));
    return /<h1 id="verdict-en">[^]*?<p id="evidence-en"[^]*?<\/p>/.exec(readFileSync(page('lines'), 'utf8'))?.[0] ?? '';
}

test('the picture has the lane of its slice, and the counts of places have their steps', () => {
    strata(OUT + '/ranks/rank0_ascend_pt', '-o', page('lane'));
    const html = readFileSync(page('lane'), 'utf8');
    const excerpt = /<svg[^>]*id="excerpt-en"[^]*?<\/section>/.exec(html)?.[0] ?? '';
    assert(excerpt.includes('<rect class="slice f4"'), 'communication is drawn');
    const labels = [...excerpt.matchAll(/<text class="axis wide"[^>]*>([^<]*)/g)].map((match) => match[1]);
    assert(labels.length > 2 && new Set(labels).size === labels.length, labels.join());
    assert(/: \d+ times in 3 steps, [\d.]+ ms a step/.test(/<p id="evidence-en"[^]*?<\/p>/.exec(html)?.[0] ?? ''), 'steps');
});

test('captures of different work are not compared in the verdict', () => {
    const lines = firstLines(ROOT + '/examples/perfdb');
    assert(/<h1 id="verdict-en">2 captures that are not ranks of one job/.test(lines) && lines.includes('judged by itself'), lines);
});

test('a kernel that lacks a value is not judged', () => {
    const lines = firstLines(ROOT + '/tests/data/pto/input.pto');
    assert(lines.includes('Not judged: ') && !/To try/.test(lines), lines);
});

// A click that is counted; a task must be done in three.
class Clicks {
    private n = 0;

    constructor(private readonly page: Page) {}

    async on(selector: string): Promise<void> {
        assert(++this.n <= 3, 'more than three clicks');
        await this.page.locator(selector).first().click();
    }
}

test('task: the cause of the worst gap', async () => {
    const opened = await openPage(page('capture'));
    const clicks = new Clicks(opened.page);
    await clicks.on('.static:visible .card a:has-text("worst gap")');
    await opened.page.locator('.gap-title').waitFor();
    const [gap, from, to] = sql(OPTIMIZER, `SELECT gap, ts - ${originOf('capture')}, end_ts - ${originOf('capture')} FROM gaps WHERE cause = 'launch' ORDER BY dur DESC LIMIT 1`)[0];
    assert((await opened.page.evaluate(() => location.hash)).includes(`gap=${from}-${to}`));
    const pieces = sql(OPTIMIZER, `SELECT cause, sum(dur) AS ns FROM gaps WHERE gap = ${gap} GROUP BY cause ORDER BY ns DESC`);
    assert.strictEqual(await opened.page.locator('.details table tbody tr').count(), Math.min(8, Number(sql(OPTIMIZER, `SELECT count(*) FROM gaps WHERE gap = ${gap}`)[0][0])));
    assert((await opened.page.locator('.gap-title').innerText()).includes('launch'));
    assert.strictEqual(pieces[0][0], 'launch');
    await finish(opened);
});

test('task: the slowest layer', async () => {
    const opened = await openPage(page('ascend'));
    const clicks = new Clicks(opened.page);
    await clicks.on('nav.views a[href="#v=model"]');
    await clicks.on('#view-model tbody th button');
    await opened.page.locator('.range-busy').waitFor();
    const arch = JSON.parse(strata('arch', MOE, '--json')) as { passes: { layers: { wall_ms: number }[] }[] };
    const slowest = arch.passes.flatMap((pass) => pass.layers).reduce((best, layer) => (layer.wall_ms > best.wall_ms ? layer : best));
    await opened.page.waitForURL(/[#&]r=/);
    const [, from, to] = /[#&]r=(\d+)-(\d+)/.exec(await opened.page.evaluate(() => location.hash))?.map(Number) ?? [];
    assert.strictEqual(to - from, Math.round(slowest.wall_ms * 1e6));
    const spans = sql(MOE, `SELECT max(s.ts - o.t, ${from}), min(s.end_ts - o.t, ${to}) FROM slices s JOIN lanes l ON l.id = s.lane, (SELECT ${originOf('ascend')} AS t) o
        WHERE l.kind = 'stream' AND s.end_ts - o.t > ${from} AND s.ts - o.t < ${to}`);
    assert.strictEqual(Number(await opened.page.locator('.range-busy').getAttribute('data-ns')), unionOf(spans.map(([start, end]) => ({ start: Number(start), dur: Number(end) - Number(start) }))));
    await finish(opened);
});

test('task: what changed between A and B', async () => {
    const opened = await openPage(page('compare'));
    const clicks = new Clicks(opened.page);
    await clicks.on('nav.views a[href="#v=diff"]');
    const name = await opened.page.locator('#view-diff tbody tr bdi').first().evaluate((bdi) => bdi.getAttribute('title') ?? bdi.textContent);
    const time = (path: string): Map<string, number> => new Map(sql(path, 'SELECT name, sum(dur) FROM kernels GROUP BY name').map(([kernel, ns]) => [String(kernel), Number(ns)]));
    const [a, b] = [time(LAYOUT), time(FIXED)];
    const change = (kernel: string): number => Math.abs((b.get(kernel) ?? 0) - (a.get(kernel) ?? 0));
    const largest = [...new Set([...a.keys(), ...b.keys()])].reduce((best, kernel) => (change(kernel) > change(best) ? kernel : best));
    assert.strictEqual(name, largest);
    await clicks.on('#view-diff tbody th button');
    await opened.page.locator('.details h3', { hasText: name?.slice(0, 30) }).waitFor();
    await finish(opened);
});

test('task: what pinning the copies would save', async () => {
    const opened = await openPage(page('copies'));
    const diagnosis = JSON.parse(strata('diagnose', COPIES, '--json')) as { result: { causes: { id: string; saving_ms: number; saving_share: number }[] } };
    const cause = diagnosis.result.causes[0];
    assert.strictEqual(cause.id, 'pageable_copy');
    const saving = await opened.page.locator('.static:visible .card strong').first().innerText();
    assert(saving.includes(`\u2212${cause.saving_ms.toPrecision(3)}`), saving);
    await new Clicks(opened.page).on('.static:visible .card a');
    await opened.page.locator('.details h3', { hasText: 'Memcpy' }).waitFor();
    await finish(opened);
});

test('task: the slow rank', async () => {
    const opened = await openPage(page('ranks'));
    const view = opened.page;
    assert((await view.locator('h1:visible').innerText()).startsWith(`Rank ${SLOW} computes slowly`));
    assert.strictEqual(await view.locator('.static:visible .card').count(), 1, 'the action is about it; what others wait for is no other');
    assert.strictEqual(await view.locator('#ranks-en > svg').count(), 4);
    const cells = await view.locator('#heat-en a').evaluateAll((list) => list.map((a) => ({ href: a.getAttribute('href') ?? '', heat: Number(a.querySelector('rect')?.getAttribute('fill-opacity')) })));
    assert.strictEqual(cells.length, 4 * 4);
    const darkest = cells.reduce((best, cell) => (cell.heat > best.heat ? cell : best));
    assert(darkest.href.includes(`set=${SLOW}&rank=${SLOW},`), darkest.href);
    await new Clicks(view).on(`#heat-en a[href="${darkest.href}"]`);
    await view.locator('.choose summary', { hasText: `Ranks: ${SLOW}, ` }).waitFor();
    await view.waitForURL(/step=\d/);
    await view.locator('.choose summary').click();
    await view.locator('.choices input').nth(1).check();
    await view.waitForURL(new RegExp(`rank=${SLOW},\\d,1`));
    await finish(opened);
});

test('task: which rank everybody waits for, among all ranks of a cluster', async () => {
    const folder = OUT + '/cluster';
    strata('synth', '--cluster', '-o', folder, '--ranks', '16', '--tp', '2', '--pp', '2', '--ep', '2', '--steps', '4', '--trouble', 'compute,storage', '--force', '-q');
    const file = OUT + '/cluster.html';
    strata('cluster', folder, '-o', file, '-q');
    const { result } = JSON.parse(strata('cluster', folder, '--json')) as { result: { culprits: { kind: string; rank: number }[]; clock: unknown[] } };
    const slow = result.culprits.find((one) => one.kind === 'compute_slow')?.rank ?? -1;
    const opened = await openPage(file);
    const view = opened.page;
    assert((await view.locator('h1:visible').innerText()).includes(`Rank ${result.culprits[0].rank} `));
    assert.strictEqual(await view.locator('.static:visible .card').count(), result.culprits.length);
    const cells = await view.locator('#ranks-en a').evaluateAll((list) => list.map((a) => ({ href: a.getAttribute('href') ?? '', heat: Number(a.querySelector('rect')?.getAttribute('fill-opacity')) })));
    assert.strictEqual(cells.length, 16 * 4);
    const darkest = cells.reduce((best, cell) => (cell.heat > best.heat ? cell : best));
    await new Clicks(view).on(`#ranks-en a[href="${darkest.href}"]`);
    await view.locator('#view-slowest svg.lanes text', { hasText: `rank ${slow}` }).first().waitFor();
    assert.strictEqual(await view.locator('#view-slowest input').inputValue(), String(slow));
    await view.locator('#view-slowest input').fill('0, 3-5');
    assert.deepStrictEqual((await view.locator('#view-slowest svg.lanes text.tick').allTextContents()).slice(0, 4), ['rank 0', 'rank 3', 'rank 4', 'rank 5']);
    assert(await view.locator('#view-slowest polyline.critical').count() > 0);
    await view.locator('nav.views a[href="#v=ranks"]').click();
    await view.locator('#view-ranks .toolbar button', { hasText: 'others wait' }).click();
    assert.strictEqual(await view.locator('#view-ranks table.matrix tbody tr').count(), 16);
    assert.strictEqual(await view.locator('#view-ranks table.grid').last().locator('tbody tr:not(.spacer)').count() > 0, true);
    await view.locator('nav.views a[href="#v=links"]').click();
    assert.strictEqual(await view.locator('#view-links table.matrix tbody tr').count(), 16);
    await finish(opened);
    const views = ['ranks', 'waits', 'links', 'slowest', 'data'];
    for (const hash of ['', 'theme=dark&lang=zh']) await checkViews(file, views, hash);
    const phone = await openPage(file, '', { viewport: { width: 390, height: 844 } });
    for (const one of views) {
        await phone.page.locator(`nav.views a[href="#v=${one}"]`).click();
        assert((await phone.page.evaluate(() => document.documentElement.scrollWidth)) <= 390, one);
    }
    await finish(phone);
});

test('the visible range as a trace: strata reads it back', async () => {
    const [from, to] = [70_000_000, 90_000_000];
    const opened = await openPage(page('capture'), `#v=timeline&t=${from}-${to}`);
    await opened.page.locator('nav.views a[href="#v=data"]').click();
    const file = OUT + '/range.json';
    writeFileSync(file, await saved(opened.page, 'Perfetto'));
    const count = (path: string, where: string): unknown => sql(path, `SELECT name, count(*), sum(dur) FROM slices ${where} GROUP BY name ORDER BY name`);
    const origin = originOf('capture');
    assert.deepStrictEqual(count(file, ''), count(OPTIMIZER, `WHERE end_ts > ${origin} + ${from} AND ts < ${origin} + ${to}`));
    await finish(opened);
});

test('range statistics of a real capture equal a SQL query', async () => {
    const opened = await openPage(page('capture'), '#v=timeline&r=70000000-90000000');
    await opened.page.locator('.range-sum').waitFor();
    const clip = (side: string): string => `${originOf('capture')} + ${side}`;
    const rows = sql(OPTIMIZER, `SELECT count(*), sum(min(end_ts, ${clip('90000000')}) - max(ts, ${clip('70000000')})) FROM kernels WHERE end_ts > ${clip('70000000')} AND ts < ${clip('90000000')}`);
    assert.strictEqual(Number(await opened.page.locator('.range-count').getAttribute('data-n')), rows[0][0]);
    assert.strictEqual(Number(await opened.page.locator('.range-sum').getAttribute('data-ns')), rows[0][1]);
    await finish(opened);
});

const json = (...args: string[]): any => (JSON.parse(strata(...args, '--json')) as { result: unknown }).result;
const cells = (page: Page, view: string): Promise<string[]> => page.locator(`#view-${view} tbody tr`).first().locator('th, td').allInnerTexts();
const digits = (text: string): number => Number(text.replace(/[^\d]/g, ''));

test('task: the hottest line of a kernel', async () => {
    const opened = await openPage(page('pto'));
    const clicks = new Clicks(opened.page);
    await clicks.on('nav.views a[href="#v=source"]');
    const [path, line, code] = await cells(opened.page, 'source');
    const byLine = new Map<number, number>();
    for (const one of json('pto', 'sim', MATMUL, '--lines').kernels[0].by_line.lines as { line: number; path: number }[]) byLine.set(one.line, (byLine.get(one.line) ?? 0) + one.path);
    const hottest = Math.max(...byLine.values());
    const source = readFileSync(MATMUL, 'utf8').split('\n');
    assert.strictEqual(source[Number(line) - 1].trim().slice(0, 60), code.slice(0, 60));
    assert(byLine.get(Number(line)) === hottest && Math.abs(parseFloat(path) - hottest * 100) < 0.06, line + ': ' + path);
    await clicks.on('#view-source tbody th button');
    await opened.page.locator('.details h3', { hasText: 'TLOAD' }).waitFor();
    await finish(opened);
});

test('task: what double buffering would save', async () => {
    const kernel = ROOT + '/examples/pto/vector_add.pto';
    strata(kernel, '-o', page('buffers'), '-q');
    const opened = await openPage(page('buffers'));
    await new Clicks(opened.page).on('nav.views a[href="#v=whatif"]');
    const row = opened.page.locator('#view-whatif tbody tr', { hasText: 'more buffers' });
    const [, saves, cycles] = await row.locator('th, td').allInnerTexts();
    const [sim] = json('pto', 'sim', kernel, '--what-if').kernels;
    const what = sim.what_if.find((one: { title: string }) => one.title.startsWith('more buffers'));
    assert.strictEqual(digits(cycles), what.cycles);
    assert(Math.abs(parseFloat(saves) - what.gain * 100) < 0.06, saves);
    await finish(opened);
});

test('task: the stage that is furthest below its roof', async () => {
    const opened = await openPage(page('gpu'));
    const clicks = new Clicks(opened.page);
    await clicks.on('.static:visible a:has(circle)');
    await opened.page.locator('#view-roofline tr.chosen').waitFor();
    const [name, , , roof] = await cells(opened.page, 'roofline');
    const { stages } = json('gpu', 'report', RUN) as { stages: { name: string; duration_us: number; roof_pct: number }[] };
    const away = (stage: { duration_us: number; roof_pct: number }): number => stage.duration_us * (1 - stage.roof_pct / 100);
    const furthest = stages.reduce((best, stage) => (away(stage) > away(best) ? stage : best));
    assert.strictEqual(name, furthest.name);
    assert(Math.abs(parseFloat(roof) - furthest.roof_pct) < 0.06, roof);
    await finish(opened);
});

test('task: the row that is predicted worst', async () => {
    const opened = await openPage(page('errors'));
    const clicks = new Clicks(opened.page);
    await clicks.on('.static:visible .card a');
    await opened.page.locator('#view-errors tr.chosen').waitFor();
    const [kernel, shapes] = await opened.page.locator('#view-errors tr.chosen').locator('th, td').allInnerTexts();
    const { worst } = json('db', 'm6', '--tc-trace', PREDICTED, '--prof-trace', MEASURED) as { worst: { kernel_type: string; shape_key: string }[] };
    assert.deepStrictEqual([kernel, shapes], [worst[0].kernel_type, worst[0].shape_key]);
    await finish(opened);
});

test('--html on a command is the same page', () => {
    strata('pto', 'sim', MATMUL, '--html', OUT + '/html-option.html', '-q');
    assert.strictEqual(readFileSync(OUT + '/html-option.html', 'utf8'), readFileSync(page('pto'), 'utf8'));
});

test('first screens: dark, Chinese, 390 px, on paper', async () => {
    for (const name of ['capture', 'compare', 'ascend', ...PANELS]) {
        const opened = await openPage(page(name), '#theme=dark');
        const view = opened.page;
        const fits = async (width: number, what: string): Promise<void> => {
            assert(await view.locator('h1:visible').isVisible(), `${name}: ${what}`);
            assert((await view.evaluate(() => document.documentElement.scrollWidth)) <= width, `${name}: ${what}`);
        };
        await view.locator('nav.views').waitFor();
        await fits(1280, 'dark');
        assert.deepStrictEqual(await violations(view), [], name);
        await view.locator('#tools [data-do=lang]').click();
        await view.locator('html[lang=zh]').waitFor();
        await fits(1280, 'Chinese');
        await view.setViewportSize({ width: 390, height: 844 });
        await fits(390, '390 px');
        if (!PANELS.includes(name)) assert.deepStrictEqual(await violations(view), [], name);
        await view.emulateMedia({ media: 'print' });
        assert(await view.locator('h1:visible').isVisible() && !(await view.locator('nav.views').isVisible()), name);
        if (PANELS.includes(name)) assert(await view.locator('.static:visible section.report').isVisible(), name);
        await finish(opened);
    }
});

test('anomaly, arch, ops, memory: the capture at the view that answers, with the report below', async () => {
    const MEMORY = ROOT + '/examples/memory';
    for (const [command, path, view] of [['anomaly', MOE, 'timeline'], ['arch', MOE, 'model'], ['ops', MOE, 'kernels'], ['memory', MEMORY, 'memory']]) {
        strata(command, path, '--html', page(command), '-q');
        const opened = await openPage(page(command));
        await opened.page.locator('#view-' + view).waitFor();
        assert.strictEqual(await opened.page.locator('nav.views [aria-current]').getAttribute('href'), '#v=' + view);
        if (command !== 'arch') assert(await opened.page.locator('#app ~ .static:visible section.report').isVisible(), command); // that is a sentence, the verdict
        if (command === 'memory') {
            const [pool] = json('memory', MEMORY).pools as { peak_bytes: number }[];
            const { memory } = (await opened.page.evaluate(() => JSON.parse(document.getElementById('model')?.textContent ?? ''))).sets[0];
            assert.strictEqual(memory[0].peak, pool.peak_bytes);
            assert.strictEqual(Math.max(...memory[0].curves[0].v), pool.peak_bytes);
            await opened.page.locator('.chart.memory .peak').waitFor();
            assert.deepStrictEqual(await violations(opened.page), []);
        }
        await finish(opened);
    }
});
