// Elements by hand. Names from the data enter as text only, never as markup.
import { middleCut, plainName } from './units';

type Child = Node | string | null;
type Attributes = { [name: string]: string | number | boolean | undefined };

const SVG = 'http://www.w3.org/2000/svg';

function fill(element: Element, attributes: Attributes, children: Child[]): void {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === false) continue;
        element.setAttribute(name, value === true ? '' : String(value));
    }
    for (const child of children) if (child !== null) element.append(child);
}

export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    fill(element, attributes, children);
    return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
    tag: K, attributes: Attributes = {}, ...children: Child[]
): SVGElementTagNameMap[K] {
    const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
    fill(element, attributes, children);
    return element;
}

export function button(label: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
    const element = el('button', { type: 'button', ...attributes }, label);
    element.addEventListener('click', act);
    return element;
}

// A name from the data: isolated, so that its direction marks stay inside; cut in the middle, whole as a tooltip.
export function name(text: string, className = '', most = Infinity): HTMLElement {
    return el('bdi', { class: ('name ' + className).trim(), title: text.length > 40 ? text : undefined }, text.length <= most ? text : middleCut(plainName(text), most));
}

export function save(file: string, type: string, text: string): void {
    saveBlob(file, new Blob([text], { type }));
}

export function saveBlob(file: string, blob: Blob): void {
    const url = URL.createObjectURL(blob);
    const link = el('a', { href: url, download: file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Runs `work` in pieces of 8 ms so that the page stays alive; `work` yields between small parts.
export async function inPieces<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
        const until = performance.now() + 8;
        while (performance.now() < until) {
            const part = work.next();
            if (part.done) return part.value;
        }
        await new Promise((resume) => setTimeout(resume));
    }
}
