extern "C" __global__ AICORE void g(__gm__ half* a, const __gm__ pto::x *b, int n) {}
AICORE void k_aic(__gm__ half* v1, int64_t v4) {}
AICORE void k_aiv(__gm__ half* v1, int64_t v4, int32_t v5) {}
unknown type name '__biasbuf__' cannot find -lruntime_camodel
