"""A collective of one's own: signs of gradients in two hops, beside what the library has."""

import windtunnel as wt


def one_bit(request):
    n, b = request.elements, request.element_bytes
    signs = n / 8
    return wt.Recipe([
        wt.RecipeStep([wt.Kernel(b * n + signs, like="sign pack")], "all-to-all", signs),
        wt.RecipeStep([wt.Kernel(signs + signs / request.ranks, like="vote")], "all-gather", signs),
        wt.RecipeStep([wt.Kernel(signs + b * n, like="sign unpack")]),
    ], buffer_bytes=2 * signs)


case = wt.load("scenarios/small.yaml").with_compressor("mine", one_bit)
case = case.set({"layout.sharding": "none", "communication.overlap": "none"})
for name in ("none", "signsgd", "mine"):
    step = case.set("communication.compressor", name).run()["iteration"]
    print(f"{name}: {step['time_s']:.3f} s")
