// What kinds of slices mean.
import { KINDS } from './model';

const NOT_BUSY = ['wait', 'control', 'annotation', 'step'].map((kind) => KINDS.indexOf(kind));

// Waits, control slices and named ranges take no time of the device.
export const isBusyKind = (kind: number): boolean => !NOT_BUSY.includes(kind);
