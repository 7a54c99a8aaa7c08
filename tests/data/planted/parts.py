"""Parts of the recorded programs: the list of cases, small networks, captured graphs."""

CASES = {}


def case(causes, planted, repaired):
    """Registers a case: a function of `sick` that prepares it and returns its step function."""
    def register(make):
        CASES[make.__name__] = (make, causes, planted, repaired)
        return make
    return register


def blocks(width, depth, dtype, heads=16):
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = (y.view(b, t, heads, -1).transpose(1, 2)
                       for y in self.qkv(self.norm1(x)).chunk(3, -1))
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, width))
            return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))

    return nn.Sequential(*[Block() for _ in range(depth)]).to("cuda", dtype)


def mlp(width, depth, dtype):
    from torch import nn
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.GELU()]
    return nn.Sequential(*layers).to("cuda", dtype)


def randn(*shape, dtype=None, device="cuda"):
    import torch
    return torch.randn(*shape, dtype=dtype or torch.bfloat16, device=device)


def graphed(work):
    """A function that replays work, captured as a CUDA graph."""
    import torch
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        work()
    return graph.replay
