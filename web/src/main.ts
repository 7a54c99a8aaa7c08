// Entry of the bundle: the page's script, and the worker made from the same text.
import { loadData, readModel, serve } from './load';
import { startPage } from './page';

if (typeof document === 'undefined') serve(self as unknown as Parameters<typeof serve>[0]);
else {
    document.documentElement.classList.add('js');
    document.addEventListener('DOMContentLoaded', () => startPage(readModel(), loadData));
}
