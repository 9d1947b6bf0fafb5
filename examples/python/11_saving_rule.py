"""A rule of when to save: Young's interval for the failures that the run has met."""

import math

import windtunnel as wt


def young(moment):
    mtbf_s = (moment.now_s + 7 * 86400) / (moment.failures + 1)
    return math.sqrt(2 * moment.stall_s * mtbf_s)


ruled = wt.load("scenarios/small.yaml").with_saving_rule("young", young)
for every in ("30 min", "4 h", "young"):
    goodput = ruled.set("snapshots.0.every", every).run()["campaign"]["goodput"]["mean"]
    print(f"{every}: goodput {100 * goodput:.2f} %")
