// By keys alone, by a screen reader, and by fingers.
import assert from 'assert';
import { Page } from 'playwright-core';
import { test } from './harness';
import { inkOf, finish, openPage, OUT, settled } from './pages';
import { page, sql, OPTIMIZER, originOf } from './real';

interface Node {
    role: { value: string };
    name?: { value: string };
    ignored: boolean;
}

async function accessTree(view: Page): Promise<Node[]> {
    const session = await view.context().newCDPSession(view);
    const { nodes } = (await session.send('Accessibility.getFullAXTree')) as unknown as { nodes: Node[] };
    return nodes.filter((node) => !node.ignored);
}

// What has the focus, as the nearest part of the page.
const focused = (view: Page): Promise<string> => view.evaluate(() => {
    const at = document.activeElement;
    const parts: [string, string][] = [['.skip', 'skip'], ['#tools', 'tools'], ['.card', 'cards'], ['#steps-en', 'steps'], ['nav.views', 'views'], ['.toolbar', 'toolbar'], ['.stage', 'stage'], ['.details', 'details']];
    return parts.find(([selector]) => at?.closest(selector))?.[1] ?? at?.tagName.toLowerCase() ?? '';
});

test('keys alone: from the title to the cause of the worst gap; the focus goes from top to bottom', async () => {
    const opened = await openPage(page('capture'));
    const view = opened.page;
    await view.locator('nav.views').waitFor();
    const order: string[] = [];
    for (let i = 0; i < 60 && order[order.length - 1] !== 'stage'; i++) {
        await view.keyboard.press('Tab');
        const part = await focused(view);
        if (part !== order[order.length - 1]) order.push(part);
    }
    assert.deepStrictEqual(order.filter((part) => part !== 'a'), ['skip', 'tools', 'cards', 'steps', 'views', 'toolbar', 'stage']);
    await view.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
    await view.keyboard.press('g');
    const [longest] = sql(OPTIMIZER, `SELECT min(ts) - ${originOf('capture')}, max(end_ts) - ${originOf('capture')}, max(end_ts) - min(ts) AS ns FROM gaps GROUP BY gap ORDER BY ns DESC LIMIT 1`);
    await view.waitForURL(new RegExp(`gap=${longest[0]}-${longest[1]}`));
    const title = await view.locator('.gap-title').innerText();
    const said = view.locator('.timeline [aria-live]');
    await said.filter({ hasText: 'idle' }).waitFor({ state: 'attached' });
    const spoken = (await said.textContent()) ?? '';
    assert(spoken.includes('idle'), 'the cause is said');
    for (const word of title.match(/[\d.]+\u202f.s/g) ?? ['no time']) assert(spoken.includes(word), `${spoken} says ${word}`);
    await view.keyboard.press('Escape');
    await view.keyboard.press('Escape');
    assert.notStrictEqual(await focused(view), 'stage', 'a way out of the timeline');
    await finish(opened);
});

test('a screen reader finds landmarks, and a name on every control and picture', async () => {
    for (const name of ['capture', 'compare', 'ranks']) {
        const opened = await openPage(page(name), '#v=timeline');
        const nodes = await accessTree(opened.page);
        const roles = nodes.map((node) => node.role.value);
        for (const role of ['banner', 'main', 'navigation', 'application', 'heading']) assert(roles.includes(role), `${name}: ${role}`);
        const nameless = nodes.filter((node) => ['button', 'link', 'application', 'navigation', 'searchbox', 'combobox', 'checkbox', 'img', 'region', 'dialog'].includes(node.role.value) && !node.name?.value.trim());
        assert.deepStrictEqual(nameless.map((node) => node.role.value), [], name);
        await finish(opened);
    }
});

test('pinch zooms around the fingers; one finger pans', async () => {
    const opened = await openPage(OUT + '/one.html', '#v=timeline&t=4000000-12000000', { hasTouch: true, viewport: { width: 1000, height: 700 } });
    const view = opened.page;
    const box = await view.locator('.stage').boundingBox();
    assert(box);
    const session = await view.context().newCDPSession(view);
    const touch = (type: string, ...xs: number[]): Promise<unknown> =>
        session.send('Input.dispatchTouchEvent', { type: type as 'touchStart', touchPoints: xs.map((x, id) => ({ x: box.x + x, y: box.y + 120, id })) });
    const window = async (): Promise<[number, number]> => {
        await settled(view);
        const m = /t=(\d+)-(\d+)/.exec(await view.evaluate(() => location.hash));
        return [Number(m?.[1]), Number(m?.[2])];
    };
    await touch('touchStart', 500, 600);
    for (let d = 20; d <= 100; d += 20) await touch('touchMove', 500 - d, 600 + d);
    await touch('touchEnd');
    const [from, to] = await window();
    assert(to - from < 8_000_000 * 0.5, `${to - from} ns in view after the pinch`);
    const middle = 4_000_000 + ((550 - 216) / (1000 - 48 - 216)) * 8_000_000;
    assert(from < middle && middle < to, 'what was between the fingers is still there');
    await touch('touchStart', 700);
    for (let d = 40; d <= 200; d += 40) await touch('touchMove', 700 - d);
    await touch('touchEnd');
    const [later, end] = await window();
    assert(later > from && Math.abs(end - later - (to - from)) < 10, 'panned, not zoomed');
    await finish(opened);
});

test('pinned lanes stay on top and return to their place', async () => {
    const opened = await openPage(OUT + '/one.html', '#v=timeline&t=0-4000000', { viewport: { width: 1280, height: 600 } });
    const view = opened.page;
    await settled(view);
    const AXIS = 38;
    const before = await inkOf(view, AXIS + 26 + 22 + 8); // stream 7: below the group and the idle row
    await view.locator('.stage').focus();
    for (let i = 0; i < 2; i++) await view.keyboard.press('ArrowDown');
    await view.keyboard.press('p');
    await view.waitForURL(/pin=0\.0/);
    await settled(view);
    assert.deepStrictEqual(await inkOf(view, AXIS + 8), before);
    const box = await view.locator('.stage').boundingBox();
    assert(box);
    await view.mouse.click(box.x + 216 + before[Math.floor(before.length / 2)], box.y + AXIS + 8);
    await view.locator('.details h3').waitFor();
    await view.locator('.stage').focus();
    await view.keyboard.press('p');
    await view.waitForURL((url) => !url.hash.includes('pin='));
    await settled(view);
    assert.deepStrictEqual(await inkOf(view, AXIS + 26 + 22 + 8), before);
    await finish(opened);
});
