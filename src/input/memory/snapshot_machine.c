/*
 * The pickle machine: operations that build data. Whatever would look up or call something ends it.
 */
#include <endian.h>

#include "base/limits.h"
#include "base/run/cancel.h"
#include "input/memory/snapshot_in.h"

/* Operations, by their byte. */
enum {
    OP_MARK = 0x28,
    OP_EMPTY_TUPLE = 0x29,
    OP_STOP = 0x2e,
    OP_BINFLOAT = 0x47,
    OP_BININT = 0x4a,
    OP_BININT1 = 0x4b,
    OP_BININT2 = 0x4d,
    OP_NONE = 0x4e,
    OP_BINUNICODE = 0x58,
    OP_EMPTY_LIST = 0x5d,
    OP_APPEND = 0x61,
    OP_APPENDS = 0x65,
    OP_BINGET = 0x68,
    OP_LONG_BINGET = 0x6a,
    OP_BINPUT = 0x71,
    OP_LONG_BINPUT = 0x72,
    OP_SETITEM = 0x73,
    OP_TUPLE = 0x74,
    OP_SETITEMS = 0x75,
    OP_EMPTY_DICT = 0x7d,
    OP_PROTO = 0x80,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
};

enum { POLL = 1 << 20, KIND_BITS = 5, WIDE = PICKLE_KINDS };

static uint64_t machine_byte(const struct snapshot_reader *r)
{
    return r->base - (uint64_t)(r->end - r->at);
}

/* What came before may be of use: whoever has called decides what becomes of it. */
static enum status machine_damaged(struct snapshot_reader *r, const char *text)
{
    r->damage = text;
    return ST_FORMAT;
}

/* ---- bytes ---- */

/* Makes `n` bytes follow; false where the file ends before. */
static bool machine_fill(struct snapshot_reader *r, size_t n)
{
    struct stream *s = &r->stream;

    while ((size_t)(r->end - r->at) < n && r->has_stream && !s->at_end) {
        stream_consume(s, stream_text(s).n - (size_t)(r->end - r->at));
        if (stream_fill(s) != ST_OK)
            return false;
        struct str text = stream_text(s);
        r->at = (const uint8_t *)text.at;
        r->end = r->at + text.n;
        r->base = s->offset + text.n;
        input_progress(r->i->in, s->offset, 0);
    }
    return (size_t)(r->end - r->at) >= n;
}

static inline bool machine_need(struct snapshot_reader *r, size_t n)
{
    return __builtin_expect((size_t)(r->end - r->at) >= n, 1) || machine_fill(r, n);
}

static uint64_t machine_number(struct snapshot_reader *r, size_t n)
{
    uint64_t value = 0;

    memcpy(&value, r->at, n);
    r->at += n;
    return le64toh(value);
}

/* ---- stack and memo ---- */

static inline void machine_push(struct snapshot_reader *r, struct pickle_value value)
{
    vec_push(&r->stack, value);
}

static inline void machine_push_number(struct snapshot_reader *r, int64_t number)
{
    machine_push(r, (struct pickle_value){
                        .kind = PICKLE_INT, .memo = PICKLE_NO_MEMO, .number = number, .n = 1});
}

static inline void machine_push_kind(struct snapshot_reader *r, enum pickle_kind kind)
{
    machine_push(r, (struct pickle_value){.kind = (uint8_t)kind, .memo = PICKLE_NO_MEMO, .n = 1});
}

/* Values in the memo: the kind in the low bits, the number or the place above; those that do not
 * fit are in a list of their own. */
static uint64_t machine_pack(struct snapshot_reader *r, const struct pickle_value *v)
{
    int64_t number = v->kind == PICKLE_REAL ? 0 : v->number;
    bool is_list = v->kind == PICKLE_TRACE || v->kind == PICKLE_TRACES ||
                   v->kind == PICKLE_BLOCKS || v->kind == PICKLE_SEGMENTS ||
                   v->kind == PICKLE_RANGES;

    if (v->kind == PICKLE_REAL)
        return PICKLE_OTHER;
    if (!is_list && number >> (63 - KIND_BITS) == 0)
        return (uint64_t)number << KIND_BITS | v->kind;
    vec_push(&r->wide, (uint64_t)v->kind);
    vec_push(&r->wide, (uint64_t)number);
    vec_push(&r->wide, v->n);
    return (uint64_t)(r->wide.n - 3) << KIND_BITS | WIDE;
}

static struct pickle_value machine_unpack(const struct snapshot_reader *r, uint32_t place)
{
    uint64_t packed = r->memo.at[place];
    uint8_t kind = packed & ((1 << KIND_BITS) - 1);
    struct pickle_value v = {
        .kind = kind, .memo = place, .number = (int64_t)(packed >> KIND_BITS), .n = 1};

    if (kind == WIDE) {
        size_t at = packed >> KIND_BITS;
        v.kind = (uint8_t)r->wide.at[at];
        v.number = (int64_t)r->wide.at[at + 1];
        v.n = r->wide.at[at + 2];
    }
    return v;
}

/* A value that changed is remembered as it is now. */
static void machine_refresh(struct snapshot_reader *r, const struct pickle_value *v)
{
    if (v->memo != PICKLE_NO_MEMO)
        r->memo.at[v->memo] = machine_pack(r, v);
}

static enum status machine_put(struct snapshot_reader *r, uint64_t place)
{
    if (r->stack.n == 0 || place > r->memo.n || place >= PICKLE_NO_MEMO)
        return machine_damaged(r, "the pickle remembers something out of turn");
    struct pickle_value *top = &r->stack.at[r->stack.n - 1];
    uint64_t packed = machine_pack(r, top);
    if (top->memo == PICKLE_NO_MEMO)
        top->memo = (uint32_t)place;
    if (place == r->memo.n)
        vec_push(&r->memo, packed);
    else
        r->memo.at[place] = packed;
    return ST_OK;
}

static enum status machine_get(struct snapshot_reader *r, uint64_t place)
{
    if (place >= r->memo.n)
        return machine_damaged(r, "the pickle asks for something that it does not remember");
    machine_push(r, machine_unpack(r, (uint32_t)place));
    return ST_OK;
}

/* The values above the last mark, and what is below it; the mark goes. */
static bool machine_above(struct snapshot_reader *r, size_t *first)
{
    if (r->marks.n == 0)
        return false;
    *first = r->marks.at[--r->marks.n];
    return *first <= r->stack.n;
}

/* Records that follow each other stay on the stack as one value: lists of millions are complete at
 * their end only. */
static void machine_join(struct snapshot_reader *r)
{
    size_t n = r->stack.n, floor = r->marks.n > 0 ? r->marks.at[r->marks.n - 1] : 0;

    if (n < 2 || n - 1 <= floor)
        return;
    struct pickle_value *top = &r->stack.at[n - 1], *below = top - 1;
    bool is_record = top->kind == PICKLE_ENTRY || top->kind == PICKLE_BLOCK ||
                     top->kind == PICKLE_SEGMENT || top->kind == PICKLE_RANGE;
    if (!is_record || below->kind != top->kind || below->number + (int64_t)below->n != top->number)
        return;
    below->n += top->n;
    r->stack.n--;
}

static enum status machine_set(struct snapshot_reader *r, size_t first)
{
    size_t n = r->stack.n - first;

    if (first == 0 || n % 2 != 0)
        return machine_damaged(r, "the pickle sets items of nothing");
    struct pickle_value *dict = &r->stack.at[first - 1];
    snapshot_records_set(r, dict, &r->stack.at[first], n / 2);
    machine_refresh(r, dict);
    r->stack.n = first;
    machine_join(r);
    return ST_OK;
}

static enum status machine_append(struct snapshot_reader *r, size_t first)
{
    if (first == 0)
        return machine_damaged(r, "the pickle appends to nothing");
    struct pickle_value *list = &r->stack.at[first - 1];
    if (r->stack.n > first)
        snapshot_records_append(r, list, &r->stack.at[first], r->stack.n - first);
    machine_refresh(r, list);
    r->stack.n = first;
    return ST_OK;
}

static enum status machine_tuple(struct snapshot_reader *r, size_t n)
{
    if (r->stack.n < n)
        return machine_damaged(r, "the pickle makes a tuple of too little");
    r->stack.n -= n;
    machine_push_kind(r, PICKLE_OTHER);
    return ST_OK;
}

/* ---- operations ---- */

static enum status machine_text(struct snapshot_reader *r, size_t head, bool *is_cut)
{
    *is_cut = !machine_need(r, head);
    if (*is_cut)
        return ST_OK;
    uint64_t n = machine_number(r, head);
    if (n > LIMIT_FIELD_BYTES)
        return machine_damaged(r, "the pickle states a text of more than 64 MiB");
    *is_cut = !machine_need(r, n);
    if (*is_cut)
        return ST_OK;
    strid text = capture_intern(r->cap, (struct str){(const char *)r->at, n});
    r->at += n;
    machine_push(r, (struct pickle_value){
                        .kind = PICKLE_TEXT, .memo = PICKLE_NO_MEMO, .number = text, .n = 1});
    return ST_OK;
}

/* A whole number of up to eight bytes, or of nine whose last is zero. */
static enum status machine_long(struct snapshot_reader *r, bool *is_cut)
{
    *is_cut = !machine_need(r, 1) || !machine_need(r, 1 + (size_t)*r->at);
    if (*is_cut)
        return ST_OK;
    size_t n = *r->at++;
    if (n > 9 || (n == 9 && r->at[8] != 0))
        return machine_damaged(r, "the pickle has a number of more than 64 bits");
    uint64_t value = 0, bytes = n < 8 ? n : 8;
    memcpy(&value, r->at, bytes);
    value = le64toh(value);
    if (n > 0 && n < 8 && (r->at[n - 1] & 0x80) != 0)
        value |= ~(uint64_t)0 << 8 * n;
    r->at += n;
    machine_push_number(r, (int64_t)value);
    return ST_OK;
}

static void machine_real(struct snapshot_reader *r)
{
    struct pickle_value v = {.kind = PICKLE_REAL, .memo = PICKLE_NO_MEMO, .n = 1};
    uint64_t bits;

    memcpy(&bits, r->at, sizeof(bits));
    bits = be64toh(bits);
    memcpy(&v.real, &bits, sizeof(bits));
    r->at += sizeof(bits);
    machine_push(r, v);
}

static enum status machine_open(struct snapshot_reader *r)
{
    enum { NESTING = 32 };

    if (r->marks.n == NESTING)
        return machine_damaged(r, "the pickle is nested over 32 deep");
    vec_push(&r->marks, (uint32_t)r->stack.n);
    return ST_OK;
}

static enum status machine_refused(struct snapshot_reader *r, unsigned op)
{
    diag_hint(r->i->in->diag, "looked for",
              "a memory snapshot, torch.cuda.memory._dump_snapshot(): it has data alone");
    return diag_fail(r->i->in->diag, ST_FORMAT, "snapshot.opcode",
                     import_byte(r->i, machine_byte(r) - 1),
                     "opcode 0x%02x at byte %llu would run code; strata reads data only", op,
                     (unsigned long long)machine_byte(r) - 1);
}

/* Bytes that follow an operation, beside those of texts and long numbers. */
static size_t machine_operand(unsigned op)
{
    switch (op) {
    case OP_PROTO:
    case OP_BININT1:
    case OP_BINGET:
    case OP_BINPUT:
        return 1;
    case OP_BININT2:
        return 2;
    case OP_BININT:
    case OP_LONG_BINGET:
    case OP_LONG_BINPUT:
        return 4;
    case OP_BINFLOAT:
    case OP_FRAME:
        return 8;
    default:
        return 0;
    }
}

/* One operation whose operand is there. */
static enum status machine_step(struct snapshot_reader *r, unsigned op, bool *is_cut)
{
    size_t first;

    switch (op) {
    case OP_PROTO:
    case OP_FRAME:
        r->at += machine_operand(op);
        return ST_OK;
    case OP_BINGET:
        return machine_get(r, machine_number(r, 1));
    case OP_LONG_BINGET:
        return machine_get(r, machine_number(r, 4));
    case OP_BININT1:
        machine_push_number(r, (int64_t)machine_number(r, 1));
        return ST_OK;
    case OP_BININT2:
        machine_push_number(r, (int64_t)machine_number(r, 2));
        return ST_OK;
    case OP_BININT:
        machine_push_number(r, (int32_t)machine_number(r, 4));
        return ST_OK;
    case OP_LONG1:
        return machine_long(r, is_cut);
    case OP_BINFLOAT:
        machine_real(r);
        return ST_OK;
    case OP_NONE:
        machine_push_kind(r, PICKLE_NONE);
        return ST_OK;
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        machine_push_number(r, op == OP_NEWTRUE);
        return ST_OK;
    case OP_SHORT_BINUNICODE:
        return machine_text(r, 1, is_cut);
    case OP_BINUNICODE:
        return machine_text(r, 4, is_cut);
    case OP_BINUNICODE8:
        return machine_text(r, 8, is_cut);
    case OP_EMPTY_DICT:
        machine_push_kind(r, PICKLE_DICT);
        return ST_OK;
    case OP_EMPTY_LIST:
        machine_push_kind(r, PICKLE_LIST);
        return ST_OK;
    case OP_MARK:
        return machine_open(r);
    case OP_MEMOIZE:
        return machine_put(r, r->memo.n);
    case OP_BINPUT:
        return machine_put(r, machine_number(r, 1));
    case OP_LONG_BINPUT:
        return machine_put(r, machine_number(r, 4));
    case OP_SETITEMS:
    case OP_APPENDS:
    case OP_TUPLE:
        if (!machine_above(r, &first))
            return machine_damaged(r, "the pickle ends a list that it did not begin");
        return op == OP_SETITEMS  ? machine_set(r, first)
               : op == OP_APPENDS ? machine_append(r, first)
                                  : machine_tuple(r, r->stack.n - first);
    case OP_SETITEM:
        return r->stack.n < 3 ? machine_damaged(r, "the pickle sets an item of nothing")
                              : machine_set(r, r->stack.n - 2);
    case OP_APPEND:
        return r->stack.n < 2 ? machine_damaged(r, "the pickle appends to nothing")
                              : machine_append(r, r->stack.n - 1);
    case OP_EMPTY_TUPLE:
        machine_push_kind(r, PICKLE_OTHER);
        return ST_OK;
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return machine_tuple(r, op - OP_TUPLE1 + 1);
    default:
        return machine_refused(r, op);
    }
}

enum status snapshot_run(struct snapshot_reader *r)
{
    enum status st = ST_OK;
    bool is_cut = false;

    for (uint64_t n = 1; st == ST_OK && !is_cut; n++) {
        if (n % POLL == 0 && cancelled())
            return ST_CANCELLED;
        if (r->stack.n > LIMIT_PICKLE_STACK)
            return machine_damaged(r, "the pickle puts too much aside");
        is_cut = !machine_need(r, 1);
        if (is_cut)
            break;
        unsigned op = *r->at++;
        if (op == OP_STOP) {
            if (r->stack.n == 1 && r->marks.n == 0)
                return ST_OK;
            return machine_damaged(r, "the pickle ends with more, or less, than one value");
        }
        size_t more = machine_operand(op);
        is_cut = more > 0 && !machine_need(r, more);
        if (!is_cut)
            st = machine_step(r, op, &is_cut);
    }
    if (st == ST_OK)
        r->out->is_cut = true;
    return st;
}
