/*
 * The other half of trace_paths.h: how the layout of an event gets into the tree.
 */
#include "base/text/char.h"
#include "input/trace/trace_paths.h"

enum { FEW = 32 }; /* texts at one place that may differ by their constants */

/* A value that may become part of the text around it. */
struct constant {
    size_t from, to; /* with its quotes */
    struct str key;
    bool is_arg; /* an argument, which is not kept; else a field, which is told */
};

/* An event that is being learnt. Each part is checked, though a reader has been here before. */
struct lesson {
    struct trace_paths *paths;
    enum trace_dialect dialect;
    struct path_node *node; /* the one reached */
    struct str text;
    size_t at, from; /* the place reached; where the text before the next value begins */
    struct constant constants[TRACE_PATH_CONSTANTS]; /* between these two */
    uint32_t n_constants;
    struct str keys[2][TRACE_ARGS]; /* of the event, of its arguments */
    uint32_t n_keys[2];
    bool is_in_args, is_python;
    char ph, known_ph; /* as far as it was met; as the reader has found it */
    uint32_t known;    /* a bit for each field that was a constant */
};

static char here(const struct lesson *l)
{
    return l->at < l->text.n ? l->text.at[l->at] : '\0';
}

static void learn_skip_blanks(struct lesson *l)
{
    while (char_is_blank(here(l)))
        l->at++;
}

/* Goes behind `c`, with blanks around it. */
static bool pass(struct lesson *l, char c)
{
    learn_skip_blanks(l);
    if (here(l) != c)
        return false;
    l->at++;
    learn_skip_blanks(l);
    return true;
}

/* Steps over a string; false when it is none or not printable. */
static bool pass_string(struct lesson *l, struct str *out)
{
    if (here(l) != '"')
        return false;
    size_t from = ++l->at;
    for (; here(l) != '"'; l->at++) {
        if (here(l) == '\\')
            l->at++;
        if (!path_is_printable(here(l)))
            return false;
    }
    *out = str_part(l->text, from, l->at - from);
    l->at++;
    return true;
}

static bool is_same(const struct path_node *a, const struct path_node *b)
{
    return a->n == b->n && memcmp(a->text, b->text, sizeof(a->text)) == 0 && a->value == b->value &&
           a->field == b->field && a->ph == b->ph && a->n_constants == b->n_constants &&
           a->is_python == b->is_python;
}

/* The child of the node reached that is `node`, or NULL. */
static struct path_node *find_child(const struct lesson *l, const struct path_node *node)
{
    struct path_node *child = l->node->child;

    while (child != NULL && !is_same(child, node))
        child = child->next;
    return child;
}

/* The same; a new one if there is room. Longer texts stand first, so that none hides behind its own
 * beginning. */
static struct path_node *put_child(struct lesson *l, const struct path_node *node)
{
    struct trace_paths *t = l->paths;
    struct path_node **link = &l->node->child, *child = find_child(l, node);

    if (child != NULL || t->n == TRACE_PATH_NODES)
        return child;
    while (*link != NULL && (*link)->n > node->n)
        link = &(*link)->next;
    child = &t->nodes[t->n++];
    *child = *node;
    child->parent = l->node;
    child->next = *link;
    *link = child;
    return child;
}

/* Are there few enough texts behind the node reached for one more? */
static bool has_few_children(const struct lesson *l)
{
    uint32_t n = 0;

    for (const struct path_node *child = l->node->child; child != NULL; child = child->next)
        n++;
    return n < FEW;
}

/* Makes the text up to `to`, or as much as fits, that of the node. */
static size_t set_text(const struct lesson *l, struct path_node *node, size_t to)
{
    size_t n = to - l->from < TRACE_PATH_TEXT ? to - l->from : TRACE_PATH_TEXT;

    node->n = (uint8_t)n;
    memcpy(node->text, l->text.at + l->from, n);
    return n;
}

/* Puts the text up to `to` into the tree. */
static bool learn_put_text(struct lesson *l, struct path_node node, size_t to)
{
    do {
        struct path_node part = {.value = PATH_NONE};
        if (to - l->from <= TRACE_PATH_TEXT)
            part = node;
        l->from += set_text(l, &part, to);
        l->node = put_child(l, &part);
    } while (l->node != NULL && l->from < to);
    return l->node != NULL;
}

static struct path_node value_node(const struct lesson *l, struct str key, size_t value,
                                   bool is_arg)
{
    size_t back = value - (size_t)(key.at - l->text.at);
    bool is_string = l->text.at[value] == '"';
    enum event_member field = is_arg ? EVENT_OTHER : event_member(key);
    enum path_value kind = is_string ? PATH_STRING : PATH_NUMBER;

    if (is_arg)
        kind = is_string ? PATH_ARG_STRING : PATH_ARG_NUMBER;
    else if (field == EVENT_TS)
        kind = PATH_TS;
    else if (field == EVENT_DUR)
        kind = PATH_DUR;
    else if (field == EVENT_NAME && is_string)
        kind = PATH_NAME;
    return (struct path_node){
        .value = (uint8_t)kind,
        .field = (uint8_t)field,
        .is_string = is_string,
        .is_python = is_arg && l->is_python,
        .key_n = (uint16_t)key.n,
        .key_back = (uint16_t)back,
    };
}

/* Puts the text up to `to` into the tree as one with the next `n` constants; false when there are
 * too many that differ. */
static bool put_part(struct lesson *l, struct path_node node, size_t to, uint32_t n)
{
    uint32_t known = l->known;
    bool is_python = l->is_python;

    if (to - l->from > TRACE_PATH_TEXT)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct constant *k = &l->constants[i];
        if (k->is_arg)
            continue;
        size_t quote = l->text.at[k->from] == '"', from = k->from + quote;
        size_t length = k->to - quote - from;
        enum event_member field = event_member(k->key);
        node.constants[node.n_constants++] =
            (struct path_constant){(uint8_t)field, (uint8_t)(to - from), (uint8_t)length};
        if (field == EVENT_CAT)
            is_python = str_equal(str_part(l->text, from, length), PATH_PYTHON);
        known |= (uint32_t)1 << field;
    }
    node.has_lane = (known >> EVENT_PID & 1) != 0 && (known >> EVENT_TID & 1) != 0;
    node.has_cat = (known >> EVENT_CAT & 1) != 0;
    node.is_python = is_python && (node.value == PATH_ARG_STRING || node.value == PATH_ARG_NUMBER);
    set_text(l, &node, to);
    if (find_child(l, &node) == NULL && !has_few_children(l))
        return false;
    l->node = put_child(l, &node);
    l->from = to;
    l->known = known;
    l->is_python = is_python;
    l->n_constants -= n;
    memmove(l->constants, l->constants + n, l->n_constants * sizeof(*l->constants));
    return true;
}

/* Puts the text up to the place reached into the tree with the constants in it. A long one is cut
 * behind constants, with the next byte, as a number may be the beginning of another. False when
 * that does not work; then some of it may be in the tree. */
static bool put_constants(struct lesson *l, struct path_node node)
{
    while (l->node != NULL && l->at - l->from > TRACE_PATH_TEXT) {
        uint32_t n = 0;
        while (n < l->n_constants && l->constants[n].to < l->from + TRACE_PATH_TEXT)
            n++;
        if (n == 0 ||
            !put_part(l, (struct path_node){.value = PATH_NONE}, l->constants[n - 1].to + 1, n))
            return false;
    }
    return l->node == NULL || put_part(l, node, l->at, l->n_constants);
}

/* Puts the text up to the place reached into the tree, with the constants in it: as part of the
 * text where there are few, else as values. */
static bool add_node(struct lesson *l, struct path_node node)
{
    if (l->at - l->from > UINT16_MAX) /* what the lengths of keys hold */
        return false;
    if (put_constants(l, node))
        return l->node != NULL;
    uint32_t n = l->n_constants;
    l->n_constants = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct constant *k = &l->constants[i];
        size_t quote = l->text.at[k->from] == '"';
        if (!learn_put_text(l, value_node(l, k->key, k->from, k->is_arg), k->from + quote))
            return false;
        l->from = k->to - quote;
    }
    node.has_lane = (l->known >> EVENT_PID & 1) != 0 && (l->known >> EVENT_TID & 1) != 0;
    node.has_cat = (l->known >> EVENT_CAT & 1) != 0;
    return learn_put_text(l, node, l->at);
}

static bool is_new_key(struct lesson *l, struct str key)
{
    struct str *keys = l->keys[l->is_in_args];
    uint32_t *n = &l->n_keys[l->is_in_args];

    for (uint32_t i = 0; i < *n; i++)
        if (str_equal(keys[i], key))
            return false;
    if (*n == TRACE_ARGS)
        return false;
    keys[(*n)++] = key;
    return true;
}

static bool pass_value(struct lesson *l)
{
    struct str text;

    if (here(l) == '"')
        return pass_string(l, &text);
    if (here(l) == '-')
        l->at++;
    if (!char_is_digit(here(l)))
        return false;
    while (char_is_digit(here(l)) || here(l) == '.')
        l->at++;
    return true;
}

/* A value that differs from event to event. */
static bool learn_value(struct lesson *l, struct str key)
{
    size_t value = l->at, quote = here(l) == '"';

    l->at += quote;
    if (!add_node(l, value_node(l, key, value, l->is_in_args)))
        return false;
    l->at = value;
    if (!pass_value(l))
        return false;
    l->from = l->at - quote;
    return true;
}

/* A value that has few spellings. */
static bool learn_constant(struct lesson *l, struct str key)
{
    struct constant *k = &l->constants[l->n_constants];

    *k = (struct constant){.from = l->at, .key = key, .is_arg = l->is_in_args};
    if (!pass_value(l))
        return false;
    k->to = l->at;
    l->n_constants++;
    return true;
}

/* What tells about processes and threads comes once for each: it must not take the places of those
 * that come often. */
static bool is_constant(const struct lesson *l, struct str key)
{
    if (l->known_ph == 'M' || l->n_constants == ARRAY_LEN(l->constants))
        return false;
    if (l->is_in_args)
        return trace_argument(l->dialect, key).action == ARG_SKIP_FEW;
    /* Names of arrows are of no use; those of other events are many. */
    bool is_arrow = l->ph == 's' || l->ph == 't' || l->ph == 'f';
    enum event_member field = event_member(key);
    return field == EVENT_PID || field == EVENT_TID || field == EVENT_CAT ||
           (field == EVENT_NAME && is_arrow);
}

static bool learn_member(struct lesson *l)
{
    struct str key, text;

    if (!pass_string(l, &key) || key.n == 0 || memchr(key.at, '\\', key.n) != NULL ||
        !is_new_key(l, key) || !pass(l, ':'))
        return false;
    if (!l->is_in_args && (str_equal(key, S("ph")) || str_equal(key, S("bp")))) {
        /* A value that tells layouts apart. */
        if (!pass_string(l, &text) || text.n != 1 || text.at[0] == '\\')
            return false;
        if (key.at[0] == 'p')
            l->ph = text.at[0];
        return true;
    }
    if (!l->is_in_args && str_equal(key, S("args"))) {
        if (!pass(l, '{'))
            return false;
        l->is_in_args = true;
        if (here(l) != '}')
            return learn_member(l);
        return true;
    }
    if (is_constant(l, key))
        return learn_constant(l, key);
    return learn_value(l, key);
}

void trace_paths_learn(struct trace_paths *t, enum trace_dialect dialect, struct str event, char ph)
{
    struct lesson l = {
        .paths = t, .dialect = dialect, .node = &t->nodes[0], .text = event, .known_ph = ph};

    if (t->n == TRACE_PATH_NODES || !pass(&l, '{'))
        return;
    do {
        if (!learn_member(&l))
            return;
        learn_skip_blanks(&l);
        if (l.is_in_args && here(&l) == '}') {
            l.is_in_args = false;
            l.at++;
        }
    } while (pass(&l, ','));
    l.at++;
    if (l.at == event.n && event.at[l.at - 1] == '}' && !l.is_in_args && l.ph != 0)
        add_node(&l, (struct path_node){.value = PATH_END, .ph = l.ph});
}
