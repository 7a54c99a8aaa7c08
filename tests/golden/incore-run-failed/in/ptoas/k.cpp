AICORE void k(__gm__ float *a) {}
