// kernel: void scale<4>(const float *, float *, int)
// samples: 100
// top 1: line 5, 90.0 %, stall_long_sb
// top 2: line 6, 10.0 %, stall_wait
        |                |                          | __global__ void scale(const float *a, float *b, int n)
  90.0% |           2048 | stall_long_sb            |     float v = a[i];
  10.0% |           1024 | stall_wait               |     b[i] = v * 4; // "done"
