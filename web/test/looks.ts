// What every page must keep: no messages, no requests, contrast and labels, both languages, dark, phone, print.
import assert from 'assert';
import { readFileSync } from 'fs';
import { Frame, Page } from 'playwright-core';
import { test } from './harness';
import { finish, openPage, VIEWS } from './pages';

const OUT = process.env.OUT ?? '/tmp';
const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

interface Violation {
    id: string;
    impact: string;
    nodes: { html: string }[];
}

export async function violations(page: Page | Frame): Promise<string[]> {
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
    const found = (await page.evaluate('axe.run({ resultTypes: ["violations"] }).then((result) => result.violations)')) as Violation[];
    return found.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`);
}

// All views at once.
export async function checkViews(file: string, views: string[], hash = ''): Promise<void> {
    const opened = await openPage(file, '#' + hash);
    for (const view of views) await opened.page.locator(`nav.views a[href="#v=${view}"]`).click();
    await showAll(opened.page);
    assert.deepStrictEqual(await violations(opened.page), [], hash);
    await finish(opened);
}

export const showAll = (page: Page | Frame): Promise<void> =>
    page.evaluate(() => document.querySelectorAll<HTMLElement>('section.view').forEach((view) => (view.hidden = false)));

for (const hash of ['', 'theme=dark&lang=zh']) {
    test(`axe finds nothing serious in any view (${hash || 'light, English'})`, async () => {
        await checkViews(OUT + '/one.html', VIEWS, hash);
        await checkViews(OUT + '/two.html', ['diff', 'timeline'], hash);
    });
}

test('the policy in the file allows nothing from outside', () => {
    for (const name of ['one', 'two', 'hostile']) {
        const policy = /Content-Security-Policy" content="([^"]*)"/.exec(readFileSync(`${OUT}/${name}.html`, 'utf8'))?.[1] ?? '';
        assert(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; worker-src blob:; img-src blob: data:; base-uri 'none'; form-action 'none'$/.test(policy), policy);
    }
});

test('Chinese: every text of the views is translated', async () => {
    const opened = await openPage(OUT + '/one.html', '#v=timeline&lang=zh');
    assert.strictEqual(await opened.page.evaluate(() => document.documentElement.lang), 'zh');
    assert((await opened.page.locator('nav.views').innerText()).includes('时间线'));
    await opened.page.locator('#tools [data-do=lang]').click();
    assert((await opened.page.locator('nav.views').innerText()).includes('Timeline'));
    await opened.page.locator('#tools [data-do=theme]').click();
    assert.strictEqual(await opened.page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await finish(opened);
});

test('390 px: nothing is wider than the screen; the timeline comes on request', async () => {
    const opened = await openPage(OUT + '/one.html', '', { viewport: { width: 390, height: 844 } });
    const { page } = opened;
    for (const view of VIEWS) {
        await page.locator(`nav.views a[href="#v=${view}"]`).click();
        assert((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, view);
    }
    await page.locator('nav.views a[href="#v=timeline"]').click();
    await page.getByRole('button', { name: 'Show timeline' }).click();
    await page.locator('.stage').waitFor();
    assert((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    await finish(opened);
});

test('print: light, verdict visible, controls hidden', async () => {
    const opened = await openPage(OUT + '/one.html', '#v=kernels&theme=dark');
    const { page } = opened;
    await page.emulateMedia({ media: 'print' });
    assert(await page.locator('h1').first().isVisible());
    assert(!(await page.locator('nav.views').isVisible()));
    assert(!(await page.locator('#view-kernels .toolbar').first().isVisible()));
    assert.strictEqual(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()), '#ffffff');
    await finish(opened);
});
