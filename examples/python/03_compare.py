"""Every value of a key; a point that cannot be says why."""

import windtunnel as wt

points = wt.load("scenarios/small.yaml").compare({"layout.tp": [1, 2, 3, 4]})
for point in points:
    if point.reason:
        print(point.set, "cannot be:", point.reason.splitlines()[0])
    else:
        print(point.set, f"{point['iteration.time_s']:.3f} s")
print("best:", points.best("iteration.time_s").set)
