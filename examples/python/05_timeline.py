"""The tasks of a step: how long each pipeline rank computes."""

import windtunnel as wt

result = wt.load("scenarios/small.yaml").run()
step_s = result["iteration"]["time_s"]
for rank in result.timeline():
    tasks = [task for task in rank["tasks"] if task["kind"] == "compute" and task["iteration"] == 0]
    busy_s = sum(task["end_s"] - task["start_s"] for task in tasks)
    print(f"{rank['kind']}: {len(tasks)} computations, {100 * busy_s / step_s:.1f} % of the step")
