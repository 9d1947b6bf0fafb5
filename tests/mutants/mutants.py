#!/usr/bin/env python3
"""Do the tests find a wrong sign? Plants mutants into a copy of the sources and runs the tests on each.

    mutants.py TREE plant [--count N] [--seed S]   draws N places and writes them into TREE
    mutants.py TREE build                          builds all of them at once, drops what does not compile
    mutants.py TREE reach                          runs each suite once: which mutants does it evaluate?
    mutants.py TREE kill [--only ID,...]           runs those suites against each mutant until one fails
    mutants.py TREE show                           the mutants, what killed them, and a table by floor

TREE becomes a copy of the source tree with a build of its own; `./dev mutants` makes it in
build/mutants. What is known stands in TREE/mutants.json. mutant.hpp says how all fit into one build.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import sites  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FLOORS = ("models", "policies", "traces", "sim")
SURPLUS = 1.1  # so many more are drawn as may not compile
RUN_LIMIT_S = 120  # a hang counts as killed
# Programs that test other code than the core's, or take an hour.
APART = re.compile(r"(gpu|long|house|kernels|cuda|harness|fuzz|answers|python|examples)")
PREFIX = """#include "tests/mutants/mutant.hpp"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#line 1
"""


def sources():
    """Path and text of every source that mutants may stand in."""
    listed = subprocess.run(["git", "ls-files", *(floor + "/*.cpp" for floor in FLOORS)], cwd=ROOT,
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    for path in listed.split("\n")[:-1]:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            yield path, file.read()


def write(tree, mutants):
    """Writes the mutants that compile into the tree's sources. A file that stays is not touched; one that
    changes is as new as now, also when it becomes the original again, so that it is compiled again."""
    for path, text in sources():
        edits = [(place, length, new.replace("@", str(mutant["id"])))
                 for mutant in mutants if mutant["path"] == path and not mutant.get("dropped")
                 for place, length, new in mutant["edits"]]
        for place, length, new in sorted(edits, reverse=True):
            text = text[:place] + new + text[place + length:]
        write_changed(os.path.join(tree, path), (PREFIX + text if edits else text).encode())


def write_changed(path, content):
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return
        os.unlink(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def copy(tree):
    """Makes the tree a copy of the working tree's tracked files, but for the sources, which `write` writes."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                            check=True).stdout.split("\n")[:-1]
    for path in set(listed) - {path for path, _ in sources()}:
        with open(os.path.join(ROOT, path), "rb") as file:
            write_changed(os.path.join(tree, path), file.read())
        shutil.copymode(os.path.join(ROOT, path), os.path.join(tree, path))


def drop_failures(mutants, said):
    """Marks the mutants at the places that the compiler names; returns how many."""
    dropped = 0
    where = re.compile(r"^(?:.*[ /])?((?:models|policies|traces|sim)/[\w/]+\.cpp):(\d+):(?:\d+:)? +"
                       r"(?:error:|required from here)", re.M)
    for path, line in {(match[1], int(match[2])) for match in where.finditer(said)}:
        here = [m for m in mutants if m["path"] == path and not m.get("dropped")]
        around = [m for m in here if m["line"] <= line <= m["last"] + 1]
        before = [m for m in here if m["line"] <= line]
        for mutant in (around or before or here)[-1:]:
            mutant["dropped"] = True
            dropped += 1
    return dropped


def build(tree, mutants, jobs):
    subprocess.run(["cmake", "--preset", "release"], cwd=tree, stdout=subprocess.DEVNULL, check=True)
    while True:
        write(tree, mutants)
        done = subprocess.run(
            ["ninja", "-C", "build/release", "-k", "0", "-j", str(jobs), *programs(tree)], cwd=tree,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 0:
            return
        dropped = drop_failures(mutants, done.stdout)
        print(f"{dropped} mutants do not compile", flush=True)
        keep(tree, mutants)
        if dropped == 0:
            sys.exit(done.stdout[-4000:])


def programs(tree):
    """The test programs of the core, by the names of their targets."""
    listed = subprocess.run(["ninja", "-C", "build/release", "-t", "targets", "all"], cwd=tree,
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(r"^bin/(\w+_test): ", listed, re.M)
    chosen = os.environ.get("WINDTUNNEL_MUTANT_PROGRAMS")
    return sorted(name for name in names
                  if (re.search(chosen, name) if chosen else not APART.search(name)))


def run(tree, program, suites, limit_s, mutant=-1, marks=None):
    """Runs suites of a program: failed?, seconds, and what it printed."""
    environment = {**os.environ, "WINDTUNNEL_MUTANT": str(mutant), "GTEST_FAIL_FAST": "1"}
    if marks:
        environment["WINDTUNNEL_REACHED"] = marks
    chosen = ":".join(suite + "*" for suite in suites)
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [os.path.join(tree, "build/release/bin", program),
             f"--gtest_filter={chosen}-*ManyBlocks*:*NumberEnds*"],
            cwd=os.path.join(tree, "build/release/tests"), env=environment, timeout=limit_s,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        return done.returncode != 0, time.monotonic() - begin, done.stdout
    except subprocess.TimeoutExpired:
        return True, limit_s, "no end"


def reach(tree, known):
    """Runs each suite without a mutant, and notes seconds and which mutants it evaluates."""
    marks = os.path.join(tree, "mutants.marks")
    suites = known.setdefault("suites", {})
    for program in programs(tree):
        listed = subprocess.run([os.path.join(tree, "build/release/bin", program), "--gtest_list_tests"],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        for suite in re.findall(r"^(\S+\.)", listed, re.M):
            if f"{program} {suite}" in suites:
                continue
            with open(marks, "wb") as file:
                file.write(bytes(4096))
            failed, seconds, _ = run(tree, program, [suite], RUN_LIMIT_S, marks=marks)
            with open(marks, "rb") as file:
                reached = [i for i, mark in enumerate(file.read()) if mark]
            suites[f"{program} {suite}"] = {
                "failed": failed, "seconds": round(seconds, 2), "reached": reached}
        keep(tree, known["mutants"], known)


def kill(tree, known, only):
    for mutant in counted(known):
        if (only and mutant["id"] not in only) or (not only and "killed" in mutant):
            continue
        by_program = collections.defaultdict(list)
        seconds = collections.Counter()
        for name, suite in known["suites"].items():
            program, suite_name = name.split(" ")
            if mutant["id"] in suite["reached"] and not suite["failed"]:
                by_program[program].append(suite_name)
                seconds[program] += suite["seconds"]
        own = "_".join(mutant["path"].split("/")[:2])
        mutant["killed"] = ""
        mutant["reached"] = len(by_program)
        for program in sorted(by_program, key=lambda p: (not p.startswith(own), seconds[p])):
            failed, _, said = run(tree, program, by_program[program], RUN_LIMIT_S, mutant["id"])
            if failed:
                test = re.search(r"^\[  FAILED  \] ([\w/.]+)", said, re.M)
                last = re.findall(r"^\[ RUN      \] (\S+)", said, re.M)
                mutant["killed"] = f"{program} {test[1] if test else last[-1] if last else said[:20]}"
                break
        keep(tree, known["mutants"], known)
        print(mutant["id"], mutant["kind"], f"{mutant['path']}:{mutant['line']}", mutant["killed"] or
              f"SURVIVES ({mutant['reached']} programs) {mutant['text']}", flush=True)


def counted(known):
    return [mutant for mutant in known["mutants"] if not mutant.get("dropped")][:known["count"]]


def keep(tree, mutants, known=None):
    path = os.path.join(tree, "mutants.json")
    if known is None:
        known = read(tree)
        known["mutants"] = mutants
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(known, file, indent=1)
    os.replace(path + ".new", path)


def read(tree):
    with open(os.path.join(tree, "mutants.json"), encoding="utf-8") as file:
        return json.load(file)


def show(known):
    for what in ("path", "kind"):
        print(f"\n| {what} | mutants | killed | by tests of the own room |\n|---|---:|---:|---:|")
        groups = collections.defaultdict(list)
        for mutant in counted(known):
            groups[mutant["path"].split("/")[0] if what == "path" else mutant["kind"]].append(mutant)
        for name, group in [*groups.items(), ("all", counted(known))]:
            own = sum(m.get("killed", "").startswith("_".join(m["path"].split("/")[:2])) for m in group)
            print(f"| {name} | {len(group)} | {sum(bool(m.get('killed')) for m in group)} | {own} |")
    print()
    for mutant in counted(known):
        if not mutant.get("killed"):
            print(f"{mutant['id']} {mutant['kind']} {mutant['path']}:{mutant['line']} {mutant['text']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("step", choices=("plant", "build", "reach", "kill", "show"))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.step == "plant":
        mutants = sites.drawn(sources(), int(given.count * SURPLUS), given.seed)
        copy(given.tree)
        write(given.tree, mutants)
        keep(given.tree, mutants, {"count": given.count, "mutants": mutants})
        print(collections.Counter(mutant["path"].split("/")[0] for mutant in mutants))
        return
    known = read(given.tree)
    if given.step == "build":
        build(given.tree, known["mutants"], given.jobs)
    elif given.step == "reach":
        reach(given.tree, known)
    elif given.step == "kill":
        kill(given.tree, known, [int(word) for word in given.only.split(",") if word])
    else:
        show(known)


if __name__ == "__main__":
    main()
