"""A class of failures of one's own beside the nodes that break."""

import windtunnel as wt

node = {"class": "node", "rate": "6.5 per 1000 node-days", "repair": "24 h"}
case = wt.load("scenarios/small.yaml")
case = case.with_failure("driver", {"kind": "process", "rate": "200 per 1000 node-days"})
for failures in ([node], ["driver", node]):
    goodput = case.set("failures", failures).run()["campaign"]["goodput"]["mean"]
    print(f"{len(failures)} of them: goodput {100 * goodput:.2f} %")
