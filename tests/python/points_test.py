import os
import signal
import threading
import unittest

import windtunnel as wt
from common import SMALL, program

try:
    import pandas
except ImportError:
    pandas = None

GRID = {"failures.0.rate": ["1 per 1000 node-days", "10 per 1000 node-days"]}


class Comparisons(unittest.TestCase):
    def test_have_the_figures_of_runs(self):
        case = wt.load(SMALL).set({"layout.pp": 4, "layout.vpp": 1})
        points = case.compare({"schedule": ["1f1b", "zb-h1"]})
        self.assertEqual([point.set["schedule"] for point in points], ["1f1b", "zb-h1"])
        for point in points:
            time_s = case.set(point.set).run()["iteration"]["time_s"]
            self.assertEqual(point["iteration.time_s"], time_s)
            self.assertEqual(point.result["iteration"]["time_s"], time_s)
        best = points.best()
        self.assertEqual(best["iteration.time_s"], min(p["iteration.time_s"] for p in points))

    def test_the_best_is_by_throughput_or_which_way_a_figure_is_better(self):
        points = wt.load(SMALL).compare({"batch.global": [32, 128]})
        self.assertEqual(points.best().set["batch.global"], 128)
        self.assertEqual(points.best("iteration.time_s").set["batch.global"], 32)
        self.assertEqual(points.best("iteration.mfu").set["batch.global"], 128)
        self.assertEqual(points.best("iteration.mfu", highest=False).set["batch.global"], 32)
        neither = [key for key, better in points[0].better.items() if better == "neither"]
        with self.assertRaisesRegex(ValueError, "highest=True"):
            points.best(neither[0])
        with self.assertRaisesRegex(ValueError, "did you mean iteration.tokens_per_s"):
            points.best("iteration.token_per_s")
        with self.assertRaisesRegex(ValueError, "they have .*iteration.time_s"):
            points.best("nonsense")

    def test_a_point_that_cannot_be_has_the_reason(self):
        points = wt.load(SMALL).compare({"layout.tp": [4, 3]})
        self.assertEqual(points[0].reason, "")
        self.assertIn("tp", points[1].reason)
        with self.assertRaisesRegex(KeyError, "tp"):
            points[1]["iteration.time_s"]

    def test_where_no_point_can_be_the_first_error_is_raised(self):
        with self.assertRaises(wt.Error):
            wt.load(SMALL).compare({"layuot.tp": [1, 2]})

    def test_count_their_points(self):
        told = []
        wt.load(SMALL).compare({"layout.tp": [4, 8]}, progress=lambda *n: told.append(n))
        self.assertEqual(told, [(1, 2), (2, 2)])


    def test_an_interruption_keeps_what_is_finished(self):
        def interrupt(done, total):
            if done == 2:
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(wt.Interrupted) as caught:
            wt.load(SMALL).compare({"layout.tp": [1, 2, 4, 8]}, progress=interrupt)
        self.assertEqual([point.set for point in caught.exception.points],
                         [{"layout.tp": 1}, {"layout.tp": 2}])


class Sweeps(unittest.TestCase):
    def test_have_the_figures_of_the_program(self):
        told = []
        points = wt.load(SMALL).sweep(GRID, progress=lambda *n: told.append(n))
        self.assertEqual(told[-1], (2, 2))
        for point in points:
            of_program = program("run", "scenarios/small.yaml", "--set",
                                 "failures.0.rate=" + point.set["failures.0.rate"])
            self.assertEqual(point["campaign.goodput"], of_program["campaign"]["goodput"]["mean"])

    def test_an_interruption_keeps_what_is_finished(self):
        values = [f"{rate} per 1000 node-days" for rate in range(1, 401)]

        def interrupt(done, total):
            if done == 3:
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(wt.Interrupted) as caught:
            wt.load(SMALL).sweep({"failures.0.rate": values}, progress=interrupt)
        self.assertGreaterEqual(len(caught.exception.points), 3)
        self.assertLess(len(caught.exception.points), 400)
        self.assertIn("campaign.goodput", caught.exception.points[0].figures)

    def test_several_threads_at_once(self):
        found = [None] * 4

        def sweep(place):
            found[place] = [p["campaign.goodput"] for p in wt.load(SMALL).sweep(GRID, threads=1)]

        threads = [threading.Thread(target=sweep, args=(i,)) for i in range(len(found))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone = [point["campaign.goodput"] for point in wt.load(SMALL).sweep(GRID)]
        self.assertEqual(found, [alone] * 4)


@unittest.skipIf(pandas is None, "pandas is not installed")
class Frames(unittest.TestCase):
    def test_of_a_run(self):
        frame = wt.load(SMALL).run().frame()
        self.assertEqual(frame.loc["iteration.time_s", "unit"], "s")
        goodput = frame.loc["campaign.goodput"]
        self.assertLessEqual(goodput["low"], goodput["value"])

    def test_of_points(self):
        frame = wt.load(SMALL).sweep(GRID).frame()
        self.assertEqual(list(frame["failures.0.rate"]), GRID["failures.0.rate"])
        self.assertGreater(frame["campaign.goodput"][0], frame["campaign.goodput"][1])

    def test_notebooks_show_pages_and_tables(self):
        self.assertIn("<iframe", wt.load(SMALL).run()._repr_html_())
        self.assertIn("<table", wt.load(SMALL).sweep(GRID)._repr_html_())


if __name__ == "__main__":
    unittest.main()
