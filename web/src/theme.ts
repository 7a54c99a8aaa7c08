// Colours of the canvas, read from the style sheet so that they are defined once.
import { FAMILIES } from './rows';

export interface Theme {
    inks: Uint32Array;
    edges: Uint32Array; // separator at the end of a span: the ink mixed with the ground
    dims: Uint32Array; // outside a search: the ink mixed with the ground
    dimEdges: Uint32Array;
    hatches: Uint32Array; // idle time in columns
    labels: string[]; // text on each family
    families: string[];
    ground: number;
    lane: number;
    text: string;
    second: string;
    line: string;
    accent: string;
    hatch: string;
    groundCss: string;
    laneCss: string;
}

type Rgb = [number, number, number];

function parse(css: string): Rgb {
    const hex = css.trim().replace('#', '');
    return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16)) as Rgb;
}

// ImageData is little-endian RGBA on every machine browsers run on.
const pack = ([r, g, b]: Rgb): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
const mix = (a: Rgb, b: Rgb, share: number): Rgb => a.map((v, k) => Math.round(v + (b[k] - v) * share)) as Rgb;

export function readTheme(): Theme {
    const style = getComputedStyle(document.documentElement);
    const get = (key: string): string => style.getPropertyValue('--' + key).trim();
    const families = Array.from({ length: FAMILIES }, (_, f) => get('f' + f));
    const ground = parse(get('plate'));
    const toGround = (part: number): Uint32Array =>
        Uint32Array.from(families, (css) => pack(mix(parse(css), ground, part)));
    return {
        inks: toGround(0),
        edges: toGround(0.55),
        dims: toGround(0.8),
        dimEdges: toGround(0.9),
        hatches: new Uint32Array(FAMILIES).fill(pack(mix(parse(get('hatch')), ground, 0.45))),
        labels: Array.from({ length: FAMILIES }, (_, f) => get('l' + f)),
        families,
        ground: pack(parse(get('ground'))),
        lane: pack(ground),
        text: get('ink'),
        second: get('ink2'),
        line: get('line'),
        accent: get('link'),
        hatch: get('hatch'),
        groundCss: get('ground'),
        laneCss: get('plate'),
    };
}
