#!/usr/bin/env python3
"""Measures training steps of Llama-like models in plain PyTorch, as rows for `windtunnel validate runs`.

    python3 measure_steps.py --out steps.csv [--budget SECONDS] [--kernels kernels.csv]
    torchrun --nproc-per-node 8 measure_steps.py --out steps.csv     # FSDP over all ranks

Each row is one job: shape, batch, recomputation, precision, compiled or not, captured in a CUDA graph
or not; its step time is the median of the steps that fit into two seconds (at least five) after three
that warm up, its memory the peak that the caching allocator handed out (`mem_gib`, GiB) and reserved
(in the note). Jobs come in the order of what they tell; those that the budget leaves no time for are
left out, those that run out of memory are kept as labels (`status=OOM`).

Weights are handled in one of two ways, which the row's source names:
  "in pure bf16"  weights, gradients and AdamW's moments in bf16, one GPU (as torchtune does it)
  "with FSDP2"    fp32 shards over all ranks, bf16 weights gathered for each block, fp32 reduction (as
                  torchtitan does it)

`--kernels` writes rates of single kernels (bf16 products, attention, normalisation, AdamW) besides;
`--profile` writes where the GPU's time of a step goes, by kind of kernel and by kernel.
Needs PyTorch 2.6 or later with CUDA.
"""

import argparse
import csv
import gc
import os
import statistics
import sys
import time
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


@dataclass
class Job:
    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    seq: int
    batch: int
    vocab: int = 32000
    stack: str = "bf16"
    recompute: bool = False
    compiled: bool = False
    graph: bool = False


class Attention(nn.Module):
    def __init__(self, job):
        super().__init__()
        self.heads, self.kv_heads, self.width = job.heads, job.kv_heads, job.hidden // job.heads
        kv = job.kv_heads * self.width
        self.q = nn.Linear(job.hidden, job.hidden, bias=False)
        self.k = nn.Linear(job.hidden, kv, bias=False)
        self.v = nn.Linear(job.hidden, kv, bias=False)
        self.o = nn.Linear(job.hidden, job.hidden, bias=False)

    def forward(self, x, cos, sin):
        b, s, _ = x.shape
        q = rotate(self.q(x).view(b, s, self.heads, self.width), cos, sin)
        k = rotate(self.k(x).view(b, s, self.kv_heads, self.width), cos, sin)
        v = self.v(x).view(b, s, self.kv_heads, self.width)
        repeat = self.heads // self.kv_heads
        if repeat > 1:  # as torchtitan and torchtune do it
            k, v = (t.repeat_interleave(repeat, dim=2) for t in (k, v))
        out = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                                             is_causal=True)
        return self.o(out.transpose(1, 2).reshape(b, s, -1))


def rotate(x, cos, sin):
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).type_as(x)


class Block(nn.Module):
    def __init__(self, job):
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.RMSNorm(job.hidden), nn.RMSNorm(job.hidden)
        self.attention = Attention(job)
        self.gate = nn.Linear(job.hidden, job.ffn, bias=False)
        self.up = nn.Linear(job.hidden, job.ffn, bias=False)
        self.down = nn.Linear(job.ffn, job.hidden, bias=False)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.attention_norm(x), cos, sin)
        y = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self, job):
        super().__init__()
        self.recompute = job.recompute
        self.embedding = nn.Embedding(job.vocab, job.hidden)
        self.blocks = nn.ModuleList(Block(job) for _ in range(job.layers))
        self.norm = nn.RMSNorm(job.hidden)
        self.head = nn.Linear(job.hidden, job.vocab, bias=False)
        width = job.hidden // job.heads
        angle = torch.outer(torch.arange(job.seq).float(),
                            10000.0 ** (-torch.arange(0, width, 2).float() / width))
        self.register_buffer("cos", angle.cos()[:, None, :], persistent=False)
        self.register_buffer("sin", angle.sin()[:, None, :], persistent=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            if self.recompute:
                x = checkpoint(block, x, self.cos, self.sin, use_reentrant=False)
            else:
                x = block(x, self.cos, self.sin)
        return self.head(self.norm(x))


def sharded(model):
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32,
                                  cast_forward_inputs=False)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy)
    fully_shard(model, mp_policy=policy)


def built(job, device):
    torch.manual_seed(1)
    dtype = torch.bfloat16 if job.stack == "bf16" else torch.float32
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            model = Model(job)
    finally:
        torch.set_default_dtype(torch.float32)
    model.cos, model.sin = model.cos.float(), model.sin.float()
    if job.compiled:
        for block in model.blocks:
            block.compile()
    if job.stack == "fsdp2":
        sharded(model)
    return model


def as_graph(step):
    """The step captured as a CUDA graph: a function that replays it."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def step_of(job, model, device):
    """A function that takes one training step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True, capturable=job.graph)
    tokens = torch.randint(job.vocab, (job.batch, job.seq), device=device)
    labels = torch.randint(job.vocab, (job.batch, job.seq), device=device)

    def step():
        logits = model(tokens)
        F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=not job.graph)

    return as_graph(step) if job.graph else step


def measure(job, device):
    """Median seconds of a step, peak GiB handed out and reserved, and how many steps were timed."""
    torch._dynamo.reset()
    gc.collect()  # of the job before: hooks and compiled code hold its model in cycles
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    left = torch.cuda.memory_allocated()
    model = built(job, device)
    step = step_of(job, model, device)
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    times = []
    begun = time.perf_counter()
    while len(times) < 5 or (time.perf_counter() - begun < 2 and len(times) < 200):
        at = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - at)
    gib = 1024**3
    if left > gib / 16:
        print(f"{left / gib:.2f} GiB of earlier jobs were left", file=sys.stderr)
    return (statistics.median(times), (torch.cuda.max_memory_allocated() - left) / gib,
            (torch.cuda.max_memory_reserved() - left) / gib, len(times))


def jobs():
    small = [  # the host that launches kernels is slower than the GPU
        ("Llama-like 15M", 6, 288, 6, 6, 768, 256, 8),
        ("Llama-like 40M", 8, 512, 8, 8, 1408, 512, 4),
        ("Llama-like 125M", 12, 768, 12, 12, 2048, 1024, 1),
        ("Llama-like 125M", 12, 768, 12, 12, 2048, 1024, 8),
        ("Llama-like 350M", 24, 1024, 16, 16, 2816, 1024, 1),
        ("Llama-like 350M", 24, 1024, 16, 16, 2816, 2048, 4),
    ]
    large = [
        ("Llama 3.2 1B", 16, 2048, 32, 8, 8192, 4096, 2, 128256),
        ("Llama 3.2 3B", 28, 3072, 24, 8, 8192, 4096, 1, 128256),
        ("TinyLlama 1.1B", 22, 2048, 32, 4, 5632, 2048, 8, 32000),
        ("Llama 2 7B", 32, 4096, 32, 32, 11008, 4096, 1, 32000),
        ("OpenLLaMA 3B", 26, 3200, 32, 32, 8640, 2048, 4, 32000),
        ("Llama 3.2 1B", 16, 2048, 32, 8, 8192, 16384, 1, 128256),
        ("Llama-like wide 2 layers", 2, 8192, 64, 8, 28672, 4096, 2, 32000),
    ]
    first = [Job(*large[0]), Job(*large[3], recompute=True), Job(*small[2]), Job(*small[4]),
             Job(*large[0], stack="fsdp2"), Job(*large[0], compiled=True),
             Job(*small[2], graph=True), Job(*large[1]), Job(*large[3], compiled=True, recompute=True)]
    rest = [Job(*s) for s in small] + [Job(*s, graph=True) for s in small]
    rest += [Job(*s, stack="fsdp2") for s in small]
    rest += [Job(*s) for s in large] + [Job(*s, recompute=True) for s in large]
    rest += [Job(*s, stack="fsdp2", recompute=r) for s in large for r in (False, True)]
    rest += [Job(*s, stack="fsdp2", compiled=True) for s in (large[2], large[0], large[1])]
    rest += [Job(*s, compiled=True) for s in (large[6], large[2], small[4])]
    return list(dict.fromkeys(map(freeze, first + rest)))


def unseen_jobs():
    """Shapes that no law was looked at with: they judge what jobs() taught."""
    shapes = [
        ("Qwen2.5 0.5B", 24, 896, 14, 2, 4864, 4096, 4, 151936),
        ("Qwen2.5 1.5B", 28, 1536, 12, 2, 8960, 4096, 2, 151936),
        ("Mistral 7B", 32, 4096, 32, 8, 14336, 8192, 1, 32768),
        ("Llama-like 700M", 20, 1536, 12, 12, 4096, 2048, 8, 50304),
        ("Gemma-like 2B", 18, 2048, 8, 1, 16384, 2048, 4, 256000),
        ("Phi-like 4B", 32, 3072, 24, 24, 8192, 4096, 1, 32064),
    ]
    found = []
    for recompute, compiled in ((False, False), (False, True), (True, False)):
        found += [Job(*s, recompute=recompute, compiled=compiled) for s in shapes]
    found += [Job(*s, stack="fsdp2") for s in shapes]
    found += [Job(*s, graph=True) for s in shapes[:2] + shapes[3:4]]
    return list(map(freeze, found))


def freeze(job):
    return tuple(getattr(job, name) for name in Job.__dataclass_fields__)


COLUMNS = ("source model params layers hidden heads kv_heads ffn_hidden seq vocab global_batch micro_batch "
           "gpus gpu_type tp pp vpp dp cp ep sequence_parallel recompute schedule precision interconnect "
           "iter_time_s tflops_per_gpu mfu url tokens_per_s_per_gpu samples_per_s_per_gpu mem_gib "
           "iter_time_is provenance note").split()


def row_of(job, ranks, gpu, result):
    parameters = sum_of_parameters(job)
    way = "in pure bf16" if job.stack == "bf16" else "with FSDP2"
    source = f"PyTorch {torch.__version__.split('+')[0]} {way} (measure_steps.py)"
    words = ["compile" if job.compiled else "eager"]
    if job.graph:
        words.append("CUDA graph")
    if result:
        words += [f"reserved {result[2]:.2f} GiB", f"median of {result[3]} steps"]
    else:
        words.append("status=OOM")
    known = dict(source=source, model=job.name, params=f"{parameters / 1e9:.3f}B", layers=job.layers,
                 hidden=job.hidden, heads=job.heads, kv_heads=job.kv_heads, ffn_hidden=job.ffn, seq=job.seq,
                 vocab=job.vocab, global_batch=job.batch * ranks, micro_batch=job.batch, gpus=ranks,
                 gpu_type=gpu, tp=1, pp=1, vpp=1, dp=ranks, cp=1, ep=1,
                 recompute="full" if job.recompute else "none",
                 schedule="FSDP2" if job.stack == "fsdp2" else "", precision="bf16",
                 iter_time_s=f"{result[0]:.6g}" if result else "",
                 mem_gib=f"{result[1]:.3f}" if result else "", iter_time_is="measured",
                 provenance="validate/harness/pytorch/measure_steps.py", note="; ".join(words))
    return [known.get(column, "") for column in COLUMNS]


def sum_of_parameters(job):
    width = job.hidden // job.heads
    layer = 2 * job.hidden * job.hidden + 2 * job.hidden * job.kv_heads * width
    layer += 3 * job.hidden * job.ffn + 2 * job.hidden
    return job.layers * layer + 2 * job.vocab * job.hidden + job.hidden


def timed(call):
    """Median seconds of a call on the GPU, of ten after two."""
    for _ in range(2):
        call()
    times = []
    for _ in range(10):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(times)


def kernel_rows(device):
    """Kernel, its size, seconds, and FLOPs or bytes: what a calibration's laws are of."""
    random = lambda *shape: torch.randn(*shape, device=device, dtype=torch.bfloat16)
    for m, n, k in [(8192, 8192, 8192), (4096, 4096, 4096), (8192, 28672, 8192), (8192, 8192, 28672),
                    (4096, 11008, 4096), (8192, 2048, 2048), (2048, 1024, 1024), (8192, 128256, 2048),
                    (8192, 4096, 512), (16384, 16384, 16384), (1024, 768, 768), (4096, 1024, 4096)]:
        a, b = random(m, k), random(n, k)
        yield ["product", f"{m}x{n}x{k}", timed(lambda: a @ b.t()), 2 * m * n * k, ""]
    for seq in (512, 1024, 2048, 4096, 8192, 16384):
        for width in (64, 128):
            q, k, v = (random(max(1, 16384 // seq), 2048 // width, seq, width).requires_grad_()
                       for _ in range(3))
            flops = 2 * 2 * q.shape[0] * q.shape[1] * seq * seq * width / 2
            call = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)
            yield ["attention forward", f"seq {seq} width {width}", timed(call), flops, ""]
            out = call()
            grad = torch.randn_like(out)
            back = lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True)
            yield ["attention backward", f"seq {seq} width {width}", timed(back), 2.5 * flops, ""]
    for size in (1 << 20, 1 << 24, 1 << 28):
        x, y = random(size), random(size)
        yield ["add", str(size), timed(lambda: x + y), "", 6 * size]
        x = x.view(-1, 4096) if size >= 4096 else x
        norm = nn.RMSNorm(4096, device=device, dtype=torch.bfloat16)
        with torch.no_grad():
            yield ["rms norm", str(size), timed(lambda: norm(x)), "", 4 * size]
    for dtype, size in ((torch.bfloat16, 2), (torch.float32, 4)):
        weight = nn.Parameter(torch.randn(1 << 28, device=device, dtype=dtype))
        weight.grad = torch.randn_like(weight)
        optimizer = torch.optim.AdamW([weight], fused=True)
        yield ["adamw", f"{1 << 28} of {size} bytes", timed(optimizer.step), "", 7 * size << 28]
    tiny = torch.zeros(8, device=device)
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(2000):
        tiny.add_(1)
    torch.cuda.synchronize()
    yield ["launch", "add of 8", (time.perf_counter() - begun) / 2000, "", ""]


# Kinds of kernels by parts of their names, the first that matches; "element-wise" is what is left.
KINDS = (("attention", ("flash", "fmha", "cudnn_generated", "sdpa")),
         ("product", ("gemm", "nvjet", "cutlass", "splitK", "cublas")),
         ("optimizer", ("multi_tensor", "FusedAdam")),
         ("loss", ("SoftMax", "softmax", "nll_loss")),
         ("norm", ("rms_norm", "RMSNorm", "layer_norm", "LayerNorm", "GammaBeta")),
         ("compiled", ("triton_",)),
         ("embedding", ("embedding", "indexSelect", "index_elementwise")),
         ("copy", ("Memcpy", "Memset", "memcpy", "CatArray")))


def kind_of(kernel):
    return next((kind for kind, parts in KINDS if any(part in kernel for part in parts)), "element-wise")


def profile_rows(job, device):
    """Kind, kernel, seconds of a step and launches of a step, the longest first."""
    torch._dynamo.reset()
    gc.collect()
    torch.cuda.empty_cache()
    step = step_of(job, built(job, device), device)
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    steps = 3
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    kernels = [(e.key, e.self_device_time_total / 1e6 / steps, e.count / steps)
               for e in profile.key_averages() if e.self_device_time_total > 0]
    return [[kind_of(name), name[:100], f"{seconds:.6g}", f"{count:g}"]
            for name, seconds, count in sorted(kernels, key=lambda kernel: -kernel[1])]


def profiled_jobs():
    known = {job[0] + str(job[6]): job for job in jobs()}
    names = ("Llama 3.2 1B4096", "Llama 2 7B4096", "Llama-like 350M2048", "TinyLlama 1.1B2048",
             "Llama-like wide 2 layers4096", "OpenLLaMA 3B2048", "Llama 3.2 1B16384")
    for compiled in (False, True):
        for name in names:
            shape = dict(zip(Job.__dataclass_fields__, known[name]))
            yield Job(**{**shape, "stack": "bf16", "recompute": False, "graph": False,
                         "compiled": compiled})


def write_profiles(path, device, until):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow("model seq micro_batch compiled kind kernel seconds launches".split())
        for job in profiled_jobs():
            if time.perf_counter() > until:
                print(f"no time left to profile {job.name}", file=sys.stderr)
                continue
            try:
                rows = profile_rows(job, device)
            except Exception as error:  # one job that cannot run must not cost the others
                print(f"{job}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
                continue
            for row in rows:
                writer.writerow([job.name, job.seq, job.batch, int(job.compiled), *row])
            file.flush()
            print(f"profiled {job.name}, seq {job.seq}, compiled {job.compiled}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", required=True, help="CSV of the steps")
    parser.add_argument("--kernels", help="CSV of single kernels")
    parser.add_argument("--profile", help="CSV of where the GPU's time of steps goes")
    parser.add_argument("--unseen", action="store_true", help="jobs of other shapes")
    parser.add_argument("--budget", type=float, default=300, help="seconds for all of it")
    options = parser.parse_args()
    begun = time.perf_counter()
    ranks, local = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("LOCAL_RANK", 0))
    if not torch.cuda.is_available():
        sys.exit("measure_steps: PyTorch sees no CUDA device")
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    if ranks == 1:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29533")
    dist.init_process_group("nccl", rank=int(os.environ.get("RANK", 0)), world_size=ranks)
    lead = dist.get_rank() == 0
    gpu = torch.cuda.get_device_name(device)
    print(f"{gpu}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {ranks} rank(s)", flush=True)

    if options.kernels and lead:
        with open(options.kernels, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["kernel", "size", "seconds", "flops", "bytes"])
            for row in kernel_rows(device):
                writer.writerow(row)
                file.flush()
    if options.profile and lead:
        write_profiles(options.profile, device, begun + options.budget / 2)
    file = open(options.out, "w", newline="") if lead else open(os.devnull, "w")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for values in unseen_jobs() if options.unseen else jobs():
        job = Job(*values)
        if ranks > 1 and job.stack == "bf16":
            continue
        # All ranks decide alike: by the first one's clock.
        spent = torch.tensor([time.perf_counter() - begun], device=device)
        dist.broadcast(spent, 0)
        if spent.item() > options.budget - (40 if job.compiled else 15):
            continue
        try:
            result = measure(job, device)
        except torch.OutOfMemoryError:
            result = None
        except Exception as error:  # one job that cannot run must not cost the others
            print(f"{job}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
            continue
        writer.writerow(row_of(job, ranks, gpu, result))
        file.flush()
        print(f"{time.perf_counter() - begun:6.1f} s  {job}  {result}", flush=True)
    file.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
