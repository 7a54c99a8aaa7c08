// launch_replay() of a test: prints every row it is given, tensors with their first bytes.
#include <cinttypes>
#include <cstdio>
#include "pto_orchestration_api.h"
#include "intrinsic.h"
static void show(const char *side, const int64_t *row, int r) {
    printf("%s %d:", side, r);
    for (int i = 0; i < 50; ++i) {
        bool is_tensor = false;
        const int tensors[] = {TENSORS};
        for (int t : tensors) is_tensor = is_tensor || t == i;
        if (is_tensor) {
            const Tensor *t = reinterpret_cast<const Tensor *>(row[i]);
            printf(" %d=T%u[", i, static_cast<unsigned>(t->type));
            for (uint32_t k = 0; k < t->ndims; ++k) printf("%s%u", k ? "," : "", t->shape[k]);
            printf("]:");
            for (int k = 0; k < 8; ++k) printf("%02x", static_cast<unsigned char *>(t->data)[k]);
        } else if (i == 48 && row[i] != 0) {
            const LocalContext *c = reinterpret_cast<const LocalContext *>(row[i]);
#ifdef STUB_A5
            printf(" block=%d/%d", c->s_block_idx, c->s_block_num);
#else
            printf(" block=%d/%d", c->block_idx, c->block_num);
#endif
        } else if (i == 49 && row[i] != 0) {
            printf(" sub=%d", reinterpret_cast<const GlobalContext *>(row[i])->sub_block_id);
        } else if (row[i] != 0) {
            printf(" %d=%" PRId64, i, row[i]);
        }
    }
    printf("\n");
}
#ifdef STUB_MIX
extern "C" void launch_replay(void *aic_args, void *aiv_args, void *) {
    for (int r = 0; r < BLOCKS; ++r) show("aic", static_cast<int64_t *>(aic_args) + r * 50, r);
    for (int r = 0; r < 2 * BLOCKS; ++r) show("aiv", static_cast<int64_t *>(aiv_args) + r * 50, r);
}
#else
extern "C" void launch_replay(void *args, void *) { show("one", static_cast<int64_t *>(args), 0); }
#endif
