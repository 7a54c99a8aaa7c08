// The timeline section: bar, canvas, details, and the dialogs around them.
import { App } from '../app';
import { el } from '../dom';
import { t } from '../text';
import { Bar } from '../timeline/bar';
import { Details } from '../timeline/details';
import { helpDialog, openMenu, visibleTable } from '../timeline/dialogs';
import { Keys } from '../timeline/keys';
import { Pointer } from '../timeline/pointer';
import { Timeline } from '../timeline/view';

export interface TimelineView {
    root: HTMLElement;
    timeline: Timeline;
    help(): void;
}

export function timelineView(app: App): TimelineView {
    const timeline = new Timeline(app);
    const details = new Details(app, timeline);
    const help = (): void => {
        const dialog = helpDialog(keys);
        document.body.append(dialog);
        dialog.showModal();
    };
    const table = (): void => {
        const shown = timeline.root.querySelector('.visible-table');
        if (shown) shown.remove();
        else timeline.stage.after(visibleTable(app, timeline));
        timeline.stage.hidden = !shown;
        if (shown) timeline.invalidate();
    };
    const bar = new Bar(app, timeline, { help, table, details: () => details.toggle() });
    const keys = new Keys(timeline, {
        help, table, details: () => details.toggle(), focusSearch: () => bar.focus(), nextHit: (by) => bar.next(by),
    });
    new Pointer(timeline, (x, y, ref, placed) => openMenu(app, timeline, x, y, ref, placed));
    const thinned = app.model.thinned ? el('p', { class: 'note' }, app.both(app.model.thinned)) : null;
    const legend = el('ul', { class: 'legend', 'aria-label': t('timeline.legend') });
    if (app.model.sets[0]?.path) legend.append(el('li', {}, el('span', { class: 'swatch path' }), t('timeline.path')));
    for (const f of familiesOf(app)) legend.append(el('li', {}, el('span', { class: 'swatch f' + f }), app.word('family.' + f)));
    const errors = el('p', { class: 'note errors', role: 'status', hidden: true });
    app.store.onPart(() => {
        errors.hidden = app.store.errors.length === 0;
        errors.textContent = t('timeline.damaged', { error: app.store.errors[0] ?? '' });
    });
    return { root: el('div', {}, thinned, errors, timeline.root, legend, details.root), timeline, help };
}

// Families of the kernels and, where there are host lanes, the host.
function familiesOf(app: App): number[] {
    const families = new Set(app.model.sets.flatMap((set) => set.kernels.map((kernel) => kernel.family)));
    if (app.model.sets.some((set) => set.groups.some((group) => group.kind === 'host'))) families.add(7);
    return [...families].sort();
}
