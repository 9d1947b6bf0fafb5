#!/usr/bin/env python3
"""What commands take: CPU-seconds, seconds by the clock and peak memory, as a page of Markdown.

    command_speed.py PROGRAM [--against OTHER] [--only WORD]... [--page FILE]

The commands stand in command_speed.txt; one with SCENARIO runs on every scenario below scenarios/.
With --against each command also runs with another program, and both stand side by side, with
whether they printed the same bytes. --only takes the commands that hold all of the words. It runs
one command at a time and is to be started in the root of the source tree.
"""

import argparse
import glob
import hashlib
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_CPU_S = 600  # a command that takes more is ended
BUDGET_CPU_S = 10  # for what a person types on a job of 16,384 GPUs or fewer


def command_lines():
    """The lines of command_speed.txt in order, without comments."""
    with open(os.path.join(HERE, "command_speed.txt"), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def scenarios():
    """Every shipped file that describes a job or several, and none that describes a part of one."""
    files = glob.glob("scenarios/**/*.yaml", recursive=True)
    parts = ("scenarios/library/", "scenarios/models/")
    return sorted(file for file in files if not file.startswith(parts))


class Taken:
    """What one run of a command took."""

    def __init__(self, program, line, folder):
        words = shlex.split(line.replace("OUT", os.path.join(folder, "out")))
        with tempfile.TemporaryFile() as said:
            begin = time.monotonic()
            child = subprocess.Popen(
                [program, *words], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.DEVNULL,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S,) * 2))
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.wall_s = time.monotonic() - begin
            said.seek(0)
            self.said = hashlib.sha256(said.read().replace(folder.encode(), b"")).digest()
        self.code = child.returncode
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.memory_MB = usage.ru_maxrss / 1000

    def cell(self):
        """CPU-seconds / seconds / MB; a dash where the command does not take the scenario."""
        if self.code == 2:
            return "-"
        if self.code in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"over {MOST_CPU_S} s"
        figures = f"{self.cpu_s:.2f} / {self.wall_s:.2f} / {self.memory_MB:.0f}"
        return figures if self.code == 0 else f"{figures} (exit {self.code})"


def run_with(program, line):
    with tempfile.TemporaryDirectory() as folder:
        return Taken(program, line, folder)


def refuse_bad_line(line, code):
    """Ends where a line without a scenario was bad input (exit 2): the list is wrong, or stale."""
    if code == 2:
        sys.exit(f"command_speed.txt: `{line}` ends with exit code 2: the program does not take it")


def table(head, rows):
    """Markdown; the first column is text."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return os.uname().machine


def wanted(line, only):
    return all(word in line for word in only)


def page(program, only):
    lines = command_lines()
    on_scenarios = [line for line in lines if "SCENARIO" in line]
    taken = {}
    load = os.getloadavg()[0]
    all_lines = [line for line in lines if "SCENARIO" not in line]
    all_lines += [line.replace("SCENARIO", scenario)
                  for scenario in scenarios() for line in on_scenarios]
    interrupted = ""
    try:
        for line in all_lines:
            if wanted(line, only):
                print(line, file=sys.stderr)
                taken[line] = run_with(program, line)
                if line in lines:
                    refuse_bad_line(line, taken[line].code)
    except KeyboardInterrupt:
        interrupted = ": interrupted"
        print("interrupted: the page has what was timed", file=sys.stderr)

    def cell(line):
        return taken[line].cell() if line in taken else ""

    by_scenario = []
    for scenario in scenarios():
        cells = [cell(line.replace("SCENARIO", scenario)) for line in on_scenarios]
        if any(cells):
            by_scenario.append([scenario.removeprefix("scenarios/"), *cells])
    others = [[f"`{line}`", cell(line)] for line in all_lines
              if line in taken and line in lines]
    heads = [f"`{line.replace('SCENARIO', '...')}`" for line in on_scenarios]
    longest = sorted(taken, key=lambda line: -taken[line].cpu_s)[:10]
    text = ["# What commands take", "",
            "Made by `./dev bench --commands`; not written by hand. "
            "CPU-seconds / seconds by the clock / MB of memory at the peak, children included, of "
            f"each command on a {processor()} with {os.cpu_count()} cores, where {load:.1f} other "
            "processes ran on average when it began: they make seconds by the clock longer. A dash: "
            "the command does not take this scenario; an empty cell: it was not timed.", "",
            f"Budget: {BUDGET_CPU_S} CPU-seconds for what a person types on a job of 16,384 GPUs or "
            "fewer. The ten longest:", ""]
    text += table(["command", "CPU-s / s / MB"],
                  [[f"`{line}`", taken[line].cell()] for line in longest])
    if by_scenario:
        text += ["", "## On the shipped scenarios", "",
                 f"{len(by_scenario)} of {len(scenarios())} scenarios{interrupted}.", ""]
        text += table(["scenario", *heads], by_scenario)
    if others:
        text += ["", "## Others", ""] + table(["command", "CPU-s / s / MB"], others)
    return "\n".join(text) + "\n"


def comparison(program, other, only):
    rows = []
    for line in command_lines():
        for scenario in scenarios() if "SCENARIO" in line else [""]:
            full = line.replace("SCENARIO", scenario)
            if not wanted(full, only):
                continue
            print(full, file=sys.stderr)
            there, here = run_with(other, full), run_with(program, full)
            if not scenario:
                refuse_bad_line(full, here.code)
            if here.code == there.code == 2:
                continue
            rows.append((here.cpu_s / max(there.cpu_s, 1e-9),
                         [f"`{full}`", there.cell(), here.cell(),
                          f"{here.cpu_s / max(there.cpu_s, 1e-9):.2f}",
                          "same" if here.said == there.said else "other"]))
    rows.sort(key=lambda row: -row[0])
    head = ["command", "other: CPU-s / s / MB", "this", "CPU ratio", "printed"]
    return "\n".join(table(head, [row for _, row in rows])) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--against", metavar="OTHER", help="a second program, side by side")
    parser.add_argument("--only", metavar="WORD", action="append", default=[],
                        help="only commands with the word")
    parser.add_argument("--page", metavar="FILE", help="write there instead of printing")
    asked = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    if asked.against:
        text = comparison(asked.program, asked.against, asked.only)
    else:
        text = page(asked.program, asked.only)
    if asked.page:
        with open(asked.page, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
