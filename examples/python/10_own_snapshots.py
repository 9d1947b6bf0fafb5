"""A scheme of snapshots of one's own: copies in the memory of peers beside the storage."""

import windtunnel as wt

case = wt.load("scenarios/small.yaml").with_snapshots("mine", [
    {"tier": "peers", "every": "20 iterations", "code": {"name": "copies"}},
    {"tier": "storage", "every": "3 h", "mode": "async"},
])
for name in ("sync", "mine"):
    goodput = case.set("snapshots", name).run()["campaign"]["goodput"]["mean"]
    print(f"{name}: goodput {100 * goodput:.2f} %")
