"""Ten programs that constants of the replay were fitted on (examples/diagnose/profiler-cost.json has their rows).

They judge nothing: no recording of them is kept.
"""
import os

from parts import blocks, case, graphed, randn


@case("host_sync|launch_bound", "`.item()` of every layer's mean", "without")
def item_sync(sick):
    import torch
    model, x = blocks(768, 6, torch.bfloat16, 12), randn(4, 512, 768)

    @torch.no_grad()
    def step():
        y = x
        for layer in model:
            y = layer(y)
            if sick:
                y.float().mean().item()
    return step


@case("launch_bound", "960 elementwise kernels of 64 KB", "CUDA graph")
def small_kernels(sick):
    import torch
    xs = [torch.randn(128, 128, device="cuda") for _ in range(8)]

    def work():
        for _ in range(60):
            for x in xs:
                x.mul_(1.0001).add_(0.001)
    return work if sick else graphed(work)


@case("cpu_operator|input_pipeline", "augmentation on the CPU, on the launching thread", "ready in pinned memory")
def cpu_augment(sick):
    import torch
    model = blocks(768, 2, torch.bfloat16, 12)
    ready, raw = randn(8, 256, 768, device="cpu").pin_memory(), torch.randn(8, 256, 768)

    @torch.no_grad()
    def step():
        y = raw
        for _ in range(20 if sick else 0):
            y = torch.sin(y) * 1.01 + 0.1
        model(y.to(torch.bfloat16).to("cuda") if sick else ready.to("cuda", non_blocking=True))
    return step


@case("pageable_copy", "three copies of 48 MB from pageable memory", "pinned")
def pageable(sick):
    import torch
    model, x = blocks(768, 1, torch.bfloat16, 12), randn(4, 256, 768)
    hosts = [torch.ones(48 << 20, dtype=torch.uint8) for _ in range(3)]
    if not sick:
        hosts = [h.pin_memory() for h in hosts]

    @torch.no_grad()
    def step():
        for h in hosts:
            h.to("cuda", non_blocking=not sick)
            model(x)
    return step


@case("allocator", "`empty_cache()` after both passes", "without")
def allocator(sick):
    import torch
    model, x = blocks(768, 2, torch.bfloat16, 12), randn(4, 1024, 768)

    @torch.no_grad()
    def step():
        for _ in range(2):
            model(x)
            if sick:
                torch.cuda.empty_cache()
    return step


@case("gemm_no_tensor_core", "products in fp32 without TF32", "TF32")
def fp32_gemm(sick):
    import torch
    torch.backends.cuda.matmul.allow_tf32 = not sick
    a = [torch.randn(3072, 3072, device="cuda") for _ in range(4)]

    def step():
        y = a[0]
        for b in a:
            y = torch.tanh(y @ b)
    return step


@case("optimizer_unfused|launch_bound", "Adam over 60 tensors, one launch each", "fused")
def adam_loop(sick):
    import torch
    net = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(30)]).cuda()
    optimizer = torch.optim.Adam(net.parameters(), foreach=False if sick else None, fused=not sick)
    x = torch.randn(512, 1024, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        net(x).square().mean().backward()
        optimizer.step()
    return step


@case("no_overlap|copy_exposed", "copy stream and compute stream wait for each other", "one wait at the end")
def stream_waits(sick):
    import torch
    model, x = blocks(768, 4, torch.bfloat16, 12), randn(8, 1024, 768)
    host = [torch.ones(64 << 20, dtype=torch.uint8).pin_memory() for _ in range(4)]
    buffers = [torch.empty_like(h, device="cuda") for h in host]
    side = torch.cuda.Stream()

    @torch.no_grad()
    def step():
        main = torch.cuda.current_stream()
        for h, b in zip(host, buffers):
            if sick:
                side.wait_stream(main)
            with torch.cuda.stream(side):
                b.copy_(h, non_blocking=True)
            if sick:
                main.wait_stream(side)
            model(x)
        main.wait_stream(side)
    return step


@case("host_untraced", "3 MB written and synced to disk every step", "without")
def file_write(sick):
    import torch
    model, x = blocks(768, 2, torch.bfloat16, 12), randn(2, 512, 768)
    data = os.urandom(3 << 20)

    @torch.no_grad()
    def step():
        model(x)
        torch.cuda.synchronize()
        if sick:
            with open("planted.bin", "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.unlink("planted.bin")
    return step


@case("copy_unneeded|pageable_copy|cpu_operator", "logits copied to the host for an argmax", "argmax on the device")
def logits_d2h(sick):
    import torch
    model, x = blocks(768, 3, torch.bfloat16, 12), randn(8, 512, 768)
    head = randn(768, 16384)

    @torch.no_grad()
    def step():
        y = model(x)[:, -64:] @ head
        return y.cpu().argmax(-1) if sick else y.argmax(-1).cpu()
    return step
