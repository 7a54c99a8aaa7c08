"""A small PyTorch program for `strata gpu profile`: NVTX ranges around a training step, and the same
forward pass as a CUDA graph. Nothing in it knows of strata."""
import torch

layers = torch.nn.Sequential(*[m for _ in range(4) for m in (torch.nn.Linear(2048, 2048), torch.nn.GELU())])
model = layers.to("cuda", torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
batch = torch.randn(512, 2048, device="cuda", dtype=torch.bfloat16)

for _ in range(8):
    with torch.cuda.nvtx.range("forward"):
        loss = model(batch).float().pow(2).mean()
    with torch.cuda.nvtx.range("backward"):
        loss.backward()
    with torch.cuda.nvtx.range("update"):
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
torch.cuda.synchronize()

graph = torch.cuda.CUDAGraph()
with torch.no_grad():
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        model(batch)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        result = model(batch)
for _ in range(8):
    with torch.cuda.nvtx.range("replay"):
        graph.replay()
torch.cuda.synchronize()
