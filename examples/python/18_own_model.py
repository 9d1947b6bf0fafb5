"""A model that is written down beside one of the library."""

import windtunnel as wt

mine = {"layers": 24, "hidden": 2048, "heads": 16, "kv_heads": 4, "vocabulary": 50304,
        "sequence": 4096}
case = wt.load("scenarios/small.yaml")
for model in ("llama3-8b", mine):
    result = case.set("model", model).run()
    print(f"{result['model']['parameters'] / 1e9:.2f} G parameters: "
          f"{result['iteration']['time_s']:.3f} s")
