// What every view is given.
import { Server } from './live/server';
import { Kernel, Model, Set, Words } from './model';
import { Range, Shared } from './state';
import { Store } from './store';
import { Lang } from './text';

export class App {
    laid: Range[] = []; // results of a query over the timeline, in the time of the selected set

    // `server` is that of `strata view`; a file has none.
    constructor(readonly model: Model, readonly store: Store, readonly shared: Shared, readonly server: Server | null = null) {}

    get lang(): Lang {
        return this.shared.state.lang ?? (document.documentElement.lang === 'zh' ? 'zh' : 'en');
    }

    get set(): Set {
        return this.model.sets[this.shared.state.set] ?? this.model.sets[0];
    }

    both(text: Words): string {
        return typeof text === 'string' ? text : text[this.lang];
    }

    // Label of a class, cause, kind or family.
    word(id: string): string {
        const text = Object.prototype.hasOwnProperty.call(this.model.words, id) ? this.model.words[id] : null;
        return text ? this.both(text) : id;
    }

    // The item of a kernel's longest run.
    longest(kernel: Kernel): { lane: number; index: number } {
        return { lane: kernel.at[0], index: kernel.at[1] };
    }
}
