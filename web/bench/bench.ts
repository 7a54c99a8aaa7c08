// 1 million slices: time to the first paint, to all slices, and p50/p95/p99 of frames over a scripted zoom.
// A bench, not a test: run it on an idle machine; the median of five runs counts.
import { statSync } from 'fs';
import { writePage } from '../test/fixture';
import { launch } from '../test/browser';
import { random, trainingRun } from '../test/samples';

const RUNS = 5;
const LANES = 18;

interface Result {
    paint: number;
    ready: number;
    frames: number[];
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
    await page.goto('file://' + file + '#v=timeline', { waitUntil: 'commit' });
    await page.locator('.timeline[data-done=true]').waitFor({ state: 'attached', timeout: 60_000 });
    const ready = await page.evaluate(() => performance.now());
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1);
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
    await browser.close();
    return { paint, ready, frames: frames.sort((a, b) => a - b) };
}

async function main(): Promise<void> {
    const [bundle, style, folder] = process.argv.slice(2);
    const file = folder + '/bench.html';
    const set = largeRun(1_000_000);
    writePage(file, [set], {}, bundle, style);
    const slices = set.lanes.reduce((n, lane) => n + lane.items.length, 0);
    console.log(`${slices} slices, ${(statSync(file).size / 1e6).toFixed(2)} MB`);
    const results: Result[] = [];
    for (let i = 0; i < RUNS; i++) results.push(await once(file));
    const median = (get: (result: Result) => number): string => quantile(results.map(get).sort((a, b) => a - b), 0.5).toFixed(1);
    console.log(`first paint ${median((r) => r.paint)} ms, all slices ${median((r) => r.ready)} ms`);
    console.log(`frame p50 ${median((r) => quantile(r.frames, 0.5))} ms, p95 ${median((r) => quantile(r.frames, 0.95))} ms, p99 ${median((r) => quantile(r.frames, 0.99))} ms`);
}

void main();
