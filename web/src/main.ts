// Entry of the bundle: the page's script, and the worker made from the same text.
import { loadData, loadOverview, readModel, serve } from './load';
import { startLive } from './live/start';
import { startPage } from './page';
import { Store } from './store';

// The views and the overview as soon as they are there; the data, which comes last, when the document is complete.
function start(): void {
    const model = readModel();
    let store: Store | null = null;
    const begin = (): Store => {
        store = startPage(model);
        void loadOverview(store);
        return store;
    };
    const look = (): void => {
        if (store) return;
        if (document.getElementById('overview')?.nextElementSibling) begin();
        else requestAnimationFrame(look);
    };
    document.addEventListener('DOMContentLoaded', () => loadData(model, store ?? begin()));
    requestAnimationFrame(look);
}

if (typeof document === 'undefined') serve(self as unknown as Parameters<typeof serve>[0]);
else {
    document.documentElement.classList.add('js');
    if (document.documentElement.dataset.kind === 'shell') void startLive();
    else start();
}
