// The search box: words joined by spaces. A word is a substring, /regex/, dur>100us, dur<2ms, step:6 or kind:comm.

export interface Query {
    words: string[];
    patterns: string[];
    kinds: string[];
    step: number | null;
    longerThan: number; // ns
    shorterThan: number; // ns
}

const UNITS = new Map([['', 1], ['ns', 1], ['us', 1e3], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]]);

// Splits at spaces outside /.../.
function split(text: string): string[] {
    return text.match(/\/(?:\\.|[^/\\])+\/|\S+/g) ?? [];
}

export function parseQuery(text: string): Query {
    const query: Query = { words: [], patterns: [], kinds: [], step: null, longerThan: -1, shorterThan: Infinity };
    for (const part of split(text)) {
        const duration = /^dur([<>])([\d.]+)(ns|us|µs|ms|s)?$/.exec(part);
        const step = /^step:(-?\d+)$/.exec(part);
        if (duration) {
            const ns = Number(duration[2]) * (UNITS.get(duration[3] ?? '') ?? 1);
            if (duration[1] === '>') query.longerThan = ns;
            else query.shorterThan = ns;
        } else if (step) query.step = Number(step[1]);
        else if (part.startsWith('kind:')) query.kinds.push(part.slice(5).toLowerCase());
        else if (part.length > 2 && part.startsWith('/') && part.endsWith('/')) query.patterns.push(part.slice(1, -1));
        else query.words.push(part.toLowerCase());
    }
    return query;
}

export function isEmpty(query: Query): boolean {
    return query.words.length + query.patterns.length + query.kinds.length === 0 && query.step === null &&
        query.longerThan < 0 && query.shorterThan === Infinity;
}

// Which names match the words; patterns are matched apart, in a worker that can be stopped.
export function matchWords(query: Query, names: string[], kinds: string[]): Uint8Array {
    const hit = new Uint8Array(names.length).fill(1);
    for (let i = 0; i < names.length; i++) {
        const name = names[i].toLowerCase();
        if (query.words.some((word) => !name.includes(word))) hit[i] = 0;
        if (query.kinds.some((kind) => !kinds[i].toLowerCase().includes(kind))) hit[i] = 0;
    }
    return hit;
}

// Returns an error's text, or the names that match every pattern.
export function matchPatterns(patterns: string[], names: string[]): Uint8Array | string {
    const hit = new Uint8Array(names.length).fill(1);
    try {
        for (const pattern of patterns) {
            const expression = new RegExp(pattern, 'i');
            for (let i = 0; i < names.length; i++) if (hit[i] && !expression.test(names[i])) hit[i] = 0;
        }
    } catch (error) {
        return (error as Error).message;
    }
    return hit;
}
