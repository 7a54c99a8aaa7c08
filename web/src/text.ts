// Texts of the views in English and Chinese. Places are {name}; {n|one|other} is a word by number.
import catalogue from './text.tsv';

export type Lang = 'en' | 'zh';
type Places = { [name: string]: string | number };

const messages = new Map<string, [string, string]>();
for (const line of catalogue.split('\n')) {
    const [key, en, zh] = line.split('\t');
    if (key && !key.startsWith('#')) messages.set(key, [en, zh]);
}

let lang: Lang = 'en';

export const setLang = (to: Lang): void => {
    lang = to;
};

export function t(key: string, places: Places = {}): string {
    const message = messages.get(key);
    if (!message) throw new Error('no text: ' + key);
    return message[lang === 'zh' ? 1 : 0].replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, place, one, other) => {
        const value = places[place];
        if (one === undefined) return String(value);
        return Number(value) === 1 ? one : other;
    });
}

// A text for a key that comes from the data; the id itself where the catalogue has none.
export function known(prefix: string, id: string): string {
    return messages.has(prefix + id) ? t(prefix + id) : id;
}
