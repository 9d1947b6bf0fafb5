"""What a key became, and where its value is from."""

import windtunnel as wt

values = {value["key"]: value for value in wt.load("scenarios/small.yaml").values()}
for key in ("layout.tp", "batch.micro", "precision"):
    value = values[key]
    print(f"{key}: {value['value']} ({value['origin']}, {value['source']})")
print("schedules:", ", ".join(wt.names("schedule")[:3]), "and more")
