#include "kernels/incore/device.h"

#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/testing.h"

static const struct {
    uint8_t type;
    struct str text;
} blocks[] = {
    {BIN_BASE_INFO,
     S_INIT("{\"advice\":[\"one\"],\"block_dim\":\"2\",\"duration\":300.5,"
            "\"mix_block_detail\":{\"row\":[{\"value\":[\"0\"]}]},"
            "\"name\":\"mat\\u006dul\",\"op_type\":\"mix\",\"soc\":\"Ascend910B4\"}")},
    {BIN_LOAD_GRAPH,
     S_INIT("{\"subblock_detail\":[{\"block_id\":\"0\",\"block_type\":\"cube0\",\"name\":\"Cube\","
            "\"origin_value\":460.0,\"unit\":3,\"value\":11.5},{\"block_id\":\"1\"}]}")},
    {BIN_MEMORY_GRAPH, S_INIT("{\"core_memory_map\":[{\"Cube\":{\"cycle\":1},\"advice\":[\"one\","
                              "\"two\"]}]}")},
    {BIN_CORE_LOAD, S_INIT("{\"advice\":\"\\t1) slow\\n\\t2) cold\\n\",\"op_detail\":[{"
                           "\"core_detail\":[{\"L2cache_hit_rate\":\"85.5\",\"cycles\":\"2197\","
                           "\"subcore_id\":\"1\",\"subcore_type\":\"vector\",\"throughput\":"
                           "\"264\"}],\"core_id\":3}]}")},
};

TEST(blocks_of_a_device_tell_kernel_loads_cores_and_advice)
{
    struct incore_device d;

    incore_device_init(&d);
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        incore_device_add(&d, blocks[i].type, blocks[i].text);
    assert_int_equal(d.damaged, 0);
    assert_str(d.name, "matmul");
    assert_str(d.soc, "Ascend910B4");
    assert_str(d.blocks, "2");
    assert_true(d.us == 300.5);
    assert_int_equal(d.loads.n, 2);
    assert_str(d.loads.at[0].unit, "cube0");
    assert_true(d.loads.at[0].percent == 11.5 && d.loads.at[0].cycles == 460);
    assert_int_equal(d.cores.n, 1);
    assert_int_equal(d.cores.at[0].core, 3);
    assert_str(d.cores.at[0].unit, "vector1");
    assert_str(d.cores.at[0].bytes, "264");
    assert_int_equal(d.advice.n, 4); /* "one" was given twice */
    assert_str(d.advice.at[2], "1) slow");
    incore_device_free(&d);
}

/* Any byte may be anything, any end may be cut off: nothing breaks. */
TEST(damage_costs_itself)
{
    uint64_t damaged = 0;

    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
        struct str text = blocks[i].text;
        for (size_t k = 0; k < text.n; k++) {
            struct incore_device d;
            char *copy = malloc(text.n);
            memcpy(copy, text.at, text.n);
            incore_device_init(&d);
            for (int value = 0; value < 256; value += 5) {
                copy[k] = (char)value;
                incore_device_add(&d, blocks[i].type, (struct str){copy, text.n});
            }
            incore_device_add(&d, blocks[i].type, str_part(text, 0, k));
            damaged += d.damaged;
            incore_device_free(&d);
            free(copy);
        }
    }
    assert_true(damaged > 100);
}

TEST_MAIN("kernels/incore/device", T(blocks_of_a_device_tell_kernel_loads_cores_and_advice),
          T(damage_costs_itself))
