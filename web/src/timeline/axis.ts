// The visible part of time and its movements. Aligned time: ns after the common zero of all sets.
import { Range } from '../state';

const LEAST_SPAN = 100; // ns

export class Axis {
    from = 0;
    to = 1;
    width = 1; // pixels
    private readonly past: Range[] = [];

    constructor(public bounds: Range) {
        this.show(bounds);
    }

    get perPixel(): number {
        return (this.to - this.from) / this.width;
    }

    x(t: number): number {
        return (t - this.from) / this.perPixel;
    }

    t(x: number): number {
        return this.from + x * this.perPixel;
    }

    get isWhole(): boolean {
        return this.from <= this.bounds.from && this.to >= this.bounds.to;
    }

    // Keeps the span within the bounds and not below the least one.
    show(range: Range): void {
        const all = Math.max(this.bounds.to - this.bounds.from, LEAST_SPAN);
        const span = Math.min(Math.max(range.to - range.from, LEAST_SPAN), all);
        const middle = (range.from + range.to) / 2;
        this.from = Math.min(Math.max(middle - span / 2, this.bounds.from), this.bounds.from + all - span);
        this.to = this.from + span;
    }

    zoom(t: number, factor: number): void {
        const span = (this.to - this.from) * factor;
        const share = (t - this.from) / (this.to - this.from);
        this.show({ from: t - share * span, to: t + (1 - share) * span });
    }

    pan(ns: number): void {
        this.show({ from: this.from + ns, to: this.to + ns });
    }

    // Remembers where to return to with undo().
    jump(range: Range): void {
        this.past.push({ from: this.from, to: this.to });
        if (this.past.length > 100) this.past.shift();
        this.show(range);
    }

    undo(): void {
        const range = this.past.pop();
        if (range) this.show(range);
    }
}
