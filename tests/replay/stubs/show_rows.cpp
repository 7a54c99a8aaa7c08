// launch_replay() of a test: prints every row it is given, tensors with their first bytes.
#include <cinttypes>
#include <cstdio>
#include "pto_orchestration_api.h"
using Descriptor = decltype(make_tensor_external(nullptr, nullptr, 1, DataType::FLOAT32));
static void show(const char *side, const int64_t *row, int r) {
    printf("%s %d:", side, r);
    for (int i = 0; i < 50; ++i) {
        bool is_tensor = false;
        const int tensors[] = {TENSORS};
        for (int t : tensors) is_tensor = is_tensor || t == i;
        if (is_tensor) {
            const Descriptor *t = reinterpret_cast<const Descriptor *>(row[i]);
            printf(" %d=T%u[", i, static_cast<unsigned>(t->dtype));
            for (uint32_t k = 0; k < t->ndims; ++k) printf("%s%u", k ? "," : "", t->shapes[k]);
            printf("]");
#ifndef STUB_NO_STRIDES
            if (!t->is_contiguous) {
                printf("(");
                for (uint32_t k = 0; k < t->ndims; ++k) printf("%s%u", k ? "," : "", t->strides[k]);
                printf(")");
            }
#endif
            if (t->start_offset != 0) printf("+%" PRIu64, t->start_offset);
            printf(":");
            for (int k = 0; k < 8; ++k) printf("%02x", reinterpret_cast<unsigned char *>(t->buffer.addr)[k]);
        } else if (i == 48 && row[i] != 0) {
            const int32_t *c = reinterpret_cast<const int32_t *>(row[i]);
            printf(" block=%d/%d", c[0], c[1]);
        } else if (i == 49 && row[i] != 0) {
            printf(" sub=%d", *reinterpret_cast<const int32_t *>(row[i]));
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
