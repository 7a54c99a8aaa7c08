// Contexts of both runtimes: one has block_idx, the other s_block_idx.
#pragma once
#include <cstdint>
#ifdef STUB_A5
struct LocalContext {
    int32_t s_block_idx, s_block_num;
};
#else
struct LocalContext {
    int32_t block_idx, block_num;
};
#endif
struct GlobalContext {
    int32_t sub_block_id;
};
