// Numbers for people: three significant digits, a unit that keeps 1 <= x < 1000, U+202F before units.

const THIN = '\u202f';
const MINUS = '\u2212';

function digits(x: number): string {
    const a = Math.abs(x);
    const places = a >= 100 ? 0 : a >= 10 ? 1 : 2;
    return x.toFixed(places);
}

export function grouped(n: number): string {
    const text = Math.abs(Math.round(n)).toString().replace(/\B(?=(\d{3})+$)/g, THIN);
    return n < 0 ? MINUS + text : text;
}

function scaled(x: number, step: number, units: string[]): string {
    let k = 0;
    let a = Math.abs(x);
    while (a >= step * 0.9995 && k < units.length - 1) {
        a /= step;
        k++;
    }
    const number = k === 0 && Number.isInteger(a) ? grouped(a) : digits(a);
    return (x < 0 ? MINUS : '') + number + THIN + units[k];
}

// Pages of one core count cycles; the word for them, or null where times are nanoseconds.
let cycles: string | null = null;

export const setCycles = (word: string | null): void => {
    cycles = word;
};

export const cyclesWord = (): string | null => cycles;

export const nanoseconds = (ns: number): string => scaled(ns, 1000, ['ns', 'µs', 'ms', 's', 'ks']);
export const time = (n: number): string => (cycles === null ? nanoseconds(n) : grouped(n) + THIN + cycles);
export const binaryBytes = (n: number): string => scaled(n, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
export const bytes = (n: number): string => scaled(n, 1000, ['B', 'KB', 'MB', 'GB', 'TB']);
export const rate = (n: number): string => scaled(n, 1000, ['B/s', 'KB/s', 'MB/s', 'GB/s', 'TB/s', 'PB/s']);
export const exactNs = (ns: number): string => grouped(ns) + THIN + (cycles ?? 'ns');

export function signed(text: string): string {
    return text.startsWith(MINUS) || parseFloat(text) === 0 ? text : '+' + text;
}

export function share(x: number): string {
    const percent = x * 100;
    const places = Math.abs(percent) >= 99.95 || percent === 0 ? 0 : Math.abs(percent) >= 9.995 ? 1 : 2;
    const text = percent.toFixed(places);
    return (Number(text) === 0 && percent < 0 ? '0' : text.replace('-', MINUS)) + THIN + '%';
}

// Round tick distances for an axis: 1, 2 or 5 times a power of ten, at least `least`.
export function tickStep(least: number): number {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    for (const k of [1, 2, 5]) if (k * power >= least) return k * power;
    return 10 * power;
}

// A label of an axis whose ticks are `step` ns apart: all labels share the unit of the largest.
export function tickLabel(ns: number, step: number, largest: number): string {
    if (cycles !== null) return grouped(ns);
    const units: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
    const [scale, unit] = units.find(([s]) => Math.max(Math.abs(largest), step) >= s) ?? units[3];
    const places = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
    const text = places > 0 ? (ns / scale).toFixed(places) : grouped(ns / scale);
    return text.replace('-', MINUS) + THIN + unit;
}

// A C++ name without what all of them share: return type and the usual namespaces.
export function plainName(name: string): string {
    return name.replace(/^void /, '').replace(/\b(?:at::native::|at::cuda::|\(anonymous namespace\)::)/g, '');
}

// The function's own name, without arguments and template parameters.
export function briefName(name: string): string {
    const plain = plainName(name);
    const own = /^[\w:~]+/.exec(plain)?.[0] ?? plain;
    return own.slice(own.lastIndexOf('::') < 0 || !/[<(]/.test(plain) ? 0 : own.lastIndexOf('::') + 2) || plain;
}

// Cuts a name in the middle, as the ends of kernel names differ.
export function middleCut(name: string, most: number): string {
    if (name.length <= most) return name;
    if (most < 4) return name.slice(0, Math.max(most, 0));
    const head = Math.ceil((most - 1) / 2);
    return name.slice(0, head) + '…' + name.slice(name.length - (most - 1 - head));
}
