// The views of the Python module inside a notebook: every page is a frame of its own, without rights of the notebook.
import assert from 'assert';
import { execFileSync } from 'child_process';
import { dirname, resolve } from 'path';
import { test } from './harness';
import { showAll, violations } from './looks';
import { finish, openPage } from './pages';
import { OUT } from './real';

const ROOT = resolve(process.env.ROOT ?? '..');
const SHOWN = resolve(OUT + '/notebook.html');

test('a notebook is run', () => {
    const env = { ...process.env, PYTHONPATH: ROOT + '/python', STRATA_LIBRARY: dirname(resolve(process.env.STRATA ?? '')) + '/libstrata.so.0' };
    const printed = execFileSync('python3', ['tests/python/run_notebook.py', 'tests/python/trace_to_plot.ipynb', SHOWN], { cwd: ROOT, env, encoding: 'utf8' });
    assert(/9 lines, 2 views/.test(printed), printed);
});

test('a notebook shows the views without messages and requests; axe finds nothing serious in them', async () => {
    const opened = await openPage(SHOWN);
    const frames = opened.page.frames().slice(1);
    assert.strictEqual(frames.length, 2);
    for (const frame of frames) {
        await frame.locator('nav.views').waitFor();
        assert((await frame.locator('h1:visible').innerText()).length > 10);
        for (const link of await frame.locator('nav.views a').all()) await link.click();
        await frame.locator('nav.views a[href="#v=timeline"]').click();
        await frame.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
        await showAll(frame);
        assert.deepStrictEqual(await violations(frame), []);
    }
    await finish(opened);
});
