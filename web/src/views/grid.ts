// A table of any length: only the rows in view are in the document. Sorts by its heads.
import { button, el } from '../dom';
import { t } from '../text';

const ROW = 32; // px, as in the style sheet
const SPARE = 6;

export interface Column<T> {
    id: string;
    head: string;
    title?: string;
    isNumber: boolean;
    value: (row: T) => number | string | null;
    show: (row: T) => Node | string;
    className?: string;
}

export class Grid<T> {
    readonly root: HTMLElement;
    private readonly table: HTMLTableElement;
    private readonly body: HTMLTableSectionElement;
    private readonly headRow: HTMLTableRowElement;
    private rows: T[] = [];
    private sorted: T[] = [];
    private sortBy = '';
    private isDown = true;
    private chosen: T | null = null;
    private window = '';

    constructor(private readonly columns: Column<T>[], private readonly act: (row: T) => void, label: string) {
        this.body = el('tbody');
        this.headRow = el('tr');
        this.table = el('table', { class: 'grid' }, el('thead', {}, this.headRow), this.body);
        this.root = el('div', { class: 'grid-scroll', tabindex: 0, role: 'region', 'aria-label': label }, this.table);
        this.root.addEventListener('scroll', () => this.paint());
        new ResizeObserver(() => this.paint()).observe(this.root);
        this.heads();
    }

    setRows(rows: T[]): void {
        this.rows = rows;
        this.sort();
    }

    get shown(): T[] {
        return this.sorted;
    }

    choose(row: T | null): void {
        this.chosen = row;
        const at = row === null ? -1 : this.sorted.indexOf(row);
        if (at >= 0) this.root.scrollTop = Math.max(0, at * ROW - this.root.clientHeight / 2);
        this.window = '';
        this.paint();
    }

    private heads(): void {
        this.headRow.replaceChildren(...this.columns.map((column) => {
            const isSorted = column.id === this.sortBy;
            const mark = isSorted ? (this.isDown ? ' ▾' : ' ▴') : '';
            const th = el('th', { scope: 'col', class: column.isNumber ? 'number' : '', 'aria-sort': isSorted ? (this.isDown ? 'descending' : 'ascending') : undefined, title: column.title });
            th.append(button(column.head + mark, () => this.sortOn(column), { class: 'sort' }));
            return th;
        }));
    }

    private sortOn(column: Column<T>): void {
        this.isDown = column.id === this.sortBy ? !this.isDown : column.isNumber;
        this.sortBy = column.id;
        this.heads();
        this.sort();
    }

    private sort(): void {
        const column = this.columns.find((one) => one.id === this.sortBy);
        this.sorted = [...this.rows];
        if (column) {
            const sign = this.isDown ? -1 : 1;
            this.sorted.sort((a, b) => {
                const [x, y] = [column.value(a), column.value(b)];
                if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0);
                return sign * (x < y ? -1 : x > y ? 1 : 0);
            });
        }
        this.window = '';
        this.paint();
    }

    private paint(): void {
        const n = this.sorted.length;
        const height = this.root.clientHeight || 480;
        const from = Math.max(0, Math.floor(this.root.scrollTop / ROW) - SPARE);
        const to = Math.min(n, from + Math.ceil(height / ROW) + 2 * SPARE);
        const window = from + '-' + to;
        if (window === this.window) return;
        this.window = window;
        this.table.setAttribute('aria-rowcount', String(n + 1));
        const spacer = (rows: number): HTMLElement | null => {
            if (rows <= 0) return null;
            const tr = el('tr', { class: 'spacer', 'aria-hidden': 'true' }, el('td', { colspan: this.columns.length }));
            tr.style.height = rows * ROW + 'px';
            return tr;
        };
        const shown = this.sorted.slice(from, to).map((row, i) => this.row(row, from + i));
        this.body.replaceChildren(...[spacer(from), ...shown, spacer(n - to)].filter((tr): tr is HTMLElement => tr !== null));
        if (n === 0) this.body.append(el('tr', {}, el('td', { colspan: this.columns.length, class: 'hint' }, t('table.none'))));
    }

    private row(row: T, place: number): HTMLElement {
        const tr = el('tr', { 'aria-rowindex': place + 2, class: row === this.chosen ? 'chosen' : '' });
        this.columns.forEach((column, i) => {
            const td = el(i === 0 ? 'th' : 'td', { class: ((column.isNumber ? 'number ' : '') + (column.className ?? '')).trim(), ...(i === 0 ? { scope: 'row' } : {}) });
            if (i === 0) {
                const go = button('', () => this.act(row), { class: 'link' });
                go.append(column.show(row));
                td.append(go);
            } else td.append(column.show(row));
            tr.append(td);
        });
        return tr;
    }
}
