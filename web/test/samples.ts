// Sample sets: a seeded training run, its faster twin, and one with hostile names.
import { Item, SetSpec } from './fixture';

// Small generator, so that every run makes the same pages.
export function random(seed: number): () => number {
    let state = seed >>> 0;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
    };
}

const STEP = 4_000_000;
const names = ['gemm_bf16_128x256_tn', 'flash_fwd_kernel', 'vectorized_elementwise_kernel<add>', 'cat_copy_kernel', 'ncclDevKernel_AllReduce_Sum', 'Memcpy HtoD', 'aicpu_TopK'];

export function trainingRun(seed: number, steps: number, isFaster = false): SetSpec {
    const next = random(seed);
    const device: Item[] = [];
    const comm: Item[] = [];
    const host: Item[] = [];
    const gaps: SetSpec['gaps'] = [];
    for (let s = 0; s < steps; s++) {
        let t = s * STEP + 20_000;
        for (let k = 0; k < 120; k++) {
            const what = Math.floor(next() * 4);
            const dur = Math.round((what === 1 && isFaster ? 6_000 : 12_000) * (0.5 + next()));
            host.push({ start: t - 9_000, dur: 7_000, what: 7, step: s });
            host.push({ start: t - 6_000, dur: 3_000, what: 8, step: s });
            device.push({ start: t, dur, what, step: s, wait: k % 5 === 0 ? 1_200 : 0 });
            const idle = k === 60 ? 900_000 - s * 1000 : Math.round(9_500 + 6_000 * next());
            gaps.push({ start: t + dur, dur: idle, cause: k === 60 ? 2 : 6, step: s, number: gaps.length, state: 1, links: [] });
            t += dur + idle;
        }
        comm.push({ start: t - 300_000, dur: 250_000, what: 4, step: s });
    }
    const lanes = [
        { name: 'stream 7', group: 0, kind: 'stream', open: true, items: device },
        { name: 'stream 20', group: 0, kind: 'comm', open: true, items: comm },
        { name: 'thread 513 (python3)', group: 1, kind: 'thread', open: true, items: host },
    ];
    const firstHost = device.length + comm.length;
    const arrows = device.map((_, i) => ({ to: i, from: firstHost + 2 * i + 1, kind: 0 }));
    gaps.forEach((gap, i) => (gap.links = [i + 1 < device.length ? i + 1 : -1, i + 1 < device.length ? firstHost + 2 * i + 3 : -1, firstHost + 2 * i, firstHost + 2 * i + 1, i]));
    return {
        name: isFaster ? 'B' : 'A',
        groups: [{ name: 'GPU 0', kind: 'device', open: true }, { name: 'Host', kind: 'host', open: true }],
        lanes,
        whats: [
            ...names.map((name, family) => ({ name, family, kind: family === 4 ? 1 : family === 5 ? 4 : 0, shapes: family === 0 ? '8,1024;1024,4096' : undefined })),
            { name: 'aten::linear', family: 7, kind: 7 }, { name: 'cudaLaunchKernel', family: 7, kind: 10 },
        ],
        steps: Array.from({ length: steps }, (_, s) => ({ id: String(s), from: s * STEP, to: (s + 1) * STEP, by: [] })),
        classes: [], gaps, arrows,
        rest: {
            layers: {
                summary: { en: '24 dense layers', zh: '24 层' },
                passes: Array.from({ length: 2 }, (_, p) => ({
                    name: p, partial: false, from: p * STEP, to: (p + 1) * STEP - 1000, busy: STEP / 2,
                    layers: Array.from({ length: 24 }, (_, l) => ({ index: l, type: l % 8 === 7 ? 1 : 0, phase: 'forward', from: p * STEP + l * 150_000, to: p * STEP + l * 150_000 + 120_000 + ((l * 7919) % 28_000), busy: 90_000, outlier: l === 11 })),
                })),
                types: [0, 1].map((k) => ({ name: k ? 'moe' : 'dense', phase: 'forward', layers: '0-23', count: 24, median: 130_000, p90: 140_000,
                    roles: [{ name: 'attention', wall: 60_000, share: 0.5, kernels: 4, ops: [{ name: 'flash_fwd_kernel', count: 1, total: 40_000 }, { name: 'rope', count: 1, total: 9_000 }] }, { name: 'mlp', wall: 55_000, share: 0.45, kernels: 3, ops: [{ name: 'gemm', count: 2, total: 50_000 }] }] })),
            },
            counters: [
                { name: 'allocated', role: 'allocated', process: '', unit: 'B', n: 200, t: Array.from({ length: 200 }, (_, i) => i * (steps * STEP) / 200), v: Array.from({ length: 200 }, (_, i) => 2e9 + 1.5e9 * Math.abs(Math.sin(i / 9))) },
                { name: 'reserved', role: 'reserved', process: '', unit: 'B', n: 200, t: Array.from({ length: 200 }, (_, i) => i * (steps * STEP) / 200), v: Array.from({ length: 200 }, (_, i) => 3e9 + (i > 60 ? 1e9 : 0)) },
            ],
            comm: {
                ops: [{ name: 'AllReduce', group: 'world', count: steps, bytes: 3e8, total: 250_000 * steps, transit: 2e5 * steps, wait: 5e4 * steps, bandwidth: 1.5e11 }],
                links: [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].filter((b) => b !== a).map((b) => ({ from: a, to: b, type: 'NVLink', bytes: 1e8, time: 1e6, bandwidth: 1e11 * (1 + ((a * 3 + b) % 5)) }))),
            },
        },
    };
}

export const hostileNames = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '{{x}}', '"quoted" \'name\'', 'a\u202Eb', '__proto__', 'main', 'x'.repeat(4000) + '… (1.0 MB)'];

export function hostileRun(): SetSpec {
    const run = trainingRun(3, 2);
    run.whats = hostileNames.map((name, i) => ({ name, family: i % 8, kind: 0 }));
    run.lanes.forEach((lane) => lane.items.forEach((item, i) => (item.what = i % hostileNames.length)));
    run.lanes[0].name = hostileNames[0];
    run.groups[1].name = hostileNames[1];
    return run;
}

// The comparison object of two runs of equal steps.
export function diffOf(a: SetSpec, b: SetSpec): object {
    const sum = (set: SetSpec, what: number): number => Math.round(set.lanes[0].items.filter((item) => item.what === what).reduce((s, item) => s + item.dur, 0) / set.steps.length);
    const kernels = [0, 1, 2, 3].map((w) => ({ name: a.whats[w].name, a: sum(a, w), b: sum(b, w), delta: sum(b, w) - sum(a, w), calls: [30, 30], p: 0.001, noise: w !== 1, what: [w, w] }));
    const delta = kernels.reduce((s, k) => s + k.delta, 0);
    return {
        time: [STEP, STEP + delta], delta, relative: delta / STEP, noise: false, p: 0.001,
        classes: kernels.map((k, f) => ({ id: ['compute.gemm', 'compute.attention', 'compute.elementwise', 'compute.layout'][f], family: f, a: k.a, b: k.b, delta: k.delta, noise: k.noise })),
        kernels, lanes: a.lanes.map((_, i) => [i, i]), steps: a.steps.map((_, i) => [i, i]),
    };
}
