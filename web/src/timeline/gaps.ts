// Gaps of the device: pieces of one cause each, joined to whole gaps by their number.
import { Gaps } from '../job';
import { Range } from '../state';

export interface Gap extends Range {
    pieces: number[]; // places in the columns
}

export function gapsOf(columns: Gaps): Gap[] {
    const gaps: Gap[] = [];
    for (let i = 0; i < columns.start.length; i++) {
        const last = gaps[gaps.length - 1];
        if (last && columns.number[last.pieces[0]] === columns.number[i]) {
            last.to = columns.end[i];
            last.pieces.push(i);
        } else gaps.push({ from: columns.start[i], to: columns.end[i], pieces: [i] });
    }
    return gaps;
}

export function gapAt(gaps: Gap[], t: number): Gap | null {
    let low = 0;
    let high = gaps.length;
    while (low < high) {
        const mid = (low + high) >>> 1;
        if (gaps[mid].to <= t) low = mid + 1;
        else high = mid;
    }
    return gaps[low] && gaps[low].from <= t ? gaps[low] : null;
}

// The gap with the largest part of a range, as a link may name one piece only.
export function gapOf(gaps: Gap[], range: Range): Gap | null {
    let best: Gap | null = null;
    let most = 0;
    for (const gap of gaps) {
        const part = Math.min(gap.to, range.to) - Math.max(gap.from, range.from);
        if (part > most) [best, most] = [gap, part];
    }
    return best;
}

export const bySize = (gaps: Gap[]): Gap[] => [...gaps].sort((a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from);
