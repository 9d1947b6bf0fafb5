#!/usr/bin/env python3
"""Do the tests find a wrong sign? Plants mutants into a copy of the sources and runs the tests on each.

    mutants.py TREE plant [--count N] [--seed S]   draws N places and writes them into TREE
    mutants.py TREE build                          builds all of them at once, drops what does not compile
    mutants.py TREE reach                          runs each suite once: which mutants does it evaluate?
    mutants.py TREE kill [--only ID,...]           runs those suites against each mutant until one fails
    mutants.py TREE page                           writes docs/reference/mutants.md

TREE becomes a copy of the source tree with a build of its own; `./dev mutants` makes it in
build/mutants. What is known stands in TREE/mutants.json. mutant.hpp says how all fit into one build.
"""

import argparse
import collections
import csv
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
SURPLUS = 1.1  # a tenth more are drawn, because some do not compile
RUN_LIMIT_S = 120  # longer than twice the time without a mutant: a hang, which counts as killed
REACH_LIMIT_S = 900  # of a suite without a mutant
MARKS = 4096  # kMost of mutant.hpp
# Programs that test other code than the core's, or take an hour.
APART = re.compile(r"(gpu|long|house|kernels|cuda|harness|fuzz|answers|python|examples)")
PREFIX = """#include "tests/mutants/mutant.hpp"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#line 1
"""
INTRODUCTION = """# Which mistakes do the tests find?

A test that passes says little if it would pass with a mistake in the code, too. Here {count} mistakes were put into
the core, one at a time, and the fast tests ran against each: into {files} files of `models`, `policies`, `traces` and
`sim`, which were drawn by chance (a file of twice the lines twice as often), in each file one mistake of each kind. A
`sign` turns + into - or back, a `factor` * into /, a `bound` < into <=, `negated` reverses a condition, a `constant`
0, 1 or 2 becomes one more or less, an `extreme` turns `min` into `max`, `logic` turns && into ||, and a `return`
gives an empty value back. Invariants (`CHECK`), messages of errors, constant expressions and what does not compile
are left out. A mistake is found ("killed") when a test fails, crashes or takes two minutes
more than twice its time without the mistake. A line that no suite evaluates is not found by any.

Made by `./dev mutants`; not written by hand. The reasons stand in `tests/mutants/survivors.csv`. "Killed before" are
those that a test found when they were drawn; then tests were written for the others.
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
    for path, text in read(tree, "sources.json").items():
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


def copy(tree, planted):
    """Makes the tree a copy of the working tree's tracked files, but for `planted`, which `write` writes."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                            check=True).stdout.split("\n")[:-1]
    for path in set(listed) - planted:
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


def build(tree, known, jobs):
    subprocess.run(["cmake", "--preset", "release"], cwd=tree, stdout=subprocess.DEVNULL, check=True)
    while True:
        write(tree, known["mutants"])
        done = subprocess.run(
            ["ninja", "-C", "build/release", "-k", "0", "-j", str(jobs), *programs(tree)], cwd=tree,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 0:
            return
        dropped = drop_failures(known["mutants"], done.stdout)
        print(f"{dropped} mutants do not compile", flush=True)
        keep(tree, "mutants.json", known)
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


def reach(tree):
    """Runs each suite without a mutant, and notes seconds and which mutants it evaluates."""
    marks = os.path.join(tree, "mutants.marks")
    suites = read(tree, "suites.json")
    for program in programs(tree):
        listed = subprocess.run([os.path.join(tree, "build/release/bin", program), "--gtest_list_tests"],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        for suite in re.findall(r"^(\S+\.)", listed, re.M):
            name = f"{program} {suite}"
            if name in suites:
                continue
            with open(marks, "wb") as file:
                file.write(bytes(MARKS))
            failed, seconds, _ = run(tree, program, [suite], REACH_LIMIT_S, marks=marks)
            with open(marks, "rb") as file:
                reached = [i for i, mark in enumerate(file.read()) if mark]
            suites[name] = {"failed": failed, "seconds": round(seconds, 2), "reached": reached}
            keep(tree, "suites.json", suites)


def kill(tree, known, only):
    """Runs the suites that evaluate a mutant until a test fails, those of its own room first."""
    suites = read(tree, "suites.json")
    for mutant in counted(known):
        if mutant.get("killed") or (only and mutant["id"] not in only):
            continue
        by_program, seconds = collections.defaultdict(list), collections.Counter()
        for name, suite in suites.items():
            program, suite_name = name.split(" ")
            tried = name in mutant.get("passed", ()) and not only
            if mutant["id"] in suite["reached"] and not suite["failed"] and not tried:
                by_program[program].append(suite_name)
                seconds[program] += suite["seconds"]
        mutant["killed"] = ""
        if not by_program:
            continue
        for program in sorted(by_program,
                              key=lambda p: (not p.startswith(own_program(mutant)), seconds[p])):
            failed, _, said = run(tree, program, by_program[program], RUN_LIMIT_S + 2 * seconds[program],
                                  mutant["id"])
            if failed:
                test = re.search(r"^\[  FAILED  \] ([\w/.]+)", said, re.M)
                last = re.findall(r"^\[ RUN      \] (\S+)", said, re.M)
                mutant["killed"] = f"{program} {test[1] if test else last[-1] if last else said[:20]}"
                break
            mutant.setdefault("passed", []).extend(f"{program} {suite}" for suite in by_program[program])
        keep(tree, "mutants.json", known)
        print(mutant["id"], mutant["kind"], f"{mutant['path']}:{mutant['line']}", mutant["killed"] or
              f"SURVIVES {sorted({name.split(' ')[0] for name in mutant.get('passed', ())})}", flush=True)


def own_program(mutant):
    """How the name of the room's own test program begins."""
    return "_".join(mutant["path"].split("/")[:2])


def counted(known):
    return [mutant for mutant in known["mutants"] if not mutant.get("dropped")][:known["count"]]


def keep(tree, name, value):
    path = os.path.join(tree, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
    os.replace(path + ".new", path)


def read(tree, name):
    path = os.path.join(tree, name)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def survivors():
    """What is known of mutants that no test killed when they were drawn: by path, kind and line."""
    with open(os.path.join(HERE, "survivors.csv"), encoding="utf-8", newline="") as file:
        return {(row["path"], row["kind"], row["line"]): row for row in csv.DictReader(file)}


def page(known):
    """The page docs/reference/mutants.md, as Markdown."""
    drawn, judged = counted(known), survivors()
    mutants = [mutant for mutant in drawn if mutant.get("killed") or mutant.get("passed")]
    for mutant in mutants:
        mutant.setdefault("killed", "")
        mutant["row"] = judged.get((mutant["path"], mutant["kind"], mutant["text"]))
    lines = [INTRODUCTION.format(count=len(mutants), files=len({m["path"] for m in mutants}))]
    ran = {name.split(" ")[0] for m in mutants for name in [m["killed"], *m.get("passed", ())] if name}
    lines.append(f"Programs that ran: {', '.join(sorted(ran))}.\n")
    if len(drawn) > len(mutants):
        lines.append(f"{len(drawn) - len(mutants)} more were drawn and are not in the tables: no test "
                     "that evaluates them ran.\n")
    for what, name_of in (("Floor", lambda m: m["path"].split("/")[0]), ("Kind", lambda m: m["kind"])):
        lines += [f"| {what} | mutants | killed before | killed now | by tests of the room |",
                  "|---|---:|---:|---:|---:|"]
        groups = collections.defaultdict(list)
        for mutant in mutants:
            groups[name_of(mutant)].append(mutant)
        for name, group in [*groups.items(), ("all", mutants)]:
            killed = [m for m in group if m["killed"]]
            before = [m for m in killed if not m["row"]]
            own = [m for m in killed if m["killed"].startswith(own_program(m))]
            lines.append(f"| {name} | {len(group)} | {len(before)} | {len(killed)} | {len(own)} |")
        lines.append("")
    for title, chosen in (("Found by a test that was written for it", lambda m: m["killed"] and m["row"]),
                          ("Not found", lambda m: not m["killed"])):
        lines += [f"## {title}", "", "| Where | Kind | Line | Why |", "|---|---|---|---|"]
        for mutant in filter(chosen, mutants):
            text = mutant["text"].replace("|", "\\|")
            met = "not judged yet" if mutant.get("passed") else "no test evaluates it"
            why = mutant["row"]["why"] if mutant["row"] else met
            lines.append(f"| {mutant['path']}:{mutant['line']} | {mutant['kind']} | `{text}` | {why} |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("step", choices=("plant", "build", "reach", "kill", "page"))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.step == "plant":
        mutants = sites.drawn(sources(), int(given.count * SURPLUS), given.seed)
        texts = {path: text for path, text in sources() if any(m["path"] == path for m in mutants)}
        copy(given.tree, set(texts))
        keep(given.tree, "sources.json", texts)
        write(given.tree, mutants)
        keep(given.tree, "mutants.json", {"count": given.count, "mutants": mutants})
        keep(given.tree, "suites.json", {})
        print(collections.Counter(mutant["path"].split("/")[0] for mutant in mutants))
        return
    known = read(given.tree, "mutants.json")
    if given.step == "build":
        build(given.tree, known, given.jobs)
    elif given.step == "reach":
        reach(given.tree)
    elif given.step == "kill":
        kill(given.tree, known, [int(word) for word in given.only.split(",") if word])
    else:
        with open(os.path.join(ROOT, "docs/reference/mutants.md"), "w", encoding="utf-8") as file:
            file.write(page(known))


if __name__ == "__main__":
    main()
