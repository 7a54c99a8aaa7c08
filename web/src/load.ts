// Reads the model and the packed data from the page; unpacks in a worker, else here.
import { Emit, unpack, UnpackJob, unpackJob } from './job';
import { Model } from './model';
import { matchPatterns } from './query';
import { FAMILIES } from './rows';
import { Store } from './store';
import { bytesOf, inflate } from './unpack';

const REGEX_LIMIT = 500; // ms
const BUCKETS = 512; // of a lane in the overview

interface RegexJob {
    job: 'regex';
    patterns: string[];
    names: string[];
}

function startWorker(): Worker | null {
    try {
        const code = document.getElementById('code')?.textContent ?? '';
        const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
        const worker = new Worker(url);
        URL.revokeObjectURL(url);
        return worker;
    } catch {
        return null;
    }
}

export function readModel(): Model {
    return JSON.parse(document.getElementById('model')?.textContent ?? '{}') as Model;
}

// A picture of the whole before the data is there.
export async function loadOverview(store: Store): Promise<void> {
    const element = document.getElementById('overview');
    const size = store.model.sets.reduce((n, set) => n + set.overview.length, 0) * FAMILIES * BUCKETS;
    if (!element || size === 0) return;
    try {
        store.takeOverview(await inflate(bytesOf(element.textContent ?? ''), size));
    } catch {
        // The picture comes with the data.
    }
    element.remove();
}

// The script stands before the data: call it when the document is complete.
export function loadData(model: Model, store: Store): void {
    const elements: string[] = [];
    for (let k = 0; ; k++) {
        const element = document.getElementById('d' + k);
        if (!element) break;
        elements.push(element.textContent ?? '');
        element.remove();
    }
    const job = unpackJob(model, elements);
    const worker = startWorker();
    if (!worker) {
        void unpack(job, (part) => store.take(part));
        return;
    }
    worker.onmessage = (event) => {
        store.take(event.data);
        if (event.data.part === 'done') worker.terminate();
    };
    worker.postMessage(job);
}

// Matches the reader's expressions in a worker of their own, which is stopped after half a second.
export function matchInWorker(patterns: string[], names: string[]): Promise<Uint8Array | string> {
    const worker = startWorker();
    if (!worker) return Promise.resolve(matchPatterns(patterns, names));
    return new Promise((resolve) => {
        const finish = (result: Uint8Array | string): void => {
            clearTimeout(timer);
            worker.terminate();
            resolve(result);
        };
        const timer = setTimeout(() => finish('timeout'), REGEX_LIMIT);
        worker.onmessage = (event) => finish(event.data);
        worker.postMessage({ job: 'regex', patterns, names });
    });
}

// The other end, inside the worker.
export function serve(scope: { onmessage: unknown; postMessage: (message: unknown, transfer?: ArrayBuffer[]) => void }): void {
    const emit: Emit = (part, transfer) => scope.postMessage(part, transfer);
    scope.onmessage = (event: MessageEvent<UnpackJob | RegexJob>) => {
        const job = event.data;
        if (job.job === 'unpack') void unpack(job, emit);
        else scope.postMessage(matchPatterns(job.patterns, job.names));
    };
}
