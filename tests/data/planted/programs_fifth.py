"""A fifth set of programs, written and their causes named before any verdict on them was seen."""
from parts import blocks, case, graphed, mlp, randn


@case("launch_bound|optimizer_unfused|elementwise_unfused", "moving averages of 400 parameters, one by one",
      "in one call for all")
def averages_one_by_one(sick):
    import torch
    net = mlp(512, 200, torch.float32)
    kept = [p.detach().clone() for p in net.parameters()]
    x = randn(2048, 512, dtype=torch.float32)

    @torch.no_grad()
    def step():
        for _ in range(2):
            net(x)
        now = list(net.parameters())
        if sick:
            for old, new in zip(kept, now):
                old.mul_(0.999).add_(new, alpha=0.001)
        else:
            torch._foreach_lerp_(kept, now, 0.001)
    return step


@case("host_sync|launch_bound", "norm of each gradient read by the host, to clip it", "clipped on the device")
def clip_by_host(sick):
    import torch
    net, x = blocks(768, 8, torch.bfloat16), randn(8, 512, 768)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=True)

    def step():
        net(x).float().square().mean().backward()
        if sick:
            total = sum(float(p.grad.norm()) ** 2 for p in net.parameters()) ** 0.5
            if total > 1:
                for p in net.parameters():
                    p.grad.mul_(1 / total)
        else:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad()
    return step


@case("host_untraced|python_overhead", "a dictionary of 60 000 numbers written as JSON every step", "only now and then")
def statistics_as_json(sick):
    import json
    import torch
    net, x = blocks(1024, 6, torch.bfloat16), randn(8, 1024, 1024)
    numbers = {"layer%d" % i: i * 0.5 for i in range(60000)}

    @torch.no_grad()
    def step():
        net(x)
        if sick:
            json.dumps(numbers)
        torch.cuda.synchronize()
    return step


@case("python_overhead|launch_bound|host_untraced", "a thread that computes in Python beside the one that launches",
      "without it")
def thread_beside(sick):
    import threading
    import torch
    net, x = blocks(512, 8, torch.bfloat16), randn(2, 64, 512)
    if sick:
        def count():
            n = 0
            while True:
                n = (n * 31 + 7) % 1000003
        threading.Thread(target=count, daemon=True).start()

    @torch.no_grad()
    def step():
        net(x)
        torch.cuda.synchronize()
    return step


@case("cpu_operator|pageable_copy|input_pipeline|copy_unneeded|copy_exposed", "noise drawn on the CPU every step", "on the device")
def noise_on_host(sick):
    import torch
    net = mlp(2048, 12, torch.bfloat16)

    @torch.no_grad()
    def step():
        noise = torch.randn(4096, 2048).to("cuda", torch.bfloat16) if sick else randn(4096, 2048)
        net(noise)
        torch.cuda.synchronize()
    return step


@case("launch_bound", "a recurrent cell called for each of 192 positions", "cuDNN's LSTM over all of them")
def cell_by_cell(sick):
    import torch
    whole = torch.nn.LSTM(512, 512).to("cuda", torch.bfloat16)
    cell = torch.nn.LSTMCell(512, 512).to("cuda", torch.bfloat16)
    x = randn(192, 32, 512)

    @torch.no_grad()
    def step():
        if sick:
            state = None
            for row in x:
                state = cell(row, state)
        else:
            whole(x)
        torch.cuda.synchronize()
    return step


@case("gemm_no_tensor_core", "logits of a bf16 model computed in fp32", "in bf16")
def logits_in_fp32(sick):
    import torch
    net, x = blocks(2048, 3, torch.bfloat16), randn(4, 1024, 2048)
    head = torch.nn.Linear(2048, 32000, bias=False).to("cuda", torch.float32 if sick else torch.bfloat16)

    @torch.no_grad()
    def step():
        y = net(x)
        head(y.float() if sick else y)
    return step


@case("input_pipeline|host_untraced|pageable_copy|cpu_operator", "a batch of 96 MB read from a file every step", "kept on the device")
def batch_from_file(sick):
    import os
    import tempfile
    import numpy
    import torch
    net = mlp(2048, 8, torch.bfloat16)
    handle, path = tempfile.mkstemp()
    os.write(handle, bytes(96 << 20))
    os.close(handle)
    kept = torch.zeros(12288, 2048, device="cuda")

    @torch.no_grad()
    def step():
        batch = torch.from_numpy(numpy.fromfile(path, dtype=numpy.float32)).view(-1, 2048).to("cuda") if sick else kept
        net(batch.to(torch.bfloat16))
        torch.cuda.synchronize()
    return step


@case("cpu_operator|input_pipeline|pageable_copy", "images scaled on the CPU in the loop", "on the device")
def scaled_on_cpu(sick):
    import torch
    net = torch.nn.Sequential(*[torch.nn.Conv2d(3 if i == 0 else 64, 64, 3, padding=1) for i in range(8)])
    net = net.to("cuda", torch.bfloat16).to(memory_format=torch.channels_last)
    raw = torch.rand(16, 3, 480, 480)
    there = raw.to("cuda")

    @torch.no_grad()
    def step():
        source = raw if sick else there
        small = torch.nn.functional.interpolate(source, size=(256, 256), mode="bilinear", antialias=True)
        net(small.to("cuda", torch.bfloat16).contiguous(memory_format=torch.channels_last))
        torch.cuda.synchronize()
    return step


@case("index_sort_heavy", "gradients of an embedding summed in a fixed order, by sorting", "added as they come")
def sums_in_order(sick):
    import torch
    index = torch.randint(0, 60000, (1 << 19,), device="cuda")
    table = torch.zeros(60000, 256, device="cuda")
    rows = randn(1 << 19, 256, dtype=torch.float32)

    @torch.no_grad()
    def step():
        if sick:
            table.index_put_((index,), rows, accumulate=True)
        else:
            table.index_add_(0, index, rows)
    return step


@case("elementwise_unfused", "rotary positions and a gate written as operators", "compiled")
def rotary_by_hand(sick):
    import torch
    q, k, g = randn(16, 32, 2048, 128), randn(16, 32, 2048, 128), randn(16, 32, 2048, 128)
    cos, sin = randn(2048, 128), randn(2048, 128)

    def turned(x):
        a, b = x[..., :64], x[..., 64:]
        return x * cos + torch.cat((-b, a), -1) * sin

    def work(q, k, g):
        return turned(q) * torch.sigmoid(g), turned(k) * torch.sigmoid(g)
    fast = work if sick else torch.compile(work)

    @torch.no_grad()
    def step():
        fast(q, k, g)
    return step


@case("host_untraced", "a pause of 8 ms in every step, to limit its rate", "without")
def paused(sick):
    import time
    import torch
    net, x = blocks(1024, 6, torch.bfloat16), randn(8, 1024, 1024)

    @torch.no_grad()
    def step():
        net(x)
        torch.cuda.synchronize()
        if sick:
            time.sleep(0.008)
    return step


@case("host_untraced", "a program started in every step", "without")
def program_every_step(sick):
    import subprocess
    import torch
    net, x = blocks(1024, 6, torch.bfloat16), randn(8, 1024, 1024)

    @torch.no_grad()
    def step():
        net(x)
        torch.cuda.synchronize()
        if sick:
            subprocess.run(["/bin/true"], check=True)
    return step


@case("cpu_operator|pageable_copy|copy_unneeded|copy_exposed", "the optimizer works on the CPU", "on the device")
def optimizer_on_cpu(sick):
    import torch
    net, x = mlp(1024, 12, torch.float32), randn(4096, 1024, dtype=torch.float32)
    there = list(net.parameters())
    here = [p.detach().cpu() for p in there] if sick else there
    optimizer = torch.optim.AdamW(here, lr=1e-5, fused=True)

    def step():
        net(x).square().mean().backward()
        if sick:
            for a, b in zip(here, there):
                a.grad = b.grad.cpu()
        optimizer.step()
        if sick:
            with torch.no_grad():
                for a, b in zip(here, there):
                    b.copy_(a)
        net.zero_grad()
        torch.cuda.synchronize()
    return step


@case("elementwise_unfused|layout_copies", "weights cast to bf16 at every use", "kept in bf16")
def cast_at_every_use(sick):
    import torch
    net = mlp(4096, 8, torch.float32 if sick else torch.bfloat16)
    x = randn(256, 4096)

    @torch.no_grad()
    def step():
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            for _ in range(6):
                net(x)
    return step


@case("launch_bound", "64 adapters of rank 16 applied one after another", "in one batched product")
def adapters_in_a_row(sick):
    import torch
    x = randn(64, 32, 1024)
    down, up = randn(64, 1024, 16), randn(64, 16, 1024)

    @torch.no_grad()
    def step():
        for _ in range(6):
            if sick:
                for i in range(64):
                    (x[i] @ down[i]) @ up[i]
            else:
                torch.bmm(torch.bmm(x, down), up)
        torch.cuda.synchronize()
    return step


@case("host_sync|launch_bound", "a scaler of gradients that asks for infinities every step of a small model", "bf16 without a scaler")
def scaler_of_small_model(sick):
    import torch
    net, x = blocks(256, 6, torch.float32), randn(4, 64, 256, dtype=torch.float32)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-5)
    scaler = torch.amp.GradScaler("cuda", enabled=sick)

    def step():
        with torch.autocast("cuda", torch.float16 if sick else torch.bfloat16):
            loss = net(x).float().square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if sick:
            float(loss)
    return step


@case("healthy|memory_bound", None, None)
def healthy_optimizer(sick):
    import torch
    parameters = [torch.nn.Parameter(randn(1 << 24, dtype=torch.float32)) for _ in range(12)]
    for p in parameters:
        p.grad = torch.randn_like(p)
    optimizer = torch.optim.AdamW(parameters, lr=1e-6, fused=True)
    return optimizer.step


@case("healthy|compute_bound", None, None)
def healthy_compiled(sick):
    import torch
    net, x = torch.compile(blocks(2048, 4, torch.bfloat16)), randn(16, 1024, 2048)

    @torch.no_grad()
    def step():
        net(x)
    return step


@case("healthy|compute_bound|memory_bound", None, None)
def healthy_graph_batch(sick):
    import torch
    net, x = mlp(8192, 8, torch.bfloat16), randn(64, 8192)
    return graphed(lambda: net(x))
