// Hostile names through pages that strata writes: kernels, lanes, files, arguments; and what --redact leaves of them.
import assert from 'assert';
import { mkdirSync, readFileSync, writeFileSync } from 'fs';
import { inflateRawSync } from 'zlib';
import { test } from './harness';
import { finish, openPage } from './pages';
import { OUT, strata } from './real';

const ESCAPE = '</script><script>alert(1)</script>';
const IMAGE = '<img src=x onerror=alert(1)>';
const LONG = 'L'.repeat(1_000_000);
const RAW = 'bad\ufffd\ufffdbytes'; // two bytes that are no UTF-8, in the file
const KERNELS = [ESCAPE, IMAGE, '"quoted" \'name\' `tick`', '{{x}} ${x} %s', 'a\u202eb\u2066c', '__proto__', 'constructor', 'main', '-->]]>', 'tab\tline\nend', LONG, RAW, 'lone \\ud800 half', 'nul\\u0000nul', '=cmd()'];
const FOLDER = OUT + `/hostile'"><img src=x onerror=alert(1)>`;
const CAPTURE = FOLDER + '/<script>alert(1)<script>.json';

// A Kineto trace: a launch and a kernel of every name, in lanes and with arguments that are hostile too.
function hostileTrace(): Buffer {
    const events: object[] = [
        { ph: 'M', name: 'process_name', pid: 1, tid: 0, args: { name: IMAGE } }, { ph: 'M', name: 'thread_name', pid: 1, tid: 7, args: { name: ESCAPE } },
        { ph: 'M', name: 'process_labels', pid: 0, tid: 0, args: { labels: 'GPU 0' } }, { ph: 'M', name: 'thread_name', pid: 0, tid: 7, args: { name: 'stream "7" ' + IMAGE } },
    ];
    for (let step = 0; step < 3; step++) {
        const at = 1000 + step * 40_000;
        events.push({ ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${step}`, pid: 1, tid: 7, ts: at, dur: 39_000 });
        KERNELS.forEach((name, i) => {
            const correlation = 1 + step * KERNELS.length + i;
            const ts = at + i * 1000;
            const args = { correlation, 'External id': correlation, 'Input Dims': [[2, ESCAPE], IMAGE], 'Input type': [ESCAPE], device: 0, stream: 7, grid: [1e300, -1, 0], [ESCAPE]: IMAGE, __proto__: 1 };
            events.push({ ph: 'X', cat: 'cpu_op', name: 'aten::' + name.slice(0, 50), pid: 1, tid: 7, ts, dur: 400, args });
            events.push({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 7, ts: ts + 10, dur: 20, args: { correlation } });
            events.push({ ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts: ts + 500, dur: i === 3 ? 0 : 300 + i, args });
        });
    }
    events.push({ ph: 'X', cat: 'kernel', name: 'huge', pid: 0, tid: 9, ts: 9007199254740991, dur: 1e18, args: { correlation: 1e18 } });
    events.push({ ph: 'X', cat: 'kernel', name: 'negative', pid: 0, tid: 9, ts: -5, dur: -7 });
    const text = JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: IMAGE }], traceEvents: events });
    const parts = text.replace(/lone \\\\ud800 half/g, 'lone \\ud800 half').replace(/nul\\\\u0000nul/g, 'nul\\u0000nul').split(RAW);
    const raw = Buffer.from([0x62, 0x61, 0x64, 0xff, 0xfe, 0x62, 0x79, 0x74, 0x65, 0x73]);
    return Buffer.concat(parts.flatMap((part, i) => (i > 0 ? [raw, Buffer.from(part)] : [Buffer.from(part)])));
}

interface Packed {
    sets: { dictionary: { at: [number, number, number] }; kernels: { what: number; name: string }[] }[];
}

function modelOf(html: string): Packed {
    return JSON.parse(/id="model">(.*?)<\/script>/s.exec(html)?.[1] ?? '{}') as Packed;
}

// All names of the first set: the dictionary as the file has it.
function dictionaryOf(html: string): { texts: string[]; name: number[] } {
    const [element, offset, length] = modelOf(html).sets[0].dictionary.at;
    const base64 = new RegExp(`id="d${element}">([^<]*)<`).exec(html)?.[1] ?? '';
    return JSON.parse(inflateRawSync(Buffer.from(base64, 'base64').subarray(offset, offset + length)).toString('utf8')) as { texts: string[]; name: number[] };
}

test('hostile names through strata: text everywhere, long ones cut, nothing runs', async () => {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(CAPTURE, hostileTrace());
    const file = OUT + '/hostile-real.html';
    strata(CAPTURE, '-o', file);
    const html = readFileSync(file, 'utf8');
    assert(html.length < 2_000_000, 'the long name is cut');
    assert.strictEqual(html.match(/<script\b/g)?.length, html.match(/<script (?:type="(?:application\/json|text\/plain)" )?id="(?:model|code|overview|d\d+)">/g)?.length);
    assert(!/<img/i.test(html.replace(/<script id="code">.*?<\/script>/s, '')));
    const opened = await openPage(file, '#v=kernels');
    const { page } = opened;
    let dialogs = 0;
    page.on('dialog', () => dialogs++);
    assert((await page.locator('#top').innerText()).includes('<script>alert(1)<script>.json'));
    const names = await page.locator('#view-kernels tbody bdi').evaluateAll((list) => list.map((bdi) => bdi.getAttribute('title') ?? bdi.textContent ?? ''));
    for (const name of [ESCAPE, IMAGE, '"quoted" \'name\' `tick`', '{{x}} ${x} %s', '__proto__', 'constructor', 'main', '-->]]>', '=cmd()']) assert(names.includes(name), name);
    assert(names.some((name) => name.startsWith('LLLL') && name.endsWith('… (1.0 MB)') && name.length < 4100), 'a name of 1 MB is cut');
    assert(names.some((name) => name.startsWith('bad') && name.includes('\ufffd')), 'bytes that are no UTF-8');
    assert(names.every((name) => !/[\u202a-\u202e\u2066-\u2069\0\t\n]/.test(name)), 'marks of direction and control characters are symbols');
    for (const link of await page.locator('nav.views a').all()) await link.click();
    await page.locator('nav.views a[href="#v=timeline"]').click();
    await page.locator('.timeline[data-done=true]').waitFor({ state: 'attached' });
    await page.locator('.stage').focus();
    for (const key of ['ArrowDown', 'ArrowDown', '.', '.', '.', 'g', 't']) await page.keyboard.press(key);
    await page.locator('.visible-table').waitFor();
    assert((await page.locator('.visible-table').innerText()).includes(ESCAPE));
    assert.deepStrictEqual([dialogs, await page.locator('img').count(), await page.locator('iframe').count()], [0, 0, 0]);
    await finish(opened);
});

test('--redact: stable aliases, and no name or path is left', async () => {
    const file = OUT + '/redacted.html';
    strata(CAPTURE, '--redact', '-o', file);
    const html = readFileSync(file, 'utf8');
    const { texts, name } = dictionaryOf(html);
    const visible = html.replace(/<script id="code">.*?<\/script>/s, '') + texts.join('\n');
    for (const secret of ['alert(1)', 'quoted', 'LLLL', 'cudaLaunchKernel', 'aten::', 'ProfilerStep', 'onerror', 'hostile', '.json"']) assert(!visible.includes(secret), secret);
    const [set] = modelOf(html).sets;
    for (const kernel of set.kernels) assert.strictEqual(texts[name[kernel.what]], kernel.name, 'one name, one alias');
    assert.strictEqual(new Set(set.kernels.map((kernel) => kernel.name)).size, set.kernels.length);
    const opened = await openPage(file, '#v=data');
    assert((await opened.page.locator('#view-data').innerText()).includes('alias'));
    await finish(opened);
});
