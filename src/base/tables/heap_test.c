#include "base/tables/heap.h"

#include "base/str.h"
#include "base/testing.h"

struct item {
    int64_t key;
    uint32_t id;
};

ORDER_BY(by_key, struct item, ORDER(x->key, y->key) ?: ORDER(x->id, y->id));

enum { N = 200 };

/* Takes them all: each is the least of those that are left. */
static void pop_in_order(struct item *heap, size_t n)
{
    struct item last = heap[0];

    while (n > 0) {
        assert_true(by_key(&last, &heap[0]) <= 0);
        last = heap[0];
        heap[0] = heap[--n];
        heap_sink(heap, n, sizeof(*heap), 0, by_key);
    }
}

TEST(any_order_becomes_a_heap)
{
    struct item heap[N];
    unsigned random = 1;

    for (uint32_t i = 0; i < N; i++)
        heap[i] = (struct item){(int64_t)((random = random * 1103515245 + 12345) >> 8) % 50, i};
    for (size_t i = N / 2; i-- > 0;)
        heap_sink(heap, N, sizeof(*heap), i, by_key);
    pop_in_order(heap, N);
}

TEST(elements_come_one_by_one)
{
    struct item heap[N];

    for (uint32_t i = 0; i < N; i++) {
        heap[i] = (struct item){(N - i) * 7 % 31, i};
        heap_rise(heap, sizeof(*heap), i, by_key);
    }
    pop_in_order(heap, N);
}

TEST_MAIN("base/tables/heap", T(any_order_becomes_a_heap), T(elements_come_one_by_one))
