"""The first programs with one planted problem each; the limits of the diagnosis were chosen on these."""
import gc
import io
import threading
import time

from parts import blocks, case, graphed, mlp, randn


# --- host side ---------------------------------------------------------------------------------

@case("input_pipeline|cpu_operator|host_untraced", "DataLoader without workers, slow decoding", "eight workers, pinned")
def loader_no_workers(sick):
    import torch

    class Pictures(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, i):
            g = torch.Generator().manual_seed(i)
            x = torch.randint(0, 255, (3, 160, 160), generator=g, dtype=torch.uint8).float()
            return torch.nn.functional.interpolate(x[None], size=224, mode="bilinear")[0] / 255

    torch.set_num_threads(1)
    loader = iter(torch.utils.data.DataLoader(Pictures(), batch_size=16, num_workers=0 if sick else 8,
                                              pin_memory=not sick, persistent_workers=not sick,
                                              prefetch_factor=None if sick else 8))
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 7, 2), torch.nn.ReLU(), torch.nn.Conv2d(64, 128, 3, 2),
                              torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(256)).to("cuda", torch.bfloat16)

    def step():
        x = next(loader).to("cuda", non_blocking=True).to(torch.bfloat16)
        net(x).float().square().mean().backward()
        net.zero_grad()
    return step


@case("input_pipeline|host_untraced", "DataLoader with one worker that is too slow", "eight workers")
def loader_slow_worker(sick):
    import torch

    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, i):
            text = "".join(chr(97 + (i * 7 + j * j) % 26) for j in range(6000))
            return torch.tensor([ord(c) % 64 for c in text[:1024]])

    loader = iter(torch.utils.data.DataLoader(Tokens(), batch_size=32, num_workers=1 if sick else 12,
                                              pin_memory=True, prefetch_factor=4))
    table = torch.nn.Embedding(64, 1024).to("cuda", torch.bfloat16)
    net = blocks(1024, 2, torch.bfloat16)

    def step():
        x = table(next(loader).to("cuda", non_blocking=True))
        net(x).float().mean().backward()
        net.zero_grad()
        table.zero_grad()
    return step


@case("host_sync|launch_bound", "`.item()` of every layer's norm, for a log", "norms stay on the device, one read a step")
def item_per_layer(sick):
    import torch
    net = blocks(2048, 8, torch.bfloat16)
    x = randn(4, 512, 2048)

    def step():
        y, seen = x, []
        for layer in net:
            y = layer(y)
            size = y.float().norm()
            seen.append(size.item() if sick else size)
        if not sick:
            torch.stack(seen).tolist()
    return step


@case("launch_bound", "`torch.cuda.synchronize()` around every matrix product, to time it", "CUDA events")
def sync_for_timing(sick):
    import torch
    a = [randn(1024, 1024) for _ in range(60)]
    events = [torch.cuda.Event(enable_timing=True) for _ in range(120)]

    def step():
        total = 0.0
        for i, m in enumerate(a):
            if sick:
                torch.cuda.synchronize()
                start = time.perf_counter()
            else:
                events[2 * i].record()
            torch.relu(m @ m)
            if sick:
                torch.cuda.synchronize()
                total += time.perf_counter() - start
            else:
                events[2 * i + 1].record()
        return total
    return step


@case("host_untraced|python_overhead", "`gc.collect()` of a million objects every step", "without")
def gc_every_step(sick):
    import torch
    net, x = mlp(2048, 8, torch.bfloat16), randn(2048, 2048)
    objects = [[i] for i in range(1000000)]

    def step():
        net(x)
        if sick:
            gc.collect()
        return len(objects)
    return step


@case("host_untraced|python_overhead", "scores of beams kept in Python lists", "on the device")
def python_beams(sick):
    import torch
    net, x = mlp(4096, 4, torch.bfloat16), randn(2048, 4096)

    def step():
        y = net(x)
        if sick:
            beams = [(i * 2654435761 % 1000003, i) for i in range(60000)]
            best = sorted(beams)[:64]
            index = torch.tensor([b[1] % 2048 for b in best], device="cuda")
        else:
            index = y[:, 0].topk(64).indices
        return y[index].sum()
    return step


@case("cpu_operator|copy_unneeded|host_sync", "sampling on the CPU", "on the device")
def sample_on_cpu(sick):
    import torch
    net, head = mlp(2048, 6, torch.bfloat16), torch.nn.Linear(2048, 50257).to("cuda", torch.bfloat16)
    x = randn(64, 2048)

    def step():
        logits = head(net(x)).float()
        if sick:
            logits = logits.cpu()
        p = torch.softmax(logits, -1)
        return torch.multinomial(p, 1).to("cuda")
    return step


@case("compilation", "compiled function that is compiled again for every length", "marked dynamic")
def recompile(sick):
    import torch
    torch._dynamo.config.cache_size_limit = 1000
    scale = torch.randn(1024, device="cuda")

    def work(x):
        return torch.nn.functional.gelu(x * scale + 1).square().mean(-1)

    compiled = torch.compile(work, dynamic=not sick)
    lengths = iter(range(512, 1 << 20, 8))

    def step():
        x = torch.randn(8, next(lengths), 1024, device="cuda")
        for _ in range(20):
            compiled(x)
    return step


@case("launch_bound|host_untraced|python_overhead", "two threads that launch small kernels and fight for the interpreter", "one thread, one graph")
def two_threads(sick):
    import torch
    a = [torch.randn(64, 1024, device="cuda") for _ in range(2)]

    def work(x):
        for _ in range(400):
            x = x * 1.0001 + 0.5
        return x

    if not sick:
        return graphed(lambda: [work(x) for x in a])

    def step():
        threads = [threading.Thread(target=work, args=(x,)) for x in a]
        [t.start() for t in threads]
        [t.join() for t in threads]
    return step


@case("launch_bound", "decoding a token with eager kernels of a few microseconds", "CUDA graph")
def eager_decode(sick):
    import torch
    net = blocks(1024, 12, torch.bfloat16)
    x = randn(4, 1, 1024)
    if sick:
        def step():
            with torch.no_grad():
                net(x)
        return step
    return graphed(lambda: net(x))


@case("allocator|variable_shapes", "batches of eight sizes, the cache emptied after each", "without emptying")
def emptied_cache(sick):
    import torch
    net = mlp(2048, 6, torch.bfloat16)
    count = iter(range(1 << 20))

    def step():
        net(randn(4096 + 384 * (next(count) % 8), 2048))
        if sick:
            torch.cuda.empty_cache()
    return step


@case("input_pipeline|allocator|host_untraced|cpu_operator", "a batch of 32 MB pinned anew every step", "one pinned buffer")
def pin_every_step(sick):
    import torch
    net, host = mlp(2048, 4, torch.bfloat16), torch.randn(16, 512, 2048).to(torch.bfloat16)
    buffer = host.pin_memory()
    kept = []

    def step():
        if sick:
            pinned = torch.empty_like(host).copy_(host).pin_memory()
            kept.append(pinned)
            if len(kept) > 40:
                kept.clear()
        else:
            pinned = buffer
        net(pinned.to("cuda", non_blocking=True).view(-1, 2048))
    return step


# --- copies and streams --------------------------------------------------------------------------

@case("copy_unneeded|pageable_copy|copy_exposed", "all logits copied to the host for an argmax", "argmax on the device")
def logits_to_host(sick):
    import torch
    net, head = mlp(2048, 4, torch.bfloat16), torch.nn.Linear(2048, 32000).to("cuda", torch.bfloat16)
    x = randn(2048, 2048)

    def step():
        logits = head(net(x))
        if sick:
            logits.cpu()
        else:
            logits.argmax(-1).cpu()
    return step


@case("pageable_copy|launch_bound", "200 small tensors copied one by one", "stacked, one copy")
def small_copies(sick):
    import torch
    net, x = mlp(2048, 4, torch.bfloat16), randn(1024, 2048)
    parts = [torch.randn(64) for _ in range(200)]

    def step():
        if sick:
            rows = torch.stack([p.to("cuda") for p in parts])
        else:
            rows = torch.stack(parts).to("cuda")
        return net(x)[:200, :64] + rows
    return step


@case("copy_exposed|no_overlap", "pinned copy of each batch in the compute stream", "prefetched in a stream of its own")
def copy_in_line(sick):
    import torch
    net = mlp(4096, 4, torch.bfloat16)
    host = [torch.randn(8192, 4096).to(torch.bfloat16).pin_memory() for _ in range(2)]
    buffers = [torch.empty_like(h, device="cuda") for h in host]
    side = torch.cuda.Stream()
    ready, free = [torch.cuda.Event() for _ in range(2)], [torch.cuda.Event() for _ in range(2)]
    count = iter(range(1 << 20))

    def fetch(k):
        with torch.cuda.stream(side):
            side.wait_event(free[k])
            buffers[k].copy_(host[k], non_blocking=True)
            ready[k].record()

    if not sick:
        fetch(0)

    def step():
        i = next(count)
        if sick:
            buffers[0].copy_(host[0], non_blocking=True)
            net(buffers[0])
            return
        k = i % 2
        fetch(1 - k)
        torch.cuda.current_stream().wait_event(ready[k])
        net(buffers[k])
        free[k].record()
    return step


@case("launch_bound|no_overlap|device_dependency", "two streams of small products made serial by events", "without the events")
def serial_events(sick):
    import torch
    a = [randn(768, 768) for _ in range(2)]
    streams = [torch.cuda.Stream() for _ in range(2)]
    events = [torch.cuda.Event() for _ in range(2)]

    def step():
        for _ in range(60):
            for k in range(2):
                with torch.cuda.stream(streams[k]):
                    if sick:
                        streams[k].wait_event(events[1 - k])
                    a[k] @ a[k] @ a[k] @ a[k]
                    if sick:
                        events[k].record()
    return step


# --- kernels -------------------------------------------------------------------------------------

@case("attention_unfused", "attention of products and softmax", "scaled_dot_product_attention")
def manual_attention(sick):
    import torch
    q, k, v = (randn(4, 16, 2048, 64) for _ in range(3))
    w = mlp(1024, 2, torch.bfloat16)

    def step():
        x = w(v.transpose(1, 2).reshape(-1, 1024)).view(4, 2048, 16, 64).transpose(1, 2)
        for _ in range(4):
            if sick:
                p = torch.softmax(q @ k.transpose(-1, -2) / 8.0, -1)
                x = p @ x
            else:
                x = torch.nn.functional.scaled_dot_product_attention(q, k, x.contiguous())
    return step


@case("layout_copies", "layout changed before and after every product", "one layout")
def layout_changes(sick):
    import torch
    weight = [randn(1024, 1024) for _ in range(6)]
    x = randn(16, 1024, 1024)

    def step():
        y = x
        for w in weight:
            if sick:
                y = y.transpose(1, 2).contiguous()
                y = (w @ y).transpose(1, 2).contiguous()
            else:
                y = y @ w
    return step


@case("layout_copies", "`clone()` of every activation", "without")
def needless_clones(sick):
    import torch
    net, x = mlp(2048, 8, torch.bfloat16), randn(16384, 2048)

    def step():
        y = x
        for layer in net:
            y = layer(y.clone() if sick else y)
            if sick:
                y = y.clone()
    return step


@case("fp64_used", "positions in double, which make everything double", "in float")
def double_by_accident(sick):
    import torch
    dtype = torch.float64 if sick else torch.float32
    angle = torch.linspace(0, 1, 1024, dtype=dtype, device="cuda")
    x = torch.randn(64, 512, 1024, device="cuda")

    def step():
        y = x
        for _ in range(6):
            y = y * torch.cos(angle) + y.roll(1, -1) * torch.sin(angle)
            y = (y / y.norm(dim=-1, keepdim=True))
        return y
    return step


@case("index_sort_heavy", "sorting the whole vocabulary to take 50", "topk")
def sort_to_sample(sick):
    import torch
    net, head = mlp(2048, 4, torch.bfloat16), torch.nn.Linear(2048, 128256).to("cuda", torch.bfloat16)
    x = randn(256, 2048)

    def step():
        logits = head(net(x)).float()
        top = logits.sort(-1, descending=True)[0][:, :50] if sick else logits.topk(50).values
        return torch.softmax(top, -1)
    return step


@case("host_sync|index_sort_heavy", "boolean indexing (`nonzero`) in every layer", "masks")
def nonzero_per_layer(sick):
    import torch
    net, x = mlp(1024, 16, torch.bfloat16), randn(2048, 1024)

    def step():
        y = x
        for layer in net:
            y = layer(y)
            if sick:
                mask = y[:, 0] > 0
                y[mask] = y[mask] * 2
            else:
                y = torch.where((y[:, :1] > 0), y * 2, y)
    return step


@case("elementwise_unfused", "a gated activation of ten elementwise operators on large tensors", "compiled into one kernel")
def elementwise_chain(sick):
    import torch
    a, b = randn(64, 1024, 2048), randn(64, 1024, 2048)

    def gate(x, y):
        inner = 0.7978845608 * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1 + torch.tanh(inner)) * torch.sigmoid(y) + x

    work = gate if sick else torch.compile(gate)

    def step():
        x = a
        for _ in range(4):
            x = work(x, b)
    return step


@case("gemm_no_tensor_core", "fp32 convolutions without TF32", "TF32")
def conv_fp32(sick):
    import torch
    torch.backends.cudnn.allow_tf32 = not sick
    from torch import nn
    net = nn.Sequential(*[m for _ in range(4) for m in (nn.Conv2d(256, 256, 3, padding=1), nn.ReLU())]).cuda()
    x = torch.randn(32, 256, 56, 56, device="cuda")

    def step():
        with torch.no_grad():
            net(x)
    return step


@case("gemm_inefficient|layout_copies", "products of odd sizes", "padded to multiples of 64")
def odd_sizes(sick):
    import torch
    n = 4095 if sick else 4096
    a, b = randn(n, n), randn(n, n)

    def step():
        for _ in range(8):
            a @ b
    return step


@case("optimizer_unfused|launch_bound", "SGD with momentum, a loop over 300 parameters", "fused")
def sgd_loop(sick):
    import torch
    net = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(150)]).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, foreach=False, fused=not sick)
    for p in net.parameters():
        p.grad = torch.randn_like(p)

    def step():
        optimizer.step()
    return step


# --- one step unlike the others ------------------------------------------------------------------

@case("slow_step_same_work|host_untraced", "one step in eight waits 60 ms for a lock", "none does")
def one_slow_step(sick):
    import torch
    net, x = mlp(4096, 8, torch.bfloat16), randn(4096, 4096)
    count = iter(range(1 << 20))

    def step():
        if sick and next(count) % 8 == 0:
            time.sleep(0.06)
        net(x)
    return step


@case("slow_step_more_work|slow_step_same_work|pageable_copy|copy_unneeded|host_untraced", "a checkpoint saved in one step of eight", "never")
def checkpoint_step(sick):
    import torch
    net, x = mlp(4096, 8, torch.bfloat16), randn(4096, 4096)
    count = iter(range(1 << 20))

    def step():
        net(x)
        if sick and next(count) % 8 == 0:
            torch.save(net.state_dict(), io.BytesIO())
    return step


@case("slow_step_more_work", "an evaluation inside one step of eight", "never")
def evaluation_step(sick):
    import torch
    net, x = mlp(4096, 8, torch.bfloat16), randn(4096, 4096)
    count = iter(range(1 << 20))

    def step():
        net(x)
        if sick and next(count) % 8 == 0:
            for _ in range(10):
                net(x).float().softmax(-1).argmax(-1)
    return step


# --- nothing planted -----------------------------------------------------------------------------

@case("healthy|compute_bound", None, None)
def healthy_training(sick):
    import torch
    net, x = blocks(4096, 2, torch.bfloat16, 32), randn(8, 2048, 4096)
    optimizer = torch.optim.AdamW(net.parameters(), fused=True)

    def step():
        net(x).float().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


@case("healthy|compute_bound|memory_bound", None, None)
def healthy_graph_decode(sick):
    import torch
    net, x = blocks(4096, 8, torch.bfloat16, 32), randn(32, 1, 4096)
    return graphed(lambda: net(x))


@case("healthy|memory_bound", None, None)
def healthy_stream(sick):
    import torch
    a, b = torch.randn(1 << 28, device="cuda"), torch.empty(1 << 28, device="cuda")

    def step():
        for _ in range(10):
            torch.add(a, 1.0, out=b)
    return step


@case("healthy|compute_bound", None, None)
def healthy_gemm_large(sick):
    a, b = randn(8192, 8192), randn(8192, 8192)

    def step():
        for _ in range(10):
            a @ b
    return step


@case("healthy|compute_bound", None, None)
def healthy_attention(sick):
    import torch
    q, k, v = (randn(4, 32, 8192, 128) for _ in range(3))

    def step():
        for _ in range(4):
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return step
