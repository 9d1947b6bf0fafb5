"""An error names the key, its place and whose fault it is."""

import windtunnel as wt

for key, value in (("layout.tp", 3), ("layout.tq", 2), ("batch.global", "many")):
    try:
        wt.load("scenarios/small.yaml").set(key, value).run()
    except wt.Error as error:
        print(f"{error.cause}: {str(error).splitlines()[0]}")
