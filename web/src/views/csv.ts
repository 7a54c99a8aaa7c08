// CSV that a spreadsheet opens without running anything: cells that begin like a formula get an apostrophe.
export type Cell = string | number | null;

function cell(value: Cell): string {
    if (value === null) return '';
    if (typeof value === 'number') return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
    return /[",\n\r]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
}

export function csv(heads: string[], rows: Cell[][]): string {
    return [heads, ...rows].map((row) => row.map(cell).join(',') + '\n').join('');
}
