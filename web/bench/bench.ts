// 1 million slices: time to the first paint, to the overview, to all slices, and p50/p95/p99 of frames over a scripted
// zoom, also as CPU time of the page's thread, which a busy machine disturbs less.
// A bench, not a test: run it on an idle machine; the median of five runs counts.
import { execFileSync } from 'child_process';
import { readFileSync, rmSync, statSync } from 'fs';
import { Page } from 'playwright-core';
import { writePage } from '../test/fixture';
import { launch } from '../test/browser';
import { random, trainingRun } from '../test/samples';

const RUNS = 5;
const LANES = 18;
const MEGABYTES = 137; // of a Chrome trace: a million slices
const MANY_MEGABYTES = 1400; // ten million

interface Result {
    paint: number;
    overview: number;
    ready: number;
    frames: number[];
    cpu: number[];
}

// One frame of the scripted zoom at a time, with the CPU time it took on the page's thread.
async function cpuOf(page: Page): Promise<number[]> {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const spent = async (): Promise<number> => (await session.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration')?.value ?? 0;
    const frames: number[] = [];
    let before = await spent();
    for (let i = 0; i < 200; i++) {
        await page.evaluate(({ at, all }) => new Promise((done) => {
            const stage = document.querySelector('.stage') as HTMLElement;
            const box = stage.getBoundingClientRect();
            const deltaY = Math.sin((at / all) * 4 * Math.PI) > 0 ? -42 : 42;
            const clientX = box.left + box.width * (0.5 + 0.3 * Math.sin(at / 12));
            stage.dispatchEvent(new WheelEvent('wheel', { ctrlKey: true, deltaY, clientX, clientY: box.top + 100, cancelable: true, bubbles: true }));
            requestAnimationFrame(done);
        }), { at: i, all: 200 });
        const now = await spent();
        frames.push((now - before) * 1000);
        before = now;
    }
    return frames.sort((a, b) => a - b);
}

// Lanes of one run, drawn apart by a seeded jitter, until there are `slices`.
function largeRun(slices: number): ReturnType<typeof trainingRun> {
    const steps = Math.ceil(slices / LANES / 120);
    const set = trainingRun(1, steps);
    const next = random(2);
    const base = set.lanes[0].items;
    set.lanes = Array.from({ length: LANES }, (_, l) => ({
        name: `stream ${l}`, group: 0, kind: 'stream', open: true,
        items: base.map((item) => ({ ...item, start: item.start + Math.floor(next() * 400), dur: Math.max(1, item.dur - Math.floor(next() * 900)) })),
    }));
    set.arrows = [];
    set.gaps.forEach((gap) => (gap.links = []));
    return set;
}

const quantile = (sorted: number[], q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];

async function once(file: string): Promise<Result> {
    const browser = await launch(['--disable-frame-rate-limit', '--disable-gpu-vsync']);
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.addInitScript(() => new MutationObserver((_, observer) => {
        if (!document.querySelector('.timeline[data-overview]')) return;
        performance.mark('overview');
        observer.disconnect();
    }).observe(document, { subtree: true, childList: true, attributes: true }));
    await page.goto('file://' + file + '#v=timeline', { waitUntil: 'commit' });
    await page.locator('.timeline[data-done=true]').waitFor({ state: 'attached', timeout: 60_000 });
    const ready = await page.evaluate(() => performance.now());
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1);
    const overview = await page.evaluate(() => performance.getEntriesByName('overview')[0]?.startTime ?? -1);
    await page.waitForTimeout(500);
    const frames = await page.evaluate(async () => {
        const stage = document.querySelector('.stage') as HTMLElement;
        const box = stage.getBoundingClientRect();
        const times: number[] = [];
        let last = 0;
        for (let i = 0; i < 600; i++) {
            const zoom = Math.sin((i / 600) * 4 * Math.PI);
            const x = box.left + box.width * (0.5 + 0.3 * Math.sin(i / 37));
            stage.dispatchEvent(new WheelEvent('wheel', { ctrlKey: true, deltaY: zoom > 0 ? -14 : 14, clientX: x, clientY: box.top + 100, cancelable: true, bubbles: true }));
            const now = await new Promise<number>((frame) => requestAnimationFrame(frame));
            if (last > 0) times.push(now - last);
            last = now;
        }
        return times;
    });
    const cpu = await cpuOf(page);
    await browser.close();
    return { paint, overview, ready, frames: frames.sort((a, b) => a - b), cpu };
}

async function measure(what: string, file: string): Promise<void> {
    console.log(`${what}: ${(statSync(file).size / 1e6).toFixed(2)} MB`);
    const results: Result[] = [];
    for (let i = 0; i < RUNS; i++) results.push(await once(file));
    const median = (get: (result: Result) => number): string => quantile(results.map(get).sort((a, b) => a - b), 0.5).toFixed(1);
    console.log(`  first paint ${median((r) => r.paint)} ms, overview ${median((r) => r.overview)} ms, all slices ${median((r) => r.ready)} ms`);
    for (const [name, get] of [['frame', (r) => r.frames], ['its CPU time', (r) => r.cpu]] as [string, (r: Result) => number[]][]) {
        console.log(`  ${name}: p50 ${median((r) => quantile(get(r), 0.5))} ms, p95 ${median((r) => quantile(get(r), 0.95))} ms, p99 ${median((r) => quantile(get(r), 0.99))} ms`);
    }
}

// A page that strata writes from a synthetic training run.
function written(strata: string, folder: string, megabytes: number): { file: string; seconds: number } {
    const capture = folder + '/bench-capture';
    const file = folder + '/bench-written.html';
    execFileSync(strata, ['synth', '-o', capture, '--formats', 'chrome', '--mode', 'train', '--model', 'llama-8b', '--target-mb', String(megabytes), '--force', '-q']);
    const began = Date.now();
    execFileSync(strata, [capture, '-o', file]);
    const seconds = (Date.now() - began) / 1000;
    rmSync(capture, { recursive: true });
    return { file, seconds };
}

function slicesOf(file: string): string | undefined {
    return /"slices":(\d+),"items"/.exec(readFileSync(file, 'utf8'))?.[1];
}

async function main(): Promise<void> {
    const [bundle, style, folder, strata] = process.argv.slice(2);
    const file = folder + '/bench.html';
    const set = largeRun(1_000_000);
    writePage(file, [set], {}, bundle, style);
    await measure(`${set.lanes.reduce((n, lane) => n + lane.items.length, 0)} slices in ${LANES} open lanes`, file);
    const page = written(strata, folder, MEGABYTES);
    await measure(`${slicesOf(page.file)} slices, written by strata in ${page.seconds.toFixed(2)} s`, page.file);
    const seconds: number[] = [];
    for (let i = 0; i < RUNS; i++) seconds.push(written(strata, folder, MANY_MEGABYTES).seconds);
    console.log(`${slicesOf(page.file)} slices: page made in ${quantile(seconds.sort((a, b) => a - b), 0.5).toFixed(2)} s`);
}

void main();
