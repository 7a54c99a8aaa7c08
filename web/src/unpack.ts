// Unpacking: base64 text to bytes, raw DEFLATE, byte planes to numbers.

interface WithBase64 {
    fromBase64?: (text: string) => Uint8Array;
}

interface Inflater {
    readable: ReadableStream<Uint8Array>;
    writable: WritableStream<Uint8Array>;
}

declare const DecompressionStream: { new (format: string): Inflater };

export function bytesOf(base64: string): Uint8Array {
    const builtIn = (Uint8Array as unknown as WithBase64).fromBase64;
    if (builtIn) return builtIn(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
}

// Inflates to exactly `size` bytes; more or fewer is an error, so a bomb stops at its declared size.
export async function inflate(packed: Uint8Array, size: number): Promise<Uint8Array> {
    const stream = new DecompressionStream('deflate-raw');
    const writer = stream.writable.getWriter();
    // A failed write also fails the reader, where it is reported.
    writer.write(packed).catch(() => undefined);
    writer.close().catch(() => undefined);
    const reader = stream.readable.getReader();
    const out = new Uint8Array(size);
    let at = 0;
    for (;;) {
        const part = await reader.read();
        if (part.done) break;
        if (at + part.value.length > size) {
            void reader.cancel();
            throw new Error('a block is longer than it says');
        }
        out.set(part.value, at);
        at += part.value.length;
    }
    if (at !== size) throw new Error('a block is cut off');
    return out;
}

// Reads n values of `width` byte planes at `offset`: plane k holds byte k of every value.
export function fromPlanes(bytes: Uint8Array, offset: number, n: number, width: number): Float64Array {
    const out = new Float64Array(n);
    let scale = 1;
    for (let plane = 0; plane < width; plane++, scale *= 256) {
        const base = offset + plane * n;
        for (let i = 0; i < n; i++) out[i] += bytes[base + i] * scale;
    }
    return out;
}

// Zigzag code back to signed numbers, in place: 0, 1, 2, 3 become 0, -1, 1, -2.
export function unzigzag(values: Float64Array): Float64Array {
    for (let i = 0; i < values.length; i++) {
        const v = values[i];
        values[i] = v % 2 === 0 ? v / 2 : -(v + 1) / 2;
    }
    return values;
}
