/*
 * Runs tile operations given as text on standard input, for the tests that compute the same with
 * other means. One word after the other, separated by blanks or line ends:
 *
 *     op pto.tadd                              begins an operation
 *     attr NAME NUMBER
 *     in|out tile TYPE ROWS COLS VROWS VCOLS SPACE BLAYOUT SLAYOUT FRACTAL COMPACT PAD HEX
 *     in|out view TYPE LAYOUT RANK SHAPE.. STRIDE.. HEX
 *     in|out value TYPE BITS
 *     run                                      prints "ok" and the HEX or bits of each out, or
 *                                              "fail CODE"
 *
 * SPACE, BLAYOUT, SLAYOUT and LAYOUT are the numbers of the dialect. HEX is the whole buffer, whose
 * size is the limit. `alias N` in place of HEX shares the buffer of operand N, counted from 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pto/values/func.h"

enum { MOST = 16, WORD = 1 << 22 };

struct slot {
    struct pto_tile tile;
    struct pto_view view;
    struct pto_scalar value;
    unsigned char *bytes;
    size_t n;
    bool is_out, is_alias;
    enum pto_operand_kind kind;
};

static char word[WORD];

static const char *next(void)
{
    if (scanf("%4194303s", word) != 1)
        exit(feof(stdin) ? 0 : 2);
    return word;
}

static long long number(void)
{
    return strtoll(next(), NULL, 0);
}

static enum pto_dtype dtype(void)
{
    enum pto_dtype t;
    if (!pto_dtype_find(str_of(next()), &t)) {
        fprintf(stderr, "no such type: %s\n", word);
        exit(2);
    }
    return t;
}

static void buffer(struct slot *s, const struct slot *all)
{
    if (strcmp(next(), "alias") == 0) {
        const struct slot *other = &all[number()];
        s->bytes = other->bytes;
        s->n = other->n;
        s->is_alias = true;
        return;
    }
    s->n = strcmp(word, "-") == 0 ? 0 : strlen(word) / 2;
    s->bytes = malloc(s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        const char pair[3] = {word[2 * i], word[2 * i + 1], 0};
        s->bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
}

static void read_tile(struct slot *s, const struct slot *all)
{
    struct pto_tile_type t = {.dtype = dtype()};
    t.rows = (int32_t)number();
    t.cols = (int32_t)number();
    t.v_row = (int32_t)number();
    t.v_col = (int32_t)number();
    t.space = (enum pto_space)number();
    t.blayout = (enum pto_blayout)number();
    t.slayout = (enum pto_slayout)number();
    t.fractal = (int32_t)number();
    t.compact = (int32_t)number();
    t.pad = number();
    buffer(s, all);
    s->tile = pto_tile_make(&t, s->bytes, s->n, 0);
}

static void read_view(struct slot *s, const struct slot *all)
{
    struct pto_view *v = &s->view;
    v->dtype = dtype();
    v->layout = (enum pto_layout)number();
    v->ndim = (int32_t)number();
    if (v->ndim < 1 || v->ndim > PTO_VIEW_RANK)
        exit(2);
    for (int32_t i = 0; i < v->ndim; i++)
        v->shape[i] = number();
    for (int32_t i = 0; i < v->ndim; i++)
        v->stride[i] = number();
    buffer(s, all);
    v->base = s->bytes;
    v->limit = s->n;
}

static void read_slot(struct slot *s, const struct slot *all, bool is_out)
{
    *s = (struct slot){.is_out = is_out};
    next();
    if (strcmp(word, "tile") == 0) {
        s->kind = PTO_OPERAND_TILE;
        read_tile(s, all);
    } else if (strcmp(word, "view") == 0) {
        s->kind = PTO_OPERAND_VIEW;
        read_view(s, all);
    } else {
        s->kind = PTO_OPERAND_VALUE;
        s->value.dtype = dtype();
        s->value.bits = strtoull(next(), NULL, 0);
    }
}

static void read_attr(struct pto_attrs *a)
{
    char name[32] = "";
    next();
    for (size_t i = 0; i + 1 < sizeof(name) && word[i] != 0; i++)
        name[i] = word[i];
    long long v = number();
    if (strcmp(name, "round") == 0)
        a->round = (enum pto_round)v;
    else if (strcmp(name, "saturation") == 0)
        a->saturation = (enum pto_saturation)v;
    else if (strcmp(name, "cmp") == 0)
        a->cmp = (enum pto_cmp)v;
    else if (strcmp(name, "mask_pattern") == 0)
        a->mask_pattern = (int32_t)v;
    else if (strcmp(name, "atomic") == 0)
        a->atomic = (int32_t)v;
    else if (strcmp(name, "relu") == 0)
        a->relu = (enum pto_relu)v;
    else if (strcmp(name, "gather_oob") == 0)
        a->gather_oob = (enum pto_gather_oob)v;
    else if (strcmp(name, "scatter_oob") == 0)
        a->scatter_oob = (enum pto_scatter_oob)v;
    else if (strcmp(name, "scatter_op") == 0)
        a->scatter_op = (enum pto_scatter_op)v;
    else if (strcmp(name, "coalesce") == 0)
        a->coalesce = (enum pto_coalesce)v;
    else if (strcmp(name, "offset") == 0)
        a->offset = v;
    else if (strcmp(name, "notify") == 0)
        a->notify = (enum pto_notify)v;
    else if (strcmp(name, "wait_cmp") == 0)
        a->wait_cmp = (enum pto_wait_cmp)v;
    else if (strcmp(name, "reduce") == 0)
        a->reduce = (enum pto_reduce)v;
    else if (strcmp(name, "descending") == 0)
        a->descending = v != 0;
    else if (strcmp(name, "upper") == 0)
        a->upper = v != 0;
    else if (strcmp(name, "exhausted") == 0)
        a->exhausted = v != 0;
    else
        exit(2);
}

static void print_slot(const struct slot *s)
{
    if (s->kind == PTO_OPERAND_VALUE) {
        printf(" %llu", (unsigned long long)s->value.bits);
        return;
    }
    putchar(' ');
    if (s->n == 0)
        putchar('-');
    for (size_t i = 0; i < s->n; i++)
        printf("%02x", s->bytes[i]);
}

static void run_op(enum pto_opcode op, struct slot *all, size_t n, const struct pto_attrs *attrs,
                   bool reference)
{
    struct pto_arg ins[MOST], outs[MOST];
    struct pto_args args = {.ins = ins, .outs = outs, .attrs = attrs, .reference = reference};
    struct diag d;
    for (size_t i = 0; i < n; i++) {
        struct pto_arg o = {.kind = all[i].kind};
        if (o.kind == PTO_OPERAND_TILE)
            o.u.tile = &all[i].tile;
        else if (o.kind == PTO_OPERAND_VIEW)
            o.u.view = &all[i].view;
        else
            o.u.value = &all[i].value;
        if (all[i].is_out)
            outs[args.n_outs++] = o;
        else
            ins[args.n_ins++] = o;
    }
    diag_init(&d);
    if (pto_func(op, &args, &d) == ST_OK) {
        printf("ok");
        for (size_t i = 0; i < n; i++)
            if (all[i].is_out)
                print_slot(&all[i]);
        printf("\n");
    } else {
        printf("fail %s\n", d.entries.n > 0 ? d.entries.at[0].code : "?");
    }
    fflush(stdout);
    diag_fini(&d);
    for (size_t i = 0; i < n; i++)
        if (!all[i].is_alias)
            free(all[i].bytes);
}

int main(void)
{
    static struct slot all[MOST];
    enum pto_opcode op = PTO_OP_NONE;
    struct pto_attrs attrs = PTO_ATTRS;
    size_t n = 0;
    bool reference = false;
    for (;;) {
        next();
        if (strcmp(word, "op") == 0) {
            op = pto_op_find(str_of(next()));
            attrs = PTO_ATTRS;
            n = 0;
            reference = false;
        } else if (strcmp(word, "reference") == 0) {
            reference = true;
        } else if (strcmp(word, "attr") == 0) {
            read_attr(&attrs);
        } else if (strcmp(word, "run") == 0) {
            run_op(op, all, n, &attrs, reference);
            n = 0;
        } else if (n < MOST) {
            read_slot(&all[n], all, strcmp(word, "out") == 0);
            n++;
        } else {
            return 2;
        }
    }
}
