import os
import signal
import time
import unittest

import windtunnel as wt
from common import SMALL, one_f_one_b, program

PIPELINE = {"schedule": "1f1b", "layout.pp": 4, "layout.vpp": 1}


class Cases(unittest.TestCase):
    def test_a_run_is_the_document_of_the_program(self):
        result = wt.load(SMALL).set("layout.tp", 2).run()
        document = program("run", "scenarios/small.yaml", "--set", "layout.tp=2")
        del document["schema"]  # which says that a program printed it
        self.assertEqual(dict(result), document)

    def test_the_configuration_of_a_training_program_is_a_case(self):
        script = "examples/configurations/llama3-70b.sh"
        case = wt.load(os.path.join(os.environ["WINDTUNNEL_SOURCE_DIR"], script))
        with self.assertRaises(wt.Error) as refused:
            case.run()
        self.assertIn("cluster.node=", refused.exception.text)
        on_machine = case.set("cluster.node", "dgx-h100")
        document = program("run", script, "--set", "cluster.node=dgx-h100")
        self.assertEqual(on_machine.run()["iteration"], document["iteration"])
        slower = on_machine.set("layout.vpp", 1)
        self.assertEqual(len(on_machine.compare({"layout.vpp": [1, 4]})), 2)
        self.assertNotEqual(slower.key, on_machine.key)

    def test_set_leaves_the_case_as_it_is(self):
        case = wt.load(SMALL)
        other = case.set({"layout.tp": 4, "name": "other"})
        self.assertEqual(other.name, "other")
        self.assertNotEqual(case.name, "other")
        self.assertNotEqual(case.key, other.key)

    def test_an_interruption_ends_a_run_before_its_next_step(self):
        def steps_of(interrupt):
            steps = []

            def tell(step):
                steps.append(step)
                if interrupt and len(steps) == 1:
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.5)  # the main thread looks for signals every 50 ms

            wt.load(SMALL).run(progress=tell) if not interrupt else self.assertRaises(
                KeyboardInterrupt, wt.load(SMALL).run, progress=tell)
            return steps

        self.assertGreater(len(steps_of(interrupt=False)), 1)
        self.assertEqual(len(steps_of(interrupt=True)), 1)

    def test_values_of_any_type_are_written_as_a_scenario_would(self):
        case = wt.load(SMALL).set({"snapshots": [{"tier": "storage", "every": "2 h"}]})
        tiers = [each for each in case.values() if each["key"].startswith("snapshots.0.every")]
        self.assertEqual([each["value"] for each in tiers], ["2 h"])
        self.assertFalse(tiers[0]["is_default"])

    def test_an_own_schedule_reproduces_1f1b_bit_for_bit(self):
        case = wt.load(SMALL).set(PIPELINE)
        own = case.with_schedule("mine", one_f_one_b).set("schedule", "mine")
        ours, theirs = own.run(), case.run()
        self.assertEqual(ours["campaign"], theirs["campaign"])
        self.assertEqual(ours["iteration"], theirs["iteration"])

    def test_an_own_schedule_says_where_stages_are(self):
        def reversed_stages(request):
            last = request.ranks - 1
            order = one_f_one_b(request)
            return tuple(order[::-1]), [last - stage for stage in range(request.ranks)]

        case = wt.load(SMALL).set(PIPELINE)
        own = case.with_schedule("backwards", reversed_stages).set("schedule", "backwards")
        self.assertGreater(own.run()["iteration"]["time_s"], 0)

    def test_own_snapshots(self):
        case = wt.load(SMALL).with_snapshots(
            "own", [{"tier": "peers", "every": "20 iterations", "code": {"name": "copies"}},
                    {"tier": "storage", "every": "3 h"}])
        values = {each["key"]: each["value"] for each in case.set("snapshots", "own").values()}
        self.assertEqual(values["snapshots.1.every"], "3 h")

    def test_an_own_fabric_is_what_its_keys_say(self):
        keys = {"topology": "fat-tree", "nodes_per_pod": 1, "pod_oversubscription": 4}
        own = wt.load(SMALL).with_fabric("racks", keys).set("cluster.fabric", "racks")
        stated = wt.load(SMALL).set({f"cluster.fabric.{key}": keys[key] for key in keys})
        self.assertEqual(own.key, stated.key)
        step = own.run()["iteration"]["time_s"]
        self.assertEqual(step, stated.run()["iteration"]["time_s"])
        self.assertGreater(step, wt.load(SMALL).run()["iteration"]["time_s"])

    def test_an_own_class_of_failures_is_what_its_keys_say(self):
        keys = {"kind": "process", "rate": "40 per 1000 node-days"}
        node = {"class": "node", "rate": "1 per 1000 node-days"}
        own = wt.load(SMALL).with_failure("driver", keys).set("failures", ["driver", node])
        stated = wt.load(SMALL).set("failures", [{"class": "driver", **keys}, node])
        self.assertEqual(own.key, stated.key)
        self.assertEqual(own.run()["campaign"], stated.run()["campaign"])
        with self.assertRaises(wt.Error) as caught:
            wt.load(SMALL).with_failure("driver", {"raet": 1})
        self.assertEqual(caught.exception.key, "failures.0.raet")


class Results(unittest.TestCase):
    def test_its_timeline_is_what_the_step_took(self):
        result = wt.load(SMALL).run()
        ranks = result.timeline()
        self.assertEqual(sum(rank["ranks"] for rank in ranks), 16)
        for rank in ranks:
            for task in rank["tasks"]:
                for before in task["after"]:
                    self.assertLessEqual(rank["tasks"][before]["end_s"], task["start_s"] + 1e-9)
        last = max(task["end_s"] for rank in ranks for task in rank["tasks"])
        self.assertAlmostEqual(last, result["iteration"]["time_s"], places=9)
        frame = result.task_frame()
        self.assertEqual(len(frame), sum(len(rank["tasks"]) for rank in ranks))
        self.assertLessEqual({"rank", "stream", "start_s", "end_s"}, set(frame.columns))


class Faults(unittest.TestCase):
    def test_name_the_key(self):
        with self.assertRaises(wt.Error) as caught:
            wt.load(SMALL).set("layuot.tp", 3).check()
        self.assertEqual(caught.exception.key, "layuot.tp")
        self.assertEqual(caught.exception.cause, "input")
        self.assertIn("did you mean 'layout'", str(caught.exception))

    def test_name_the_place_in_the_text(self):
        with self.assertRaises(wt.Error) as caught:
            wt.loads("name: x\ncluster: {nodes: many}\n", "mine.yaml").check()
        self.assertEqual((caught.exception.file, caught.exception.line), ("mine.yaml", 2))
        self.assertTrue(str(caught.exception).startswith("mine.yaml:2:"))

    def test_out_of_memory_is_no_fault_of_the_input(self):
        with self.assertRaises(wt.Error) as caught:
            wt.load(SMALL).set({"layout.tp": 1, "layout.pp": 1, "model": "llama3-70b"}).run()
        self.assertEqual(caught.exception.cause, "failed")

    def test_of_the_callers_function_pass_through(self):
        def broken(request):
            raise RuntimeError("mine")

        case = wt.load(SMALL).set(PIPELINE).with_schedule("broken", broken)
        with self.assertRaisesRegex(RuntimeError, "mine"):
            case.set("schedule", "broken").run()

    def test_an_order_that_never_ends_is_refused(self):
        def backward_first(request):
            return [[(work, rank, i) for i in range(request.microbatches) for work in "BF"]
                    for rank in range(request.ranks)]

        case = wt.load(SMALL).set(PIPELINE).with_schedule("never", backward_first)
        with self.assertRaises(wt.Error):
            case.set("schedule", "never").run()

    def test_unknown_passes(self):
        case = wt.load(SMALL).set(PIPELINE).with_schedule("x", lambda request: [[("X", 0, 0)]])
        with self.assertRaisesRegex(ValueError, "'F' .forward."):
            case.set("schedule", "x").run()


    def test_an_order_of_another_shape(self):
        for made in (None, 1, [["F"]], [[("F", 0)]]):
            case = wt.load(SMALL).set(PIPELINE).with_schedule("x", lambda request, m=made: m)
            with self.assertRaisesRegex(TypeError, "schedule 'x' must return for each rank"):
                case.set("schedule", "x").run()

    def test_arguments_that_mean_nothing(self):
        case = wt.load(SMALL)
        for call in (lambda: case.set("layout.tp"), lambda: case.set({"layout.tp": 2}, 8),
                     lambda: case.set("layout.tp", object()),
                     lambda: case.compare({"layout.tp": "48"}),
                     lambda: case.sweep({"layout.tp": "48"})):
            with self.assertRaises(TypeError):
                call()
        for call in (lambda: case.run(threads=-1),
                     lambda: case.sweep({"layout.tp": [1]}, threads=-2),
                     lambda: case.with_schedule("x", one_f_one_b, chunks=0)):
            with self.assertRaises(ValueError):
                call()


class Lists(unittest.TestCase):
    def test_keys_and_names(self):
        self.assertIn("layout.tp", [each["path"] for each in wt.keys()])
        self.assertIn("1f1b", wt.names("schedule"))
        with self.assertRaises(wt.Error):
            wt.names("shedule")


if __name__ == "__main__":
    unittest.main()
