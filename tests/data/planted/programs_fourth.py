"""A fourth set of programs, written and their causes named before any verdict on them was seen."""
from parts import blocks, case, graphed, mlp, randn


@case("clock_drop|slow_step_same_work|unknown", "another process multiplies matrices on the device now and then", "alone")
def busy_neighbour(sick):
    import os
    import time
    parent = os.getpid()
    if sick and os.fork() == 0:
        import torch
        a = torch.randn(4096, 4096, device="cuda")
        while os.getppid() == parent:
            for _ in range(12):
                a @ a
            torch.cuda.synchronize()
            time.sleep(0.06)
        os._exit(0)
    import torch
    if sick:
        time.sleep(3)
    net, x = blocks(2048, 4, torch.bfloat16), randn(16, 1024, 2048)

    @torch.no_grad()
    def step():
        net(x)
        torch.cuda.synchronize()
    return step


@case("device_dependency|host_untraced|unknown", "a captured graph calls the host in its middle", "without the call")
def graph_calls_host(sick):
    import ctypes
    import torch
    net, x = mlp(2048, 12, torch.bfloat16), randn(512, 2048)
    maps = open("/proc/self/maps").read().split()
    runtime = ctypes.CDLL(next(path for path in maps if "libcudart" in path))
    wait = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)

    def work():
        y = net(x)
        if sick:
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            code = runtime.cudaLaunchHostFunc(stream, wait, ctypes.c_void_p(1500))
            assert code == 0, code
        net(y)
    return graphed(work)


@case("host_sync|launch_bound", "four small batches a step, the loss of each read at once", "losses read once, at the end")
def accumulated_items(sick):
    import torch
    net, x = blocks(1024, 3, torch.bfloat16), randn(8, 512, 1024)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=True)

    def step():
        total = 0
        for _ in range(4):
            loss = net(x).float().square().mean() / 4
            loss.backward()
            total = total + (loss.item() if sick else loss.detach())
        float(total)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step


@case("host_untraced|input_pipeline|python_overhead", "words matched and looked up by the launching thread",
      "tokens prepared before")
def words_on_main(sick):
    import re
    import torch
    pattern = re.compile(r"[a-z]+|\d+|[^\sa-z\d]")
    text = " ".join("word%d, and (%d)" % (i * 31 % 997, i) for i in range(4096))
    ids = {}
    tokens = [ids.setdefault(w, len(ids)) for w in pattern.findall(text)][:16384]
    ready = torch.tensor(tokens, device="cuda")
    table, net = torch.nn.Embedding(len(ids), 1024).to("cuda", torch.bfloat16), blocks(1024, 3, torch.bfloat16)

    @torch.no_grad()
    def step():
        now = ready
        if sick:
            now = torch.tensor([ids[w] for w in pattern.findall(text)][:16384], device="cuda")
        net(table(now).view(32, 512, 1024))
    return step


@case("copy_unneeded|pageable_copy|copy_exposed|host_sync", "all logits of a long prompt read by the host in fp32",
      "those of the last token alone")
def prompt_logits(sick):
    import torch
    net, head = blocks(2048, 4, torch.bfloat16), torch.nn.Linear(2048, 32000).to("cuda", torch.bfloat16)
    x = randn(1, 2048, 2048)

    @torch.no_grad()
    def step():
        logits = head(net(x)).float()
        return logits.cpu() if sick else logits[:, -1].cpu()
    return step


@case("cpu_operator|input_pipeline", "bags of a large table summed on the host, then copied", "the table on the device")
def bags_on_host(sick):
    import torch
    where = "cpu" if sick else "cuda"
    bag = torch.nn.EmbeddingBag(200000, 256, mode="sum").to(where)
    indices = torch.randint(200000, (2048, 40), device=where)
    net = mlp(256, 6, torch.float32)
    torch.backends.cuda.matmul.allow_tf32 = True

    @torch.no_grad()
    def step():
        for _ in range(3):
            net(bag(indices).to("cuda"))
    return step


@case("pageable_copy|launch_bound|host_sync", "lengths, positions and flags of every request uploaded one by one",
      "one buffer, pinned")
def small_uploads(sick):
    import torch
    net, x = mlp(2048, 4, torch.bfloat16), randn(1024, 2048)
    packed = torch.zeros(96, 3, dtype=torch.int64).pin_memory()

    @torch.no_grad()
    def step():
        if sick:
            fields = [torch.tensor([i, 2 * i, i % 2]).to("cuda") for i in range(96)]
            sizes = torch.stack(fields)
        else:
            sizes = packed.to("cuda", non_blocking=True)
        net(x * sizes.float().mean().to(x.dtype))
    return step


@case("launch_bound", "a small model decodes one token at a time, operator by operator", "captured as a graph")
def short_decode(sick):
    import torch
    width, heads, room = 1024, 16, 512
    qkv = [torch.nn.Linear(width, 3 * width).to("cuda", torch.bfloat16) for _ in range(6)]
    out = [torch.nn.Linear(width, width).to("cuda", torch.bfloat16) for _ in range(6)]
    up = [torch.nn.Linear(width, 4 * width).to("cuda", torch.bfloat16) for _ in range(6)]
    down = [torch.nn.Linear(4 * width, width).to("cuda", torch.bfloat16) for _ in range(6)]
    keys, values = randn(6, 4, heads, room, 64), randn(6, 4, heads, room, 64)
    x = randn(4, 1, width)

    def work():
        y = x
        for i in range(6):
            q, k, v = qkv[i](y).view(4, 1, 3, heads, 64).permute(2, 0, 3, 1, 4)
            keys[i, :, :, 100:101] = k
            values[i, :, :, 100:101] = v
            a = torch.nn.functional.scaled_dot_product_attention(q, keys[i], values[i])
            y = y + out[i](a.transpose(1, 2).reshape(4, 1, width))
            y = y + down[i](torch.nn.functional.silu(up[i](y)))
    if not sick:
        return graphed(work)

    @torch.no_grad()
    def step():
        work()
    return step


@case("layout_copies", "time and channels swapped and made contiguous around every layer", "one order of dimensions")
def swapped_channels(sick):
    import torch
    layers = [torch.nn.Linear(1024, 1024).to("cuda", torch.bfloat16) for _ in range(6)]
    x = randn(64, 1024, 1024)

    @torch.no_grad()
    def step():
        y = x
        for layer in layers:
            if sick:
                y = y.transpose(1, 2).contiguous()
                y = torch.relu(y)
                y = layer(y.transpose(1, 2).contiguous())
            else:
                y = layer(torch.relu(y))
    return step


@case("slow_step_same_work|slow_step_more_work|variable_shapes", "one batch in six holds sequences four times as long",
      "all of one length")
def long_batch(sick):
    import torch
    net, n = blocks(1024, 4, torch.bfloat16), iter(range(1 << 20))
    short, long = randn(16, 512, 1024), randn(16, 2560, 1024)

    @torch.no_grad()
    def step():
        net(long if sick and next(n) % 6 == 2 else short)
    return step


@case("elementwise_unfused", "an activation with its scale and mask written out in fp32, halves joined", "compiled")
def activation_by_hand(sick):
    import torch
    x, scale, mask = randn(8192, 8192), randn(8192), randn(8192, 8192) > 0

    def work(x):
        h = x.float() * scale.float()
        gate, value = h[:, :4096], h[:, 4096:]
        y = 0.5 * gate * (1 + torch.tanh(0.79788 * (gate + 0.044715 * gate * gate * gate)))
        z = torch.cat((y * value, value), 1)
        return torch.where(mask, z, torch.zeros_like(z)).to(x.dtype) + x
    f = work if sick else torch.compile(work)

    @torch.no_grad()
    def step():
        f(x)
        f(x)
    return step


@case("healthy|compute_bound|memory_bound", "", "")
def healthy_fed_training(sick):
    import torch
    net = blocks(2048, 3, torch.bfloat16)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=True)
    host = torch.randn(16, 1024, 2048, dtype=torch.bfloat16).pin_memory()
    ready, side = [randn(16, 1024, 2048)], torch.cuda.Stream()

    def step():
        x = ready[0]
        with torch.cuda.stream(side):
            following = host.to("cuda", non_blocking=True)
        net(x).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.current_stream().wait_stream(side)
        ready[0] = following
    return step


@case("healthy|compute_bound|memory_bound", "", "")
def healthy_graph_convolutions(sick):
    import torch
    layers = []
    for _ in range(10):
        layers += [torch.nn.Conv2d(256, 256, 3, padding=1), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers).to("cuda", torch.bfloat16).to(memory_format=torch.channels_last)
    x = randn(64, 256, 56, 56).to(memory_format=torch.channels_last)
    return graphed(lambda: net(x))
