"""Compressors and saving rules of one's own."""

import math
import os
import re
import signal
import threading
import time
import unittest

import windtunnel as wt
from common import SMALL, program

UNSHARDED = {"layout.sharding": "none"}


def int8(request):
    """Dettmers 2016: 8 bits an element and a scale for each block, parts summed by one rank each."""
    n, b = request.elements, request.element_bytes
    packed = n * (8 / 8 + 4 / request.numbers["block"])
    encode = wt.Kernel(b * n + packed, like="quantise blocks", law="quantise-int8")
    add = wt.Kernel(packed + packed / request.ranks, like="requantise blocks")
    decode = wt.Kernel(packed + b * n, like="quantise blocks", law="dequantise-int8")
    return wt.Recipe(
        [wt.RecipeStep([encode], "all-to-all", packed),
         wt.RecipeStep([add], "all-gather", packed),
         wt.RecipeStep([decode])],
        buffer_bytes=2 * packed)


def orthonormalise(n, r, count, b):
    return wt.Kernel(2 * b * n * r * count, flops=2 * n * r * r * count, starts=r * count,
                     launches=count, like="orthonormalise")


def low_rank(law, m, n, k, count, b):
    kernel = wt.product("low-rank product", m, n, k, count, b)
    kernel.law = law
    return kernel


def power_sgd(request):
    """Vogels et al. 2019: M = P Q^T of rank r, with error feedback."""
    b, r = request.element_bytes, request.numbers["rank"]
    shapes = {}
    elements = dense = left = right = 0.0
    for each in request.tensors:
        matrix = each.rows > 1 and each.columns > 1
        if not matrix or (each.rows + each.columns) * r * 2 >= each.rows * each.columns:
            dense += b * each.elements
            continue
        shape = (each.rows, each.columns)
        shapes[shape] = shapes.get(shape, 0.0) + each.count
        elements += each.elements
        left += b * each.rows * r * each.count
        right += b * each.columns * r * each.count
    if not shapes:
        return wt.Recipe([wt.RecipeStep([], bytes=dense)] if dense > 0 else [])
    first, second, decode = [], [], []
    keeps_error = request.feedback == "ef"
    if keeps_error:
        first.append(wt.Kernel(3 * b * elements, like="error add", law="add"))
    for (n, m), count in shapes.items():
        first.append(low_rank("low-rank", n, r, m, count, b))
        second += [orthonormalise(n, r, count, b), low_rank("low-rank-back", m, r, n, count, b)]
        expand = low_rank("low-rank-expand", n, m, r, count, b)
        if keeps_error:
            expand.bytes += 2 * b * (n * m * count)
            expand.next_law = "low-rank-subtract"
        decode.append(expand)
    steps = [wt.RecipeStep(first, bytes=left), wt.RecipeStep(second, bytes=right),
             wt.RecipeStep(decode)]
    if dense > 0:
        steps[:1] = [wt.RecipeStep(first, bytes=dense), wt.RecipeStep([], bytes=left)]
    state = (b * elements if keeps_error else 0) + right
    return wt.Recipe(steps, state_bytes=state, buffer_bytes=left)


def renamed(document, name):
    """The document as if the addition 'mine' were called so; a hash of the case tells them apart."""
    if isinstance(document, dict):
        return {key: renamed(value, name) for key, value in document.items() if key != "key"}
    if isinstance(document, list):
        return [renamed(value, name) for value in document]
    return re.sub(r"\bmine\b", name, document) if isinstance(document, str) else document


class Compressors(unittest.TestCase):
    def expect_same_document(self, settings, name, case):
        """`case` has the compressor 'mine', which is the library's `name`."""
        ours = case.set(settings).set("communication.compressor.name", "mine").run()
        theirs = wt.load(SMALL).set(settings).set("communication.compressor.name", name).run()
        dense = wt.load(SMALL).set(settings.get("layout.sharding") and UNSHARDED or {}).run()
        self.assertNotEqual(theirs["iteration"]["time_s"], dense["iteration"]["time_s"])
        self.assertEqual(renamed(dict(ours), name), renamed(dict(theirs), name))

    def test_int8_is_the_librarys_document(self):
        case = wt.load(SMALL).with_compressor("mine", int8, numbers={"block": 256}, feedback="none")
        for block in (256, 64):
            self.expect_same_document(
                {**UNSHARDED, "communication.compressor.block": block}, "int8", case)

    def test_powersgd_is_the_librarys_document(self):
        case = wt.load(SMALL).with_compressor(
            "mine", power_sgd, numbers={"rank": 4}, feedback="ef", summable=True,
            whole_tensors=True)
        for more in ({}, {"communication.compressor.rank": 16},
                     {"communication.compressor.feedback": "none"}):
            self.expect_same_document({**UNSHARDED, **more}, "powersgd", case)

    def test_powersgd_with_measured_kernels(self):
        settings = {**UNSHARDED, "calibration": "h200-measured", "cluster.node": "dgx-h200"}
        case = wt.load(SMALL).with_compressor(
            "mine", power_sgd, numbers={"rank": 4}, feedback="ef", summable=True,
            whole_tensors=True)
        self.expect_same_document(settings, "powersgd", case)

    def test_points_of_a_sweep_are_those_of_runs(self):
        case = wt.load(SMALL).set(UNSHARDED).with_compressor("mine", int8, numbers={"block": 256})
        grid = {"communication.compressor": ["none", "mine"],
                "failures.0.rate": ["1 per 1000 node-days", "10 per 1000 node-days"]}
        found = [None] * 3

        def sweep(place):
            points = case.sweep(grid, threads=2)
            found[place] = [point["campaign.goodput"] for point in points]

        threads = [threading.Thread(target=sweep, args=(i,)) for i in range(len(found))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone = [case.set(point.set).run()["campaign"]["goodput"]["mean"]
                 for point in case.sweep(grid)]
        self.assertEqual(found, [alone] * 3)
        self.assertEqual(len(set(alone)), 4)

    def check(self, recipe, **more):
        case = wt.load(SMALL).set(UNSHARDED).with_compressor("mine", recipe, **more)
        case.set("communication.compressor", "mine").check()

    def test_a_wrong_result_names_the_compressor(self):
        for made in (None, 3, [wt.RecipeStep([])], {"steps": []}):
            with self.assertRaisesRegex(TypeError, "compressor 'mine' must return a windtunnel.Rec"):
                self.check(lambda request, m=made: m)
        for kernel in (wt.Kernel(-1), wt.Kernel(math.nan), wt.Kernel(1, starts=math.inf),
                       wt.Kernel(1, like="erorr add"), wt.Kernel(1, law="sgemm")):
            with self.assertRaisesRegex(wt.Error, "compressor 'mine', step 0, kernel 0") as caught:
                self.check(lambda request, k=kernel: wt.Recipe([wt.RecipeStep([k])]))
            self.assertEqual(caught.exception.cause, "input")
            self.assertEqual(caught.exception.key, "communication.compressor")
        with self.assertRaisesRegex(wt.Error, "'mine' is summable"):
            self.check(int8, numbers={"block": 256}, summable=True)
        with self.assertRaisesRegex(ValueError, "'all-reduce', 'reduce-scatter'"):
            wt.RecipeStep([], "allreduce")
        with self.assertRaisesRegex(ValueError, "'across'"):
            wt.RecipeStep([], hop="nodes")
        with self.assertRaises(TypeError):
            wt.Recipe([wt.Kernel(1)])

    def test_an_exception_passes_through_and_says_where(self):
        def broken(request):
            return request.numbers["rank"]

        with self.assertRaisesRegex(KeyError, "rank") as caught:
            self.check(broken)
        if hasattr(caught.exception, "__notes__"):
            self.assertIn("in compressor 'mine'", caught.exception.__notes__)

    def test_arguments_are_checked(self):
        case = wt.load(SMALL)
        with self.assertRaisesRegex(wt.Error, "'powersgd' already"):
            case.with_compressor("powersgd", int8)
        with self.assertRaisesRegex(wt.Error, "did you mean 'rank'"):
            case.with_compressor("mine", int8, numbers={"rnak": 4})
        with self.assertRaises(TypeError):
            case.with_compressor("mine", "int8")


class SavingRules(unittest.TestCase):
    def run_with(self, rule, **settings):
        case = wt.load(SMALL).with_saving_rule("mine", rule).set("snapshots.0.every", "mine")
        return case.set(settings).run()

    def test_a_fixed_interval_is_the_librarys_document(self):
        for every in ("30 min", "2 h"):
            seconds = {"30 min": 1800, "2 h": 7200}[every]
            ours = self.run_with(lambda moment: seconds)
            theirs = wt.load(SMALL).set("snapshots.0.every", every).run()
            self.assertEqual(renamed(dict(ours), every), renamed(dict(theirs), every))

    def test_dalys_is_the_document_of_its_interval(self):
        said = []

        def daly(moment):
            """Daly 2006, eq. 37, in whole seconds, of the first moment: campaigns that try other
            costs save as often."""
            if not said:
                cost, mtbf = moment.stall_s, moment.mtbf_s
                ratio = cost / (2 * mtbf)
                said.append(round(math.sqrt(2 * cost * mtbf) *
                                  (1 + math.sqrt(ratio) / 3 + ratio / 9) - cost))
            return said[0]

        ours = self.run_with(daly)
        every = wt.load(SMALL).set("snapshots.0.every", f"{said[0]} s")
        text = next(each["value"] for each in every.values() if each["key"] == "snapshots.0.every")
        self.assertEqual(renamed(dict(ours), text), renamed(dict(every.run()), text))
        self.assertAlmostEqual(ours["campaign"]["interval"]["daly_s"] / said[0], 1, places=4)

    def test_an_adaptive_one_learns_the_rate_of_failures(self):
        def young(moment):
            """Young 1974, with the rate of the failures that it has met and one before."""
            mtbf = (moment.now_s + 7 * 86400) / (moment.failures + 1)
            return math.sqrt(2 * moment.stall_s * mtbf)

        every = [self.run_with(young, **{"failures.0.rate": f"{rate} per 1000 node-days"})
                 ["campaign"]["tiers"][0]["every_s"] for rate in (1, 100)]
        self.assertGreater(every[0], 1.5 * every[1])
        ours = self.run_with(young)
        self.assertEqual(dict(ours), dict(self.run_with(young)))
        case = wt.load(SMALL).with_saving_rule("mine", young).set("snapshots.0.every", "mine")
        self.assertEqual(dict(case.run(threads=1)), dict(case.run(threads=4)))

    def test_a_wrong_answer_names_the_rule(self):
        for said in (0, -1, math.nan, math.inf):
            with self.assertRaisesRegex(wt.Error, "saving rule 'mine' returned .* above 0") as caught:
                self.run_with(lambda moment, s=said: s)
            self.assertEqual(caught.exception.key, "snapshots.0.every")
            self.assertEqual(caught.exception.cause, "input")
        for said in (None, "1 h", [1]):
            with self.assertRaisesRegex(TypeError, "saving rule 'mine' must return seconds"):
                self.run_with(lambda moment, s=said: s)

    def test_an_exception_passes_through_and_says_where(self):
        with self.assertRaises(ZeroDivisionError) as caught:
            self.run_with(lambda moment: 1 / moment.failures)
        if hasattr(caught.exception, "__notes__"):
            self.assertIn("in saving rule 'mine'", caught.exception.__notes__)

    def test_an_interruption_ends_the_campaign_within_its_trials(self):
        asked = []

        def rule(moment):
            asked.append(moment.now_s)
            if interrupt and len(asked) == 1:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.5)  # the main thread looks for signals every 50 ms
            return 1800

        case = wt.load(SMALL).with_saving_rule("mine", rule).set("snapshots.0.every", "mine")
        interrupt = False
        case.run()
        of_all = len(asked)
        asked.clear()
        interrupt = True
        with self.assertRaises(KeyboardInterrupt):
            case.run(threads=1)
        self.assertLess(len(asked), of_all / 20)  # the campaign has 20 trials, and others follow

    def test_points_of_a_sweep_are_those_of_the_program(self):
        case = wt.load(SMALL).with_saving_rule("half-hourly", lambda moment: 1800)
        points = case.sweep({"snapshots.0.every": ["half-hourly", "2 h"]})
        for point, every in zip(points, ("30 min", "2 h")):
            document = program("run", "scenarios/small.yaml", "--set", f"snapshots.0.every={every}")
            self.assertEqual(point["campaign.goodput"], document["campaign"]["goodput"]["mean"])

    def test_names_are_checked(self):
        with self.assertRaisesRegex(wt.Error, "cannot be called .1 h."):
            wt.load(SMALL).with_saving_rule("1 h", lambda moment: 3600)
        with self.assertRaisesRegex(wt.Error, "saving rule of your program: mine"):
            self.run_with(lambda moment: 1800, **{"snapshots.0.every": "mien"})


if __name__ == "__main__":
    unittest.main()
