"""Sums and training of several processes by torch.distributed over Gloo, for 'seriatim bench cluster --peers'.

gloo.py RANKS starts the other ranks, prints the version of torch, and answers commands on standard input by one line:
  sum BYTES COUNT                              nanoseconds of an all-reduce of float32, the least of COUNT
  steps COUNT VOCABULARY WIDTH BLOCKS BATCH    nanoseconds of a training step of the network, the least of COUNT
BATCH is that of each rank. An answer that begins with 'failed' has the reason.
"""
import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

CONTEXT, HEADS = 64, 8  # As in TrainedNetwork.
IN_A_ROW = 8  # As in RankProcess.


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wider, self.narrower = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        before = self.before(x)
        query, key, value = (each(before).view(*x.shape[:2], HEADS, -1).transpose(1, 2)
                             for each in (self.query, self.key, self.value))
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        attended = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return attended + self.narrower(self.wider(self.after(attended)).relu())


class Transformer(nn.Module):
    """The network of CharacterTransformer."""

    def __init__(self, vocabulary, width, blocks):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(CONTEXT, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.last(self.blocks(self.embedding(tokens) + self.positions)))


def sums(size, count):
    data = torch.zeros(size // 4)
    times = []
    for _ in range(count):
        before = time.perf_counter_ns()
        for _ in range(IN_A_ROW):
            dist.all_reduce(data)
        times.append((time.perf_counter_ns() - before) / IN_A_ROW)
    return min(times)


class Training:
    def __init__(self, vocabulary, width, blocks, batch):
        torch.manual_seed(dist.get_rank())
        self.model = DistributedDataParallel(Transformer(vocabulary, width, blocks))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 4e-3, weight_decay=0.1)
        self.tokens = torch.randint(0, vocabulary, (batch, CONTEXT))
        self.next = torch.randint(0, vocabulary, (batch * CONTEXT,))

    def step(self):
        before = time.perf_counter_ns()
        self.optimizer.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(self.model(self.tokens).flatten(0, 1), self.next)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        loss.item()
        return time.perf_counter_ns() - before


TRAININGS = {}


def answer(command, values):
    if command == "sum":
        return sums(*values)
    count, network = values[0], tuple(values[1:])
    if network not in TRAININGS:
        TRAININGS[network] = Training(*network)
    return min(TRAININGS[network].step() for _ in range(count))


def rank(number, ranks, meeting):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=number, world_size=ranks)
    if number == 0:
        print(f"torch {torch.__version__}", flush=True)
    while True:
        line = [sys.stdin.readline().split() if number == 0 else None]
        dist.broadcast_object_list(line)
        words = line[0]
        if not words:
            break
        nanos = torch.tensor(float(answer(words[0], [int(each) for each in words[1:]])), dtype=torch.float64)
        dist.all_reduce(nanos, dist.ReduceOp.MAX)
        if number == 0:
            print(nanos.item(), flush=True)
    dist.destroy_process_group()


def main():
    ranks = int(sys.argv[1])
    if len(sys.argv) > 2:
        rank(int(sys.argv[2]), ranks, sys.argv[3])
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = os.path.join(folder, "meeting")
        others = [subprocess.Popen([sys.executable, __file__, str(ranks), str(number), meeting],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                  for number in range(1, ranks)]
        try:
            rank(0, ranks, meeting)
            for each in others:
                each.wait(10)
        finally:
            for each in others:
                each.kill()


main()
