/*
 * Graphs and their kernels. See launch.h.
 */
#include "gpu/inject/launch.h"

#include <stdlib.h>
#include <string.h>

enum {
    GRAPHS_MOST = 1024,
    NODES_MOST = 1 << 16,
    STEPS_MOST = 1024,
    EDGES_MOST = 1 << 14,
    DEPTH_MOST = 8,
};

struct graph_step {
    void *node;
    bool is_kernel;
};

struct graph {
    const void *exec; /* NULL: free */
    struct graph_kernel *kernels;
    size_t n, room;
    bool is_known;
    const void *source; /* the graph it was made of */
    struct graph_step *steps;
    size_t n_steps;
};

static struct {
    pthread_mutex_t lock;
    struct graph at[GRAPHS_MOST];
} graphs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const uint32_t makes[] = {
    DRIVER_GRAPH_READY_1,    DRIVER_GRAPH_READY_2,  DRIVER_GRAPH_READY_FLAGS, DRIVER_GRAPH_READY,
    DRIVER_GRAPH_READY_PTSZ, DRIVER_GRAPH_UPDATE_1, DRIVER_GRAPH_UPDATE,
};
static const uint32_t changes[] = {DRIVER_GRAPH_SET_KERNEL_1, DRIVER_GRAPH_SET_KERNEL,
                                   DRIVER_GRAPH_ENABLE,       DRIVER_GRAPH_ENDS,
                                   DRIVER_GRAPH_SOURCE_ENDS,  DRIVER_GRAPH_NODE_ENDS};

static bool is_in(const uint32_t *ids, size_t n, uint32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

void graph_subscribe(struct inject_session *s)
{
    for (size_t i = 0; i < ARRAY_LEN(makes); i++)
        s->cupti.EnableCallback(1, s->subscriber, DOMAIN_DRIVER, makes[i]);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++)
        s->cupti.EnableCallback(1, s->subscriber, DOMAIN_DRIVER, changes[i]);
}

/* ---- one graph ---- */

/* A name for each function once: graphs of a program have few. */
static const char *kept_name(const char *name)
{
    enum { NAMES_MOST = 4096 };
    static char *names[NAMES_MOST];

    for (size_t i = 0; i < NAMES_MOST; i++) {
        if (names[i] == NULL)
            names[i] = strdup(name);
        if (names[i] == NULL || strcmp(names[i], name) == 0)
            return names[i];
    }
    return NULL;
}

static bool graphs_add_kernel(const struct cuda *cuda, struct graph *g, void *node)
{
    struct cuda_graph_kernel params = {0};
    const char *name = NULL;

    if (cuda->graph_kernel(node, &params) != 0)
        return false;
    if (params.function != NULL && cuda->func_name != NULL)
        cuda->func_name(&name, params.function);
    if (name == NULL && params.kernel != NULL && cuda->kernel_name != NULL)
        cuda->kernel_name(&name, params.kernel);
    if (name == NULL || (name = kept_name(name)) == NULL)
        return false;
    if (g->n == g->room) {
        size_t room = g->room > 0 ? 2 * g->room : 64;
        struct graph_kernel *kernels = realloc(g->kernels, room * sizeof(*kernels));
        if (kernels == NULL)
            return false;
        g->kernels = kernels;
        g->room = room;
    }
    struct graph_kernel *k = &g->kernels[g->n++];
    k->name = name;
    memcpy(k->grid, params.grid, sizeof(k->grid));
    memcpy(k->block, params.block, sizeof(k->block));
    k->shared = params.shared;
    return true;
}

/* Adds the kernels of a graph and of those inside of it. False when one cannot be known. */
static bool walk(const struct cuda *cuda, struct graph *g, void *graph, int depth)
{
    size_t n = 0;
    void **nodes = NULL, *inner = NULL;
    bool is_known = depth < DEPTH_MOST && cuda->graph_nodes(graph, NULL, &n) == 0 &&
                    n <= NODES_MOST && (nodes = calloc(n + 1, sizeof(*nodes))) != NULL &&
                    cuda->graph_nodes(graph, nodes, &n) == 0;

    for (size_t i = 0; i < n && is_known; i++) {
        uint32_t type = NODE_CONDITIONAL;
        is_known = cuda->graph_node_type(nodes[i], &type) == 0 && type != NODE_CONDITIONAL;
        if (is_known && type == NODE_KERNEL)
            is_known = graphs_add_kernel(cuda, g, nodes[i]);
        else if (is_known && type == NODE_GRAPH)
            is_known = cuda->graph_child(nodes[i], &inner) == 0 && walk(cuda, g, inner, depth + 1);
    }
    free(nodes);
    return is_known;
}

/* ---- node by node ---- */

/* Whether no node comes before one that it waits for. */
static bool is_in_order(const struct cuda *cuda, void *graph, void *const *nodes, size_t n)
{
    size_t edges = 0;
    void **from = NULL;
    bool is_good = cuda->graph_edges(graph, NULL, NULL, &edges) == 0 && edges <= EDGES_MOST &&
                   (from = calloc(2 * edges + 1, sizeof(*from))) != NULL &&
                   cuda->graph_edges(graph, from, from + edges, &edges) == 0;

    for (size_t i = 0; i < edges && is_good; i++) {
        size_t first = 0, then = 0;
        while (first < n && nodes[first] != from[i])
            first++;
        while (then < n && nodes[then] != from[edges + i])
            then++;
        is_good = first < then && then < n;
    }
    free(from);
    return is_good;
}

/* Only a graph whose nodes run one after another can be launched node by node, and only of kinds
 * that can be switched off one by one; any other is measured as a whole. */
static void graphs_find_steps(const struct cuda *cuda, struct graph *g, void *graph)
{
    void *nodes[STEPS_MOST];
    size_t n = 0, steps = 0;

    if (cuda->graph_edges == NULL || cuda->graph_enable == NULL || cuda->graph_launch == NULL ||
        cuda->graph_nodes(graph, NULL, &n) != 0 || n > STEPS_MOST ||
        cuda->graph_nodes(graph, nodes, &n) != 0 || !is_in_order(cuda, graph, nodes, n))
        return;
    free(g->steps);
    g->steps = calloc(n + 1, sizeof(*g->steps));
    for (size_t i = 0; i < n && g->steps != NULL; i++) {
        uint32_t type = NODE_CONDITIONAL;
        if (cuda->graph_node_type(nodes[i], &type) != 0 ||
            (type != NODE_KERNEL && type != NODE_COPY && type != NODE_FILL && type != NODE_EMPTY))
            return;
        if (type != NODE_EMPTY)
            g->steps[steps++] = (struct graph_step){nodes[i], type == NODE_KERNEL};
    }
    g->n_steps = g->steps != NULL ? steps : 0;
}

static void forget_source(const void *graph, const void *node)
{
    for (size_t i = 0; i < GRAPHS_MOST; i++) {
        struct graph *g = &graphs.at[i];
        bool is_its = g->source != NULL && g->source == graph;
        for (size_t k = 0; k < g->n_steps && !is_its; k++)
            is_its = g->steps[k].node == node;
        if (is_its)
            g->n_steps = 0;
    }
}

/* ---- all graphs ---- */

static struct graph *graphs_find(const void *exec)
{
    for (size_t i = 0; i < GRAPHS_MOST; i++)
        if (graphs.at[i].exec == exec)
            return &graphs.at[i];
    return NULL;
}

static void graphs_record(const struct cuda *cuda, const void *exec, void *graph, bool is_update)
{
    struct graph *g = graphs_find(exec);

    if (g == NULL && (g = graphs_find(NULL)) == NULL)
        return;
    g->exec = exec;
    g->n = 0;
    g->n_steps = 0;
    g->source = graph;
    g->is_known = walk(cuda, g, graph, 0);
    if (g->is_known && !is_update)
        graphs_find_steps(cuda, g, graph);
}

static void change(const void *exec, bool has_ended)
{
    struct graph *g = graphs_find(exec);

    if (g == NULL)
        return;
    g->is_known = false;
    g->n_steps = 0;
    if (has_ended)
        g->exec = NULL;
}

bool graph_follow(struct inject_session *s, uint32_t id, const struct cupti_callback_data *data)
{
    const struct cuda *cuda = &s->cuda;
    const struct cuda_graph_made *made = data->params;
    bool is_made = is_in(makes, ARRAY_LEN(makes), id);

    if (!is_made && !is_in(changes, ARRAY_LEN(changes), id))
        return false;
    if (id == DRIVER_GRAPH_SOURCE_ENDS || id == DRIVER_GRAPH_NODE_ENDS) {
        pthread_mutex_lock(&graphs.lock);
        if (made != NULL)
            forget_source(id == DRIVER_GRAPH_SOURCE_ENDS ? made->exec : NULL,
                          id == DRIVER_GRAPH_NODE_ENDS ? made->exec : NULL);
        pthread_mutex_unlock(&graphs.lock);
        return true;
    }
    bool is_update = id == DRIVER_GRAPH_UPDATE || id == DRIVER_GRAPH_UPDATE_1;
    bool has_failed = data->result != NULL && *(const int *)data->result != 0;
    bool can_walk = cuda->graph_nodes != NULL && cuda->graph_node_type != NULL &&
                    cuda->graph_kernel != NULL && cuda->graph_child != NULL;
    if (data->site != 1 || made == NULL || has_failed || !can_walk)
        return true;
    pthread_mutex_lock(&graphs.lock);
    if (is_made && is_update)
        graphs_record(cuda, made->exec, made->graph, true);
    else if (is_made && made->exec != NULL)
        graphs_record(cuda, *(void *const *)made->exec, made->graph, false);
    else if (!is_made)
        change(made->exec, id == DRIVER_GRAPH_ENDS);
    pthread_mutex_unlock(&graphs.lock);
    return true;
}

const struct graph_kernel *graph_kernels(const void *exec, size_t *n)
{
    const struct graph_kernel *kernels = NULL;

    pthread_mutex_lock(&graphs.lock);
    const struct graph *g = exec != NULL ? graphs_find(exec) : NULL;
    if (g != NULL && g->is_known) {
        kernels = g->kernels;
        *n = g->n;
    }
    pthread_mutex_unlock(&graphs.lock);
    return kernels;
}

/* The graph, if it can be run node by node. */
static struct graph *separable(const void *exec)
{
    struct graph *g = exec != NULL ? graphs_find(exec) : NULL;

    return g != NULL && g->is_known && g->n_steps > 0 ? g : NULL;
}

size_t graph_steps(const void *exec)
{
    pthread_mutex_lock(&graphs.lock);
    const struct graph *g = separable(exec);
    size_t n = g != NULL ? g->n_steps : 0;
    pthread_mutex_unlock(&graphs.lock);
    return n;
}

bool graph_step_is_kernel(const void *exec, size_t step)
{
    pthread_mutex_lock(&graphs.lock);
    const struct graph *g = separable(exec);
    bool is_kernel = g != NULL && step < g->n_steps && g->steps[step].is_kernel;
    pthread_mutex_unlock(&graphs.lock);
    return is_kernel;
}

/* Switches steps on and off from `first` to before `end`. */
static bool set_steps(const struct cuda *cuda, void *exec, size_t first, size_t end, bool is_on)
{
    pthread_mutex_lock(&graphs.lock);
    const struct graph *g = separable(exec);
    bool is_good = g != NULL;
    for (size_t i = first; is_good && i < end && i < g->n_steps; i++)
        is_good = cuda->graph_enable(exec, g->steps[i].node, is_on) == 0;
    pthread_mutex_unlock(&graphs.lock);
    return is_good;
}

bool graph_only(const struct cuda *cuda, void *exec, size_t step)
{
    if (step == 0)
        return set_steps(cuda, exec, 0, 1, true) && set_steps(cuda, exec, 1, SIZE_MAX, false);
    return set_steps(cuda, exec, step - 1, step, false) &&
           set_steps(cuda, exec, step, step + 1, true);
}

void graph_rest(const struct cuda *cuda, void *exec, size_t step)
{
    set_steps(cuda, exec, 0, step, false);
    set_steps(cuda, exec, step, SIZE_MAX, true);
}
