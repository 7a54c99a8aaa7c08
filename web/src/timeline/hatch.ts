// Idle time is hatched by cause, never coloured.
import { CAUSES } from '../model';

type Style = 'lines' | 'dots' | 'level' | 'cross' | 'plain';

const STYLES: { [cause: string]: Style | undefined } = {
    launch: 'lines', cpu_operator: 'lines', python: 'lines', sync: 'dots', copy_staging: 'dots', input: 'level',
    allocator: 'cross', compile_load: 'cross', start_up: 'cross',
};

const SIZE = 8;

function tile(style: Style, ink: string, ratio: number): HTMLCanvasElement {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = SIZE * ratio;
    const c = canvas.getContext('2d') as CanvasRenderingContext2D;
    c.scale(ratio, ratio);
    c.strokeStyle = c.fillStyle = ink;
    c.lineWidth = 1;
    c.beginPath();
    if (style === 'lines' || style === 'cross') {
        for (const k of [-SIZE, 0, SIZE]) {
            c.moveTo(k, SIZE);
            c.lineTo(k + SIZE, 0);
            if (style === 'cross') {
                c.moveTo(k, 0);
                c.lineTo(k + SIZE, SIZE);
            }
        }
    }
    if (style === 'level') {
        for (const y of [2, 6]) {
            c.moveTo(0, y + 0.5);
            c.lineTo(SIZE, y + 0.5);
        }
    }
    c.stroke();
    if (style === 'dots') for (const [x, y] of [[1, 1], [5, 5], [5, 1], [1, 5]]) c.fillRect(x, y, 1.5, 1.5);
    return canvas;
}

export type Hatches = (CanvasPattern | null)[]; // by cause

export function hatches(context: CanvasRenderingContext2D, ink: string, ratio: number): Hatches {
    const byStyle = new Map<Style, CanvasPattern | null>();
    return CAUSES.map((cause) => {
        const style = STYLES[cause] ?? 'plain';
        if (style === 'plain') return null;
        if (!byStyle.has(style)) {
            const pattern = context.createPattern(tile(style, ink, ratio), 'repeat');
            pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
            byStyle.set(style, pattern);
        }
        return byStyle.get(style) ?? null;
    });
}
