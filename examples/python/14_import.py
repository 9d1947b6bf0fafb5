"""A launch script of Megatron-LM as a case."""

import windtunnel as wt

case = wt.load("examples/configurations/llama3-70b.sh").set("cluster.node", "dgx-h100")
step = case.run()["iteration"]
print(f"step {step['time_s']:.2f} s, MFU {100 * step['mfu']:.1f} %")
