"""A fabric of one's own, used by its name."""

import windtunnel as wt

thin = {"topology": "fat-tree", "nodes_per_pod": 1, "pod_oversubscription": 8}
case = wt.load("scenarios/small.yaml").with_fabric("thin", thin)
case = case.set({"layout.pp": 1, "communication.overlap": "none"})
for name in ("full-bisection", "thin"):
    print(f"{name}: {case.set('cluster.fabric', name).run()['iteration']['time_s']:.3f} s")
