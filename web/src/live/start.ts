// The page of `strata view`: progress of the import, a first picture, then the whole page; all from the server.
import { loadData, loadOverview, readModel } from '../load';
import { startPage } from '../page';
import { t } from '../text';
import { Progress, Server } from './server';

const POLL = 150; // ms

const say = (text: string): void => {
    const line = document.getElementById('live');
    if (!line) return;
    line.textContent = text;
    line.hidden = text === '';
};

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

function told(p: Progress): string {
    if (p.phase === 'failed') return t('live.failed', { error: p.error });
    if (p.phase === 'rows') return t('live.analysing');
    return t('live.reading', { label: p.label, percent: p.total > 0 ? Math.floor((100 * p.done) / p.total) + ' %' : '' });
}

// Puts a page that the server wrote into this document. Its scripts are data: the policy lets none of them run.
function show(html: string, server: Server): void {
    const from = new DOMParser().parseFromString(html, 'text/html');
    for (const old of document.querySelectorAll('#model, #overview, .facts.static')) old.remove();
    document.title = from.title;
    const name = document.querySelector('#top .name');
    if (name) name.textContent = from.querySelector('#top .name')?.textContent ?? '';
    document.getElementById('tools')?.before(...from.querySelectorAll('#top .facts'));
    const { kind } = from.documentElement.dataset;
    if (kind) document.documentElement.dataset.kind = kind;
    document.getElementById('content')?.replaceChildren(...(from.getElementById('main')?.childNodes ?? []));
    for (const data of from.querySelectorAll('script[type]')) document.body.append(data);
    const model = readModel();
    const store = startPage(model, server);
    void loadOverview(store).then(() => loadData(model, store));
}

export async function startLive(): Promise<void> {
    const server = new Server();
    let shown: Progress['phase'] = 'reading';
    for (;;) {
        let progress: Progress;
        try {
            progress = await server.progress();
        } catch (error) {
            const isRefused = (error as Error).message === '401';
            say(t(isRefused ? 'live.token' : 'live.ended'));
            document.documentElement.dataset.live = isRefused ? 'refused' : 'ended';
            return;
        }
        document.documentElement.dataset.live = progress.phase;
        say(progress.phase === 'ready' ? '' : told(progress));
        if (progress.phase === 'failed') return;
        if (progress.phase !== shown && progress.phase !== 'reading') {
            shown = progress.phase;
            show(await server.page(progress.phase === 'rows'), server);
        }
        if (progress.phase === 'ready') return;
        await pause(POLL);
    }
}
