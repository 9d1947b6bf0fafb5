"""Goodput over intervals between snapshots."""

import windtunnel as wt

points = wt.load("scenarios/small.yaml").sweep({"snapshots.0.every": ["10 min", "1 h", "4 h"]})
for point in points:
    print(point.set["snapshots.0.every"], f"{100 * point['campaign.goodput']:.2f} %")
print("best:", points.best("campaign.goodput").set["snapshots.0.every"])
