"""Figures with unit, interval and what they rest on."""

import windtunnel as wt

wanted = ("iteration.time_s", "iteration.mfu", "campaign.goodput")
for figure in wt.load("scenarios/small.yaml").run().figures():
    if figure["key"] in wanted:
        low = figure["low"]
        between = "" if low is None else f" ({low:.4g} .. {figure['high']:.4g})"
        print(f"{figure['key']}: {figure['value']:.4g} {figure['unit']}{between}")
