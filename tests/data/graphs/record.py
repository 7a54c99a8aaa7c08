#!/usr/bin/env python3
"""record.py [-o FOLDER] - records a decoder that replays CUDA graphs, with what the join of graphs needs to be tested.

  one_file.json.gz   two graphs (batches of 4 and 8) captured and replayed in turn within one recording
  capture.json.gz    the same captures alone
  replay.json.gz     the same replays alone, as a service records them
  eager.json.gz      the same steps without graphs: which operator and which shapes each kernel has

Needs PyTorch and a CUDA device; takes ten seconds.
"""
import argparse
import gzip
import json
import pathlib

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function

WIDTH, HEADS, LAYERS, WORDS, CONTEXT = 512, 8, 4, 4096, 128
BATCHES, ROUNDS = (4, 8), 3


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = (torch.nn.RMSNorm(WIDTH) for _ in range(2))
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x, keys, values):
        q, k, v = (part.view(len(x), HEADS, 1, -1) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        keys[:, :, -1:], values[:, :, -1:] = k, v
        x = x + self.out(F.scaled_dot_product_attention(q, keys, values).reshape(len(x), WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Decoder(torch.nn.Module):
    def __init__(self, batch):
        super().__init__()
        self.words = torch.nn.Embedding(WORDS, WIDTH)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, WORDS, bias=False)
        shape = (LAYERS, 2, batch, HEADS, CONTEXT, WIDTH // HEADS)
        self.register_buffer("cache", torch.randn(shape))

    def forward(self, ids):
        x = self.words(ids)
        for i, layer in enumerate(self.layers):
            with record_function("layer.%d" % i):
                x = layer(x, self.cache[i, 0], self.cache[i, 1])
        return self.head(x).argmax(-1)


def steps(run):
    for _ in range(ROUNDS):
        for batch in BATCHES:
            with record_function("decode_%d" % batch):
                run(batch)
            torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("graphs"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    models = {batch: Decoder(batch).cuda().to(torch.bfloat16) for batch in BATCHES}
    ids = {batch: torch.randint(0, WORDS, (batch,), device="cuda") for batch in BATCHES}

    def eager(batch):
        return models[batch](ids[batch])

    def record(name, work):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as recorded:
            work()
            torch.cuda.synchronize()
        path = out / name
        recorded.export_chrome_trace(str(path))
        text = json.dumps(json.loads(path.read_text()), separators=(",", ":")).encode()
        path.unlink()
        with gzip.GzipFile(path.with_name(name + ".gz"), "wb", 9, mtime=0) as target:
            target.write(text)

    def captured():
        graphs = {}
        for batch in BATCHES:
            graphs[batch] = torch.cuda.CUDAGraph()
            with record_function("capture_%d" % batch), torch.cuda.graph(graphs[batch]):
                eager(batch)
        return graphs

    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            steps(eager)
        torch.cuda.synchronize()
        record("eager.json", lambda: steps(eager))

        def whole():
            graphs = captured()
            steps(lambda batch: graphs[batch].replay())

        record("one_file.json", whole)
        kept = {}
        record("capture.json", lambda: kept.update(captured()))
        record("replay.json", lambda: steps(lambda batch: kept[batch].replay()))


if __name__ == "__main__":
    main()
