"""Programs with one planted problem each, recorded after every limit of the diagnosis was fixed."""
import contextlib
import io

from parts import blocks, case, mlp, randn


@case("input_pipeline|host_untraced|python_overhead", "text split into tokens in Python before every step",
      "tokens prepared before")
def tokenizer_in_loop(sick):
    import torch
    words = ["w%d" % i for i in range(4000)]
    ids = {w: i for i, w in enumerate(words)}
    text = " ".join(words[i * 7919 % 4000] for i in range(48000))
    ready = torch.tensor([ids[w] for w in text.split()]).pin_memory()
    table = torch.nn.Embedding(4000, 1024).to("cuda", torch.bfloat16)
    net = blocks(1024, 2, torch.bfloat16)

    @torch.no_grad()
    def step():
        tokens = torch.tensor([ids[w] for w in text.split(" ")]) if sick else ready
        net(table(tokens.to("cuda", non_blocking=True)).view(24, 2000, 1024))
    return step


@case("copy_unneeded|pageable_copy|copy_exposed|cpu_operator|host_sync",
      "logits of every token read by the host, which picks the next", "argmax stays on the device")
def logits_every_token(sick):
    import torch
    table = torch.nn.Embedding(128256, 2048).to("cuda", torch.bfloat16)
    net, head = mlp(2048, 6, torch.bfloat16), torch.nn.Linear(2048, 128256).to("cuda", torch.bfloat16)
    first = torch.arange(32, device="cuda")

    @torch.no_grad()
    def step():
        token = first
        for _ in range(8):
            logits = head(net(table(token)))
            token = (logits.cpu().float().argmax(-1).to("cuda") if sick else logits.argmax(-1))
    return step


@case("attention_unfused", "attention in fp16 with a mask filled in, product by product",
      "scaled_dot_product_attention, causal")
def masked_attention(sick):
    import torch
    q, k, v = (randn(2, 24, 1536, 128, dtype=torch.float16) for _ in range(3))
    mask = torch.triu(torch.ones(1536, 1536, dtype=torch.bool, device="cuda"), 1)
    out = torch.nn.Linear(3072, 3072).to("cuda", torch.float16)

    @torch.no_grad()
    def step():
        for _ in range(3):
            if sick:
                scores = torch.matmul(q, k.transpose(-1, -2)) * 128 ** -0.5
                scores = scores.masked_fill(mask, float("-inf"))
                y = torch.matmul(torch.softmax(scores.float(), -1).half(), v)
            else:
                y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            out(y.transpose(1, 2).reshape(2, 1536, 3072))
    return step


@case("optimizer_unfused|launch_bound", "AdamW tensor by tensor after two small batches", "fused")
def accumulated_adamw(sick):
    import torch
    net, x = blocks(768, 6, torch.float32, 12), torch.randn(4, 128, 768, device="cuda")
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, foreach=False if sick else None, fused=not sick)

    def step():
        for _ in range(2):
            (net(x).square().mean() / 2).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step


@case("layout_copies", "a cache of keys and values grown by `cat` for every token", "a cache of full length")
def growing_cache(sick):
    import torch
    keys = [randn(32, 16, 2048, 128) for _ in range(4)]
    new, q = randn(32, 16, 1, 128), randn(32, 16, 1, 128)
    full = [torch.cat([k, new], 2) for k in keys]

    @torch.no_grad()
    def step():
        for old, kept in zip(keys, full):
            if sick:
                kept = torch.cat([old, new], 2)
            else:
                kept[:, :, -1:] = new
            torch.nn.functional.scaled_dot_product_attention(q, kept, kept)
    return step


@case("host_sync|index_sort_heavy|launch_bound", "rows picked by a boolean mask for each of eight experts",
      "rows sorted by expert, once")
def expert_masks(sick):
    import torch
    experts = [torch.nn.Linear(1024, 1024).to("cuda", torch.bfloat16) for _ in range(8)]
    x, choice = randn(4096, 1024), torch.randint(0, 8, (4096,), device="cuda")
    order = choice.argsort()
    parts = [int((choice == e).sum()) for e in range(8)]

    @torch.no_grad()
    def step():
        out = torch.zeros_like(x)
        if sick:
            for e, expert in enumerate(experts):
                mine = choice == e
                out[mine] = expert(x[mine])
            return out
        rows = x[order].split(parts)
        out[order] = torch.cat([expert(r) for expert, r in zip(experts, rows)])
        return out
    return step


@case("fp64_used", "layer norms computed in double", "in float")
def norm_in_double(sick):
    import torch
    net, x = mlp(2048, 4, torch.bfloat16), randn(16384, 2048)
    weight = torch.ones(2048, device="cuda", dtype=torch.float64 if sick else torch.float32)

    @torch.no_grad()
    def step():
        y = x
        for layer in net:
            y = torch.nn.functional.layer_norm(layer(y).to(weight.dtype), (2048,), weight).to(torch.bfloat16)
        return y
    return step


@case("cpu_operator|input_pipeline|pageable_copy", "embedding looked up on the CPU", "on the device")
def embedding_on_cpu(sick):
    import torch
    torch.set_num_threads(4)
    where = "cpu" if sick else "cuda"
    table = torch.nn.Embedding(50000, 2048).to(where)
    tokens = torch.randint(0, 50000, (16, 512), device=where)
    net = mlp(2048, 6, torch.bfloat16)

    @torch.no_grad()
    def step():
        net(table(tokens).to("cuda").to(torch.bfloat16).view(-1, 2048))
    return step


@case("launch_bound|gemm_inefficient", "a loop over 256 small products", "one batched product")
def products_one_by_one(sick):
    import torch
    a, b = randn(256, 128, 128), randn(256, 128, 128)

    def step():
        if sick:
            return torch.stack([x @ y for x, y in zip(a, b)])
        return torch.bmm(a, b)
    return step


@case("pageable_copy", "prefetch in a stream of its own, but from memory that is not pinned", "pinned")
def unpinned_prefetch(sick):
    import torch
    net = mlp(4096, 6, torch.bfloat16)
    host = [torch.randn(8192, 4096).to(torch.bfloat16) for _ in range(2)]
    if not sick:
        host = [h.pin_memory() for h in host]
    buffers = [torch.empty_like(h, device="cuda") for h in host]
    side, count = torch.cuda.Stream(), iter(range(1 << 20))

    @torch.no_grad()
    def step():
        k = next(count) % 2
        side.wait_stream(torch.cuda.current_stream())
        net(buffers[k])
        with torch.cuda.stream(side):
            buffers[1 - k].copy_(host[1 - k], non_blocking=True)
        torch.cuda.current_stream().wait_stream(side)
    return step


@case("host_sync|launch_bound", "every gradient tested for NaN by the host", "one test of all norms a step")
def nan_checks(sick):
    import torch
    net, x = blocks(2048, 2, torch.bfloat16), randn(4, 1024, 2048)

    def step():
        net(x).float().mean().backward()
        grads = [p.grad for p in net.parameters()]
        if sick:
            bad = any(bool(torch.isnan(g).any()) for g in grads)
        else:
            bad = torch.stack(torch._foreach_norm(grads)).sum()
        net.zero_grad()
        return bad
    return step


@case("pageable_copy|copy_unneeded|host_untraced|cpu_operator", "all weights saved after every step", "never")
def saved_every_step(sick):
    import torch
    net, x = mlp(2048, 6, torch.bfloat16), randn(8192, 2048)

    @torch.no_grad()
    def step():
        net(x)
        if sick:
            torch.save(net.state_dict(), io.BytesIO())
    return step


@case("host_sync|launch_bound", "the loss printed after each of 24 small steps", "kept, printed at the end")
def printed_losses(sick):
    import torch
    net, x = mlp(1024, 3, torch.bfloat16), randn(512, 1024)

    def step():
        losses = []
        with contextlib.redirect_stdout(io.StringIO()):
            for _ in range(24):
                loss = net(x).float().square().mean()
                loss.backward()
                net.zero_grad()
                if sick:
                    print("loss %.4f" % loss)
                else:
                    losses.append(loss.detach())
            if losses:
                print(torch.stack(losses).tolist())
    return step


# --- nothing planted -----------------------------------------------------------------------------

@case("healthy|compute_bound|memory_bound", None, None)
def healthy_convolutions(sick):
    import torch
    net = torch.nn.Sequential(*[torch.nn.Conv2d(512, 512, 3, padding=1) for _ in range(6)])
    net = net.to("cuda", torch.bfloat16).to(memory_format=torch.channels_last)
    x = randn(64, 512, 28, 28).to(memory_format=torch.channels_last)

    @torch.no_grad()
    def step():
        net(x)
    return step


@case("healthy|compute_bound|memory_bound", None, None)
def healthy_prefetch(sick):
    import torch
    net = mlp(4096, 8, torch.bfloat16)
    host = [torch.randn(4096, 4096).to(torch.bfloat16).pin_memory() for _ in range(2)]
    buffers = [torch.empty_like(h, device="cuda") for h in host]
    side, count = torch.cuda.Stream(), iter(range(1 << 20))
    ready, free = [torch.cuda.Event() for _ in range(2)], [torch.cuda.Event() for _ in range(2)]

    @torch.no_grad()
    def step():
        k = next(count) % 2
        with torch.cuda.stream(side):
            side.wait_event(free[1 - k])
            buffers[1 - k].copy_(host[1 - k], non_blocking=True)
            ready[1 - k].record()
        torch.cuda.current_stream().wait_event(ready[k])
        for _ in range(3):
            net(buffers[k])
        free[k].record()
    return step
