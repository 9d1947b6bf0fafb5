"""A schedule of one's own beside two of the library."""

import windtunnel as wt


def all_forward_first(request):
    batches = range(request.microbatches)
    return [[wt.forward(rank, i) for i in batches] +
            [wt.backward(rank, i) for i in reversed(batches)] for rank in range(request.ranks)]


case = wt.load("scenarios/small.yaml").with_schedule("mine", all_forward_first)
case = case.set("recompute", "full")
for name in ("1f1b", "gpipe", "mine"):
    step = case.set("schedule", name).run()["iteration"]
    print(f"{name}: {step['time_s']:.3f} s, {step['memory_bytes']['peak'] / 1e9:.1f} GB")
