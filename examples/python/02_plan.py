"""From a machine, a model and a number of tokens to a layout, days and a price."""

import windtunnel as wt

plan = wt.command("plan", cluster="8 x dgx-h100", model="llama3-8b", tokens="500 G")
for name in ("best", "runner_up"):
    choice = plan[name]
    layout = ", ".join(f"{key} {value}" for key, value in choice["set"].items()
                       if key.startswith("layout.") and value not in ("1", "false"))
    print(f"{name}: {choice['days']:.2f} d, {choice['cost_usd']:.0f} USD: {layout}")
