#!/usr/bin/env python3
"""Captures what PyTorch's profiler records of training steps, as traces for `windtunnel trace import`.

    python3 capture_traces.py --out traces [--only PART]
    torchrun --nproc-per-node 2 capture_traces.py --out traces       # data parallel, pipelines

Each trace is one job and one rank: `JOB.rank-N.json.gz`. `steps.csv` holds what a clock measured of the same
steps without a profiler beside them (median of five), so that what profiling costs is known.

Jobs of one rank: eager, compiled, recomputing, FSDP2, launched by a slow host, in a CUDA graph, without the
profiler's steps, with stacks and shapes, and a pipeline whose stages all lie on this rank. Jobs of several
ranks: DDP, FSDP2, HSDP, 1F1B and interleaved 1F1B of torch.distributed.pipelining.
`--nvtx JOB` runs one job's steps with ranges of NVTX instead, for `nsys profile --trace=cuda,nvtx`.
Needs PyTorch 2.6 or later with CUDA.
"""

import argparse
import csv
import gc
import os
import statistics
import sys
import time
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn.functional as F

from measure_steps import Job, as_graph, built

ACTIVITIES = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
LLAMA_1B = dict(name="Llama 3.2 1B", layers=16, hidden=2048, heads=32, kv_heads=8, ffn=8192, seq=4096, batch=1,
                vocab=128256)
SMALL = dict(name="Llama-like 350M", layers=24, hidden=1024, heads=16, kv_heads=16, ffn=2816, seq=2048, batch=4)
TINY = dict(name="Llama-like 2 layers", layers=2, hidden=1024, heads=16, kv_heads=16, ffn=2816, seq=1024, batch=2)
PIPED = dict(name="Llama-like 4 layers", layers=4, hidden=1024, heads=16, kv_heads=16, ffn=2816, seq=1024, batch=1)


def accumulating(model, job, micro_batches, device):
    """A function that takes one step of some micro-batches."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True, capturable=job.graph)
    tokens = torch.randint(job.vocab, (micro_batches, job.batch, job.seq), device=device)

    def step():
        for at in range(micro_batches):
            logits = model(tokens[at])
            loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[at].flatten())
            (loss / micro_batches).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=not job.graph)

    return as_graph(step) if job.graph else step


class Stage(torch.nn.Module):
    """Some of a model's blocks, with its embedding or its head where they belong."""

    def __init__(self, model, first, last, of):
        super().__init__()
        count = len(model.blocks)
        self.embedding = model.embedding if first == 0 else None
        self.blocks = model.blocks[count * first // of:count * last // of]
        self.norm, self.head = (model.norm, model.head) if last == of else (None, None)
        self.register_buffer("cos", model.cos, persistent=False)
        self.register_buffer("sin", model.sin, persistent=False)

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return x if self.head is None else self.head(self.norm(x))


def piped(job, schedule_name, virtual, micro_batches, device):
    """A step of torch.distributed.pipelining over all ranks, `virtual` stages on each."""
    from torch.distributed import pipelining
    schedule_kind = getattr(pipelining, "Schedule" + schedule_name)
    model = built(job, device)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    of = ranks * virtual
    parts = [Stage(model, index, index + 1, of) for index in range(rank, of, ranks)]
    stages = [pipelining.PipelineStage(part, index, of, device)
              for part, index in zip(parts, range(rank, of, ranks))]
    loss = lambda out, target: F.cross_entropy(out.flatten(0, 1).float(), target.flatten())
    schedule = schedule_kind(stages if virtual > 1 else stages[0], n_microbatches=micro_batches, loss_fn=loss)
    optimizer = torch.optim.AdamW([p for part in parts for p in part.parameters()], lr=1e-5, fused=True)
    tokens = torch.randint(job.vocab, (micro_batches * job.batch, job.seq), device=device)

    def step():
        first, last = rank == 0, rank == (of - 1) % ranks
        arguments = (tokens,) if first else ()
        schedule.step(*arguments, **(dict(target=tokens, losses=[]) if last else {}))
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def alone(device):
    """Jobs of one rank: name, micro-batches, function that builds the step, how it is profiled."""
    def of(micro_batches, **what):
        job = Job(**what)
        return lambda: accumulating(built(job, device), job, micro_batches, device)

    plain = dict(profiled=4, marked=True)
    yield "eager", 2, of(2, **LLAMA_1B), plain
    yield "tiny", 2, of(2, **TINY), dict(plain, profiled=2)
    yield "compiled", 2, of(2, **LLAMA_1B, compiled=True), plain
    yield "recompute", 2, of(2, **LLAMA_1B, recompute=True), plain
    yield "fsdp2", 2, of(2, **LLAMA_1B, stack="fsdp2"), plain
    yield "small", 4, of(4, **SMALL), plain
    yield "graph", 2, of(2, **SMALL, graph=True), plain
    yield "unmarked", 2, of(2, **SMALL), dict(plain, marked=False)
    yield "stacks", 2, of(2, **TINY), dict(profiled=2, marked=True, record_shapes=True, with_stack=True,
                                          profile_memory=True, with_flops=True, with_modules=True)
    for name in ("GPipe", "1F1B"):
        yield f"pipe-{name}", 4, lambda name=name: piped(Job(**PIPED), name, 1, 4, device), plain
    for name in ("Interleaved1F1B", "InterleavedZeroBubble"):
        yield f"pipe-{name}", 4, lambda name=name: piped(Job(**PIPED), name, 2, 4, device), plain


def together(device):
    """Jobs of several ranks, in the same form."""
    def ddp():
        job = Job(**TINY)
        model = torch.nn.parallel.DistributedDataParallel(built(job, device), device_ids=[device.index])
        return accumulating(model, job, 2, device)

    def hsdp():
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        job = Job(**TINY)
        model = built(job, device)
        mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2),
                                mesh_dim_names=("dp_replicate", "dp_shard"))
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
        return accumulating(model, job, 2, device)

    plain = dict(profiled=3, marked=True)
    yield "ddp", 2, ddp, plain
    yield "fsdp2", 2, lambda: accumulating(built(Job(**TINY, stack="fsdp2"), device), Job(**TINY), 2, device), plain
    if dist.get_world_size() % 2 == 0 and dist.get_world_size() > 2:
        yield "hsdp", 2, hsdp, plain
    yield "1f1b", 4, lambda: piped(Job(**PIPED), "1F1B", 1, 4, device), plain
    yield "interleaved", 4, lambda: piped(Job(**PIPED), "Interleaved1F1B", 2, 4, device), plain


def timed(step):
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def captured(step, path, profiled, marked, **how):
    """Profiles some steps behind one that warms the profiler up, with or without ProfilerStep ranges."""
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=profiled, repeat=1) if marked else None
    with torch.profiler.profile(activities=ACTIVITIES, schedule=schedule, **how) as profile:
        for _ in range(profiled + (1 if marked else 0)):
            step()
            if marked:
                profile.step()
        torch.cuda.synchronize()
    profile.export_chrome_trace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", required=True, help="folder of the traces")
    parser.add_argument("--only", help="a part of the names of the jobs to run")
    parser.add_argument("--nvtx", help="run this job's steps with NVTX ranges and no profiler")
    parser.add_argument("--device", type=int, default=int(os.environ.get("LOCAL_RANK", 0)), help="GPU's number")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    device = torch.device("cuda", options.device)
    torch.cuda.set_device(device)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29534")
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    dist.init_process_group("nccl", rank=rank, world_size=ranks)
    jobs = list(alone(device) if ranks == 1 else together(device))
    if options.nvtx:
        step = {name: build for name, _, build, _ in jobs}[options.nvtx]()
        for at in range(6):
            with torch.cuda.nvtx.range(f"step {at}") if at > 1 else nullcontext():
                step()
        torch.cuda.synchronize()
        return
    with open(os.path.join(options.out, f"steps.rank-{rank}.csv"), "a", newline="") as file:
        writer = csv.writer(file)
        for name, micro_batches, build, how in jobs:
            if options.only and options.only not in name:
                continue
            begun = time.perf_counter()
            try:
                torch._dynamo.reset()
                gc.collect()
                torch.cuda.empty_cache()
                step = build()
                for _ in range(3):
                    step()
                seconds = timed(step)
                captured(step, os.path.join(options.out, f"{name}.rank-{rank}.json.gz"), **how)
            except Exception as error:  # one job that cannot run must not cost the others
                print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
                continue
            finally:
                step = None
            writer.writerow([name, rank, ranks, micro_batches, f"{seconds:.6g}"])
            file.flush()
            print(f"{name}: {seconds * 1e3:.3f} ms, {time.perf_counter() - begun:.1f} s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
