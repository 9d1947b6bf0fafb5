"""What nccl-tests should show, with 90 % intervals."""

import windtunnel as wt

curve = wt.command("expect", "all_reduce", cluster="2 x dgx-h100", sizes="1M,64M,1G")
for size in curve["sizes"]:
    bus = size["busbw_Bps"]
    print(f"{size['bytes'] / 2**20:.0f} MiB: {bus['mean'] / 1e9:.0f} GB/s "
          f"({bus['low'] / 1e9:.0f} .. {bus['high'] / 1e9:.0f}), {size['algorithm']}")
