"""What a log says beside its job, and the likeliest cause."""

import windtunnel as wt

found = wt.command("diagnose", "examples/logs/llama3-8b.log", "examples/logs/llama3-8b.yaml")
print(f"{found['verdict']}: {found['measured']['step_s']:.2f} s measured, "
      f"{found['expected']['step_s']:.2f} s expected")
first = found["causes"][0]
print(f"{first['cause']}: mending it gives {100 * first['gain']:.0f} % of the step")
