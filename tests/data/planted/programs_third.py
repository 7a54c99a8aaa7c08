"""A third set of programs, written without a look at the rules."""
from parts import blocks, case, graphed, mlp, randn


@case("healthy|compute_bound|host_sync", "", "")
def item_compute_bound(sick):
    import torch
    a = randn(8192, 8192)
    def step():
        y = a
        for _ in range(12):
            y = torch.mm(y, a) * 0.01
        float(y[0, 0].item())
    return step


@case("host_sync|launch_bound", "norm of every gradient read on the host", "one fused clip")
def clip_by_hand(sick):
    import torch
    net, x = blocks(1024, 8, torch.bfloat16), randn(8, 256, 1024)
    opt = torch.optim.SGD(net.parameters(), lr=1e-4, fused=True)
    def step():
        net(x).square().mean().backward()
        if sick:
            total = sum(p.grad.norm().item() ** 2 for p in net.parameters()) ** 0.5
            for p in net.parameters():
                p.grad.mul_(min(1.0, 1.0 / (total + 1e-6)))
        else:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=True)
        opt.step(); opt.zero_grad()
    return step


@case("elementwise_unfused", "RMS norm and rotary written by hand in fp32", "compiled")
def norm_by_hand(sick):
    import torch
    x, w, cos, sin = randn(16, 2048, 4096), randn(4096), randn(2048, 4096), randn(2048, 4096)
    def work(x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        h = (h * w.float()).to(x.dtype)
        y = h * cos + torch.cat((-h[..., 2048:], h[..., :2048]), -1) * sin
        return torch.sigmoid(y) * y + x
    f = work if sick else torch.compile(work)
    @torch.no_grad()
    def step():
        f(x); f(x)
    return step


@case("input_pipeline|host_untraced", "a loader whose one worker decodes too slowly", "eight workers")
def one_worker(sick):
    import torch
    class Data(torch.utils.data.Dataset):
        def __len__(self): return 100000
        def __getitem__(self, i):
            g = torch.Generator().manual_seed(i)
            x = torch.rand(3, 224, 224, generator=g)
            for _ in range(2):
                x = torch.sin(x)
            return x
    loader = iter(torch.utils.data.DataLoader(Data(), batch_size=32, num_workers=1 if sick else 10, pin_memory=True, prefetch_factor=2))
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 7, 2), torch.nn.ReLU(), torch.nn.Conv2d(64, 128, 3, 2), torch.nn.ReLU()).to("cuda", torch.bfloat16)
    @torch.no_grad()
    def step():
        net(next(loader).to("cuda", non_blocking=True).to(torch.bfloat16))
    return step


@case("host_untraced|python_overhead|cpu_operator", "statistics with NumPy between the steps", "kept on the device")
def numpy_between(sick):
    import torch, numpy
    net, x = blocks(1024, 4, torch.bfloat16), randn(16, 512, 1024)
    values = numpy.random.rand(400000)
    @torch.no_grad()
    def step():
        net(x)
        if sick:
            numpy.sort(values * 1.5).cumsum()
    return step


@case("pageable_copy", "images copied from pageable memory", "pinned and asynchronous")
def images_unpinned(sick):
    import torch
    host = torch.rand(128, 3, 256, 256)
    if not sick:
        host = host.pin_memory()
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 96, 4, 4), torch.nn.GELU(), torch.nn.Conv2d(96, 192, 2, 2)).to("cuda", torch.bfloat16)
    @torch.no_grad()
    def step():
        net(host.to("cuda", non_blocking=not sick).to(torch.bfloat16))
    return step


@case("copy_unneeded|pageable_copy|copy_exposed", "hidden states copied to the host every step", "their mean alone")
def states_to_host(sick):
    import torch
    net, x = blocks(1024, 6, torch.bfloat16), randn(32, 512, 1024)
    kept = []
    @torch.no_grad()
    def step():
        y = net(x)
        kept[:] = [y.cpu() if sick else y.mean((0, 1))]
    return step


@case("optimizer_unfused|launch_bound", "RMSprop with momentum, tensor by tensor", "foreach")
def rmsprop_loop(sick):
    import torch
    net, x = blocks(512, 12, torch.float32, 8), torch.randn(8, 128, 512, device="cuda")
    torch.backends.cuda.matmul.allow_tf32 = True
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-5, momentum=0.9, foreach=not sick)
    def step():
        net(x).square().mean().backward()
        opt.step(); opt.zero_grad()
    return step


@case("launch_bound", "a small convolution net run eagerly at batch 1", "captured as a graph")
def small_convs(sick):
    import torch
    layers = []
    for _ in range(24):
        layers += [torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers).to("cuda", torch.bfloat16).eval()
    x = randn(1, 64, 28, 28)
    def work():
        net(x)
    if not sick:
        return graphed(work)
    @torch.no_grad()
    def step():
        work()
    return step


@case("attention_unfused|gemm_no_tensor_core", "attention in fp32, product by product", "fused in bf16")
def attention_fp32(sick):
    import torch
    t = torch.float32 if sick else torch.bfloat16
    q, k, v = (randn(4, 16, 1024, 64, dtype=t) for _ in range(3))
    @torch.no_grad()
    def step():
        for _ in range(4):
            if sick:
                w = torch.softmax(torch.bmm(q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2)) / 8, -1)
                torch.bmm(torch.dropout(w, 0.1, True), v.flatten(0, 1))
            else:
                torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return step


@case("index_sort_heavy", "the best 50 of a large vocabulary by argsort", "top-k")
def rank_by_sort(sick):
    import torch
    scores = torch.randn(64, 128000, device="cuda")
    head, h = randn(1024, 2048), randn(4096, 1024)
    @torch.no_grad()
    def step():
        for _ in range(3):
            h @ head
            (scores.argsort(-1, descending=True)[:, :50] if sick else scores.topk(50, -1)[1])
    return step


@case("compilation", "a compiled model meets a new shape in every step", "marked dynamic")
def shapes_compiled(sick):
    import torch
    net = mlp(512, 3, torch.bfloat16)
    torch._dynamo.config.cache_size_limit = 1000
    torch._dynamo.config.recompile_limit = 1000
    f = torch.compile(net, dynamic=not sick)
    n = iter(range(64, 10000, 8))
    @torch.no_grad()
    def step():
        f(randn(next(n), 512))
    return step


@case("slow_step_same_work|slow_step_more_work|host_untraced", "every fifth step writes a file", "never")
def log_now_and_then(sick):
    import torch, os
    net, x, n = blocks(1024, 6, torch.bfloat16), randn(16, 512, 1024), iter(range(1 << 20))
    @torch.no_grad()
    def step():
        net(x)
        if sick and next(n) % 5 == 0:
            with open("/tmp/log", "wb") as f:
                for _ in range(40):
                    f.write(b"x" * 400000); f.flush(); os.fsync(f.fileno())
    return step


@case("layout_copies", "heads permuted and made contiguous around every product", "einsum on views")
def permuted_heads(sick):
    import torch
    x, w = randn(32, 1024, 2048), randn(2048, 2048)
    @torch.no_grad()
    def step():
        y = x
        for _ in range(4):
            if sick:
                y = y.view(32, 1024, 16, 128).permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3).contiguous().view(32, 1024, 2048)
                y = y.transpose(0, 1).contiguous().transpose(0, 1).contiguous()
            y = y @ w * 0.02
    return step


@case("allocator|launch_bound", "pinned buffers allocated anew and freed in every step", "allocated once")
def host_buffers(sick):
    import torch
    net, x = mlp(2048, 6, torch.bfloat16), randn(2048, 2048)
    kept = torch.empty(64 << 20, dtype=torch.uint8, pin_memory=True)
    rt = torch.cuda.cudart()
    @torch.no_grad()
    def step():
        net(x)
        if sick:
            b = torch.empty(48 << 20, dtype=torch.uint8)
            rt.cudaHostRegister(b.data_ptr(), b.numel(), 0)
            rt.cudaHostUnregister(b.data_ptr())
    return step


@case("gemm_inefficient|launch_bound", "a product for every row of a batch", "one batched product")
def thin_products(sick):
    import torch
    x, w = randn(64, 16, 4096), randn(4096, 4096)
    @torch.no_grad()
    def step():
        if sick:
            for i in range(64):
                x[i] @ w
        else:
            x @ w
    return step


@case("healthy|compute_bound|memory_bound", "", "")
def healthy_compiled_training(sick):
    import torch
    net, x = blocks(2048, 4, torch.bfloat16), randn(16, 1024, 2048)
    net = torch.compile(net)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=True)
    def step():
        net(x).square().mean().backward()
        opt.step(); opt.zero_grad(set_to_none=True)
    return step


@case("healthy|memory_bound|compute_bound", "", "")
def healthy_bandwidth(sick):
    import torch
    xs = [randn(1 << 28) for _ in range(4)]
    @torch.no_grad()
    def step():
        for i in range(3):
            torch.add(xs[i], xs[i + 1], out=xs[3])
    return step
