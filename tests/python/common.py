"""What the tests of the Python package share."""

import json
import os
import subprocess

SOURCE = os.environ["WINDTUNNEL_SOURCE_DIR"]
SMALL = os.path.join(SOURCE, "scenarios", "small.yaml")


def program(*arguments):
    """The document that the program prints for a command with --json."""
    done = subprocess.run(
        [os.environ["WINDTUNNEL"], *arguments, "--json"],
        cwd=SOURCE, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def one_f_one_b(request):
    """1F1B (Narayanan et al. 2019): warm-up forwards, then one of each, then what is left."""
    order = []
    for rank in range(request.ranks):
        ahead = min(request.ranks - rank - 1, request.microbatches)
        actions = [("F", rank, i) for i in range(ahead)]
        for i in range(request.microbatches):
            if ahead + i < request.microbatches:
                actions.append(("F", rank, ahead + i))
            actions.append(("B", rank, i))
        order.append(actions)
    return order
