"""One step of a scenario: how long it takes, which share of the peak it reaches, what it keeps."""

import windtunnel as wt

step = wt.load("scenarios/small.yaml").run()["iteration"]
print(f"step {step['time_s']:.3f} s, MFU {100 * step['mfu']:.1f} %")
print(f"memory {step['memory_bytes']['peak'] / 1e9:.1f} GB")
