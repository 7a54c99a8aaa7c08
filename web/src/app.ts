// What every view is given.
import { Kernel, Model, Set, Words } from './model';
import { Shared } from './state';
import { Store } from './store';
import { Lang } from './text';

export class App {
    constructor(readonly model: Model, readonly store: Store, readonly shared: Shared) {}

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
