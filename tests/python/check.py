#!/usr/bin/env python3
"""check.py LIBRARY [CUDA CUPTI INJECT] - the Python module over a built library.

The three are the stand-ins of tests/fake-cupti and the recorder, for recordings without a GPU. NumPy, pandas and
pyarrow are used when they are there; without them the rest is tested all the same.
"""
import ast
import copy
import importlib.util
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY, STANDINS = os.path.abspath(sys.argv[1]), [os.path.abspath(p) for p in sys.argv[2:5]]
os.environ["STRATA_LIBRARY"] = LIBRARY
sys.path.insert(0, str(ROOT / "python"))
os.chdir(ROOT)
import strata  # noqa: E402

IS_SLOW = "asan" in os.environ.get("LD_PRELOAD", "")  # a sanitizer is in the process


def has(module):
    return importlib.util.find_spec(module) is not None


def python(code, *arguments, **env):
    """Runs code in a process of its own; its output."""
    setting = dict(os.environ, PYTHONPATH=str(ROOT / "python"), **env)
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=setting, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Answers(unittest.TestCase):
    def setUp(self):
        self.cap = strata.open("examples/kineto-small")

    def test_verdict(self):
        d = self.cap.diagnose()
        self.assertEqual(d.verdict.cause, "gemm_inefficient")
        self.assertGreater(d.causes[0].saving_ms, 1)
        self.assertEqual(type(d).__dataclass_fields__["verdict"].metadata["key"], "verdict")
        self.assertEqual(type(d.causes[0]).__dataclass_fields__["saving_ms"].metadata["unit"], "ms")
        self.assertIn("Exposed communication", repr(d))
        self.assertIn("saving_ms=", repr(d.causes[0]))
        self.assertEqual(d.to_dict()["verdict"]["cause"], "gemm_inefficient")
        self.assertIn("strata.diagnosis/1", d.to_json())
        self.assertTrue(d.to_markdown().startswith("# "))

    def test_every_question(self):
        for ask in (self.cap.anomaly, self.cap.arch, self.cap.ops, self.cap.info, self.cap.memory):
            found = ask()
            self.assertIsInstance(found, strata.Result)
            self.assertTrue(found.to_text())
        self.assertEqual(self.cap.ops(by="family").by, "family")
        self.assertEqual(strata.diff(self.cap, "examples/kineto-small").to_dict(), strata.diff(
            "examples/kineto-small", self.cap).to_dict())
        self.assertIn("rank 4", strata.cluster("examples/ranks").to_text())
        self.assertIn("one rank alone", strata.cluster(self.cap).to_text())
        self.assertTrue(strata.ask("devices").devices)
        self.assertIn(strata.version(), strata.ask("--version").value)

    def test_a_path_that_is_also_the_value_of_an_option(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree("examples/kineto-small", folder + "/op")
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            cap = strata.open("op")
            for words in (["ops", "--by", "op"], ["ops", "op", "--by", "op"], ["ops", "--by=op"]):
                self.assertEqual(cap.ask(*words).by, "op")

    def test_the_same_document_as_the_program_prints(self):
        program = pathlib.Path(LIBRARY).parent / "strata"
        for words in (["diagnose"], ["ops", "--by", "module"], ["anomaly"], ["info"]):
            printed = subprocess.run([program, words[0], "examples/kineto-small", *words[1:], "--json"],
                                     capture_output=True, text=True, check=True).stdout
            self.assertEqual(self.cap.ask(*words).to_json(), printed)

    def test_page_in_a_notebook(self):
        for found in (self.cap, self.cap.diagnose(), self.cap.ops()):
            page = found._repr_html_()
            self.assertTrue(page.startswith("<iframe"))
            self.assertNotIn("<script", page.replace("&lt;", "<").split("srcdoc=")[0])
            self.assertIn("&lt;!DOCTYPE html" if "&lt;" in page else "<!DOCTYPE html", page)

    def test_errors_have_codes(self):
        for code, call in (("file.missing", lambda: strata.open("/nowhere")),
                           ("query.sql", lambda: self.cap.sql("SELECT wrong FROM slices")),
                           ("query.read-only", lambda: self.cap.sql("DELETE FROM slices")),
                           ("usage.command", lambda: strata.ask("diagnoze")),
                           ("file.missing", lambda: strata.db("/nowhere"))):
            with self.assertRaises(strata.Error) as e:
                call()
            self.assertEqual(e.exception.code, code)
        with self.assertRaises(strata.Error) as e:
            strata.open("/nowhere")
        self.assertEqual((e.exception.path, e.exception.line), ("/nowhere", None))
        self.assertIn("try: check the spelling", e.exception.hints[0])
        self.assertIn(e.exception.hints[0], str(e.exception))
        again = pickle.loads(pickle.dumps(e.exception))
        self.assertEqual((str(again), again.code), (str(e.exception), e.exception.code))
        self.cap.close()
        with self.assertRaises(ValueError):
            self.cap.diagnose()

    def test_arguments_that_make_no_sense(self):
        with self.assertRaises(ValueError):
            strata.open("examples/kineto-small\0/nowhere")  # not examples/kineto-small
        with self.assertRaises(ValueError):
            self.cap.sql("SELECT 1\0 FROM nowhere")
        for call in (lambda: strata.open(None), lambda: self.cap.sql(None), lambda: strata.simulate(None)):
            with self.assertRaises(TypeError):
                call()
        self.assertEqual(self.cap.sql("SELECT 1", timeout=float("inf")).rows(), [(1,)])

    def test_copies(self):
        d, table = self.cap.diagnose(), self.cap.sql("SELECT dur FROM kernels")
        self.assertIs(copy.deepcopy(self.cap), self.cap)
        self.assertEqual(copy.deepcopy(d), d)
        self.assertEqual(copy.copy(d).to_dict(), d.to_dict())
        self.assertEqual(copy.deepcopy(table).rows(), table.rows())
        again = pickle.loads(pickle.dumps(self.cap))  # read again
        self.assertEqual(again.diagnose(), d)
        for part in (d, table):
            with self.assertRaises(TypeError):
                pickle.dumps(part)

    def test_no_memory_is_an_exception(self):
        code = ("import resource, strata\ncap = strata.open('examples/kineto-small')\n"
                "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
                "resource.setrlimit(resource.RLIMIT_AS, (used + (48 << 20),) * 2)\n"
                "try:\n    cap.sql('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000000) "
                "SELECT i, i, i, i FROM n')\n"
                "except MemoryError as e:\n    print(e.code)\n"
                "print(len(cap.sql('SELECT id FROM kernels')))\n")
        if not IS_SLOW:  # a sanitizer's shadow takes terabytes of addresses
            self.assertEqual(python(code).split(), ["memory.none", "249"])

    def test_convert(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "k.pftrace")
            self.cap.convert(out)
            self.assertGreater(out.stat().st_size, 1000)

    def test_simulate(self):
        text = pathlib.Path("examples/pto-templates/flash_attention.pto").read_text()
        small, large = (strata.simulate(text, S1=n) for n in (1024, 2048))
        self.assertLess(small.cycles, large.cycles)
        self.assertTrue(small.busy)
        with self.assertRaises(strata.Error):
            strata.simulate(text)

    def test_database(self):
        found = strata.db("examples/perfdb/db").query(kernel="MatMulV2", shapes="16,5120;5120,768", dtypes="bfloat16")
        self.assertIn("28.517", found.to_text())
        self.assertEqual(strata.db("examples/perfdb/db").sql("SELECT count(*) > 0 AS n FROM MatMulV2")["rows"], [[1]])

    def test_gpu_run(self):
        runs = sorted(pathlib.Path("tests/data").glob("**/run.json"))
        for run in runs[:1]:
            self.assertTrue(strata.gpu.load(run.parent).to_text())

    def test_threads(self):
        found = []

        def work():
            for _ in range(3):
                found.append((self.cap.diagnose().verdict.cause, len(self.cap.sql("SELECT * FROM kernels"))))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(found, [("gemm_inefficient", 249)] * 12)

    def test_close_while_others_ask(self):
        code = ("import random, strata, threading, time\n"
                "for _ in range(12):\n"
                "    cap = strata.open('examples/kineto-small')\n"
                "    def work():\n"
                "        try:\n"
                "            while True:\n"
                "                cap.diagnose(), cap.sql('SELECT name FROM slices').rows()\n"
                "        except ValueError as e:\n            assert 'closed' in str(e)\n"
                "    threads = [threading.Thread(target=work) for _ in range(4)]\n"
                "    [t.start() for t in threads]\n"
                "    time.sleep(random.random() / 50)\n"
                "    cap.close()\n"
                "    [t.join() for t in threads]\n"
                "print('done')\n")
        self.assertEqual(python(code), "done\n")

    def test_thousands_of_calls_leak_nothing(self):
        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

        def call(n):
            for i in range(n):
                if len(self.cap.sql("SELECT 1, 'a', 2.5")) != 1 or (i % 50 == 0 and not self.cap.info()):
                    raise AssertionError
        call(1000)
        before = resident()
        call(1000 if IS_SLOW else 9000)
        self.assertLess(resident() - before, 16 << 20 if IS_SLOW else 4 << 20)


class Tables(unittest.TestCase):
    STATEMENT = ("SELECT column1 AS i, column2 AS x, column3 AS s, column4 AS n FROM "
                 "(VALUES (1, 0.5, 'a', NULL), (NULL, 1, NULL, NULL), (3, NULL, 'é', NULL))")
    LISTS = {"i": [1, None, 3], "x": [0.5, 1.0, None], "s": ["a", None, "é"], "n": [None] * 3}

    def setUp(self):
        self.table = strata.open("examples/kineto-small").sql(self.STATEMENT)  # outlives its capture

    def test_lists(self):
        self.assertEqual(self.table.lists(), self.LISTS)
        self.assertEqual(self.table.rows()[0], (1, 0.5, "a", None))
        self.assertEqual(list(self.table["s"]), self.LISTS["s"])
        self.assertEqual(self.table["s"][-1], "é")
        self.assertEqual(len(self.table), 3)
        self.assertIn("<td>é</td>", self.table._repr_html_())
        self.assertIn("0.5", repr(self.table))
        with self.assertRaises(KeyError):
            self.table["wrong"]
        twice = strata.open("examples/kineto-small").sql("SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS a")
        self.assertEqual(twice.lists(), {"a": [1], "a:1": [2], "b": [3], "a:2": [4]})  # none is lost

    def test_without_numpy(self):
        code = ("import sys\nsys.modules['numpy'] = sys.modules['pandas'] = None\nimport strata\n"
                "t = strata.open('examples/kineto-small').sql(sys.argv[1])\n"
                "print({n: list(t[n]) for n in t.names} == t.lists(), t.lists())\n")
        self.assertEqual(python(code, self.STATEMENT).strip(), "True %r" % self.LISTS)

    @unittest.skipUnless(has("numpy"), "NumPy is not installed")
    def test_numpy(self):
        import numpy as np
        cap = strata.open("examples/kineto-small")
        t = cap.sql("SELECT id, ts, dur, dur / 2.0 AS half FROM slices")
        del cap
        self.assertEqual(t["dur"].dtype, np.int64)
        self.assertEqual(int(t["dur"].sum()), sum(t.lists()["dur"]))
        self.assertFalse(t["dur"].flags.owndata)
        self.assertEqual(t["half"].dtype, np.float64)
        self.assertEqual(self.table["i"].tolist(), [1, None, 3])
        self.assertEqual(np.asarray(self.table["s"]).tolist(), self.LISTS["s"])

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_pandas(self):
        frame = self.table.to_pandas()
        self.assertEqual(str(frame["i"].dtype), "Int64")
        self.assertEqual(frame["i"].sum(), 4)
        self.assertEqual(frame["s"][0], "a")

    @unittest.skipUnless(has("pyarrow"), "pyarrow is not installed")
    def test_arrow(self):
        self.assertEqual(self.table.to_arrow().to_pydict(), self.LISTS)


class Module(unittest.TestCase):
    @unittest.skipIf(IS_SLOW, "times mean nothing here")
    def test_import_time(self):
        code = "import time; t = time.process_time(); import strata; print((time.process_time() - t) * 1e3)"
        self.assertLess(min(float(python(code)) for _ in range(7)), 50)

    def test_stubs(self):
        """Every public name of a module is in its stub, and every name of the stub in the module."""
        for name in ("__init__", "gpu", "record"):
            module = strata if name == "__init__" else __import__("strata." + name, fromlist=["x"])
            folder = ROOT / "python/strata"
            real, stub = (ast.parse((folder / (name + end)).read_text()) for end in (".py", ".pyi"))
            self.assertEqual(public(real), public(stub))
            for made in [n for n in stub.body if isinstance(n, ast.ClassDef)]:
                cls = getattr(module, made.name)
                methods = {n.name for n in made.body if isinstance(n, ast.FunctionDef)}
                for method in methods - {"__getattr__"}:
                    self.assertTrue(hasattr(cls, method), (made.name, method))
                own = {m for m in vars(cls) if not m.startswith("_") and callable(getattr(cls, m))}
                self.assertEqual(own - methods, set(), made.name)

    def test_notebook(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "tests/python/run_notebook.py", "tests/python/trace_to_plot.ipynb",
                                   folder + "/views.html"], env=dict(os.environ, PYTHONPATH="python"),
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("9 lines, 2 views", done.stdout)


def public(tree):
    """Public names that a module defines, or lists in __all__."""
    names = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    names |= {a.asname for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname}
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names |= {e.value for e in node.value.elts}
    return {n for n in names if not n.startswith("_")}


LOOP = """
import ctypes, os, sys, time
cuda = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
cuda.cuInit(0)
def launch(name, n):
    for _ in range(n):
        cuda.cuLaunchKernel(ctypes.c_char_p(name), 1, 1, 1, 128, 1, 1, 0, None, None, None)
"""


@unittest.skipUnless(len(STANDINS) == 3, "no stand-ins for CUDA were given")
class Recording(unittest.TestCase):
    def run_code(self, code, *arguments, module=None):
        cuda, cupti, inject = STANDINS
        env = dict(os.environ, PYTHONPATH=str(ROOT / "python"), LD_LIBRARY_PATH=os.path.dirname(cuda),
                   STRATA_CUPTI_PATH=cupti, STRATA_INJECT_PATH=inject)
        command = [sys.executable] + (["-m", module] if module else ["-c", code]) + list(arguments)
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)

    def test_in_the_process(self):
        code = LOOP + ("import strata\n"
                       "with strata.record(sys.argv[1], steps=3) as r:\n"
                       "    for i in range(5):\n"
                       "        launch(b'gemm', 20)\n"
                       "        r.step()\n"
                       "print(r.capture.sql('SELECT count(*) FROM kernels').rows())\n"
                       "print(len(r.capture.sql('SELECT * FROM steps')))\n"
                       "try:\n    strata.record(sys.argv[1] + '2').__enter__()\n"
                       "except strata.Error as e:\n    print(e.code)\n")
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_code(code, folder + "/out")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("recorded in", done.stdout)
            self.assertEqual(done.stdout.splitlines()[-3:], ["[(60,)]", "3", "record.again"])

    def test_steps_of_an_optimizer(self):
        """A stand-in of torch: its hooks are called after each step of an optimizer."""
        code = LOOP + ("import types\nhooks = []\n"
                       "def register(hook):\n    hooks.append(hook)\n"
                       "    return types.SimpleNamespace(remove=lambda: hooks.remove(hook))\n"
                       "sys.modules['torch.optim.optimizer'] = types.SimpleNamespace(\n"
                       "    register_optimizer_step_post_hook=register)\n"
                       "import strata\n"
                       "with strata.record(sys.argv[1], verdict=False) as r:\n"
                       "    for i in range(4):\n        launch(b'gemm', 5)\n        hooks[0](None, (), {})\n"
                       "print(len(hooks), len(strata.open(sys.argv[1]).sql('SELECT * FROM steps WHERE step < 4')))\n")
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_code(code, folder + "/out")
            self.assertEqual((done.returncode, done.stdout.split()), (0, ["0", "4"]), done.stderr)

    def test_of_a_script(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "train.py")
            script.write_text(LOOP + "launch(b'gemm', 30)\nprint('ran', sys.argv[1:])\nsys.exit(7)\n")
            done = self.run_code(None, "-o", folder + "/out", str(script), "a", "-b", module="strata.record")
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertIn("ran ['a', '-b']", done.stdout)
            self.assertIn("recorded in", done.stdout)
            self.assertEqual(len(strata.open(folder + "/out").sql("SELECT id FROM kernels")), 30)
            again = self.run_code(None, "-o", folder + "/out", str(script), module="strata.record")
            self.assertEqual(again.returncode, 3)
            self.assertIn("record.folder", again.stderr)

    def test_by_torch_npu(self):
        """A stand-in of torch_npu's profiler that leaves a capture of ours."""
        code = ("import sys, types, shutil\n"
                "calls = []\n"
                "class profile:\n"
                "    def __init__(self, activities, on_trace_ready, record_shapes):\n"
                "        self.ready = on_trace_ready\n"
                "    def start(self): calls.append('start')\n"
                "    def step(self): calls.append('step')\n"
                "    def stop(self):\n        calls.append('stop')\n        self.ready(self)\n"
                "def handler(folder):\n"
                "    return lambda p: shutil.copytree('examples/ascend-small', folder, dirs_exist_ok=True)\n"
                "profiler = types.SimpleNamespace(profile=profile, tensorboard_trace_handler=handler,\n"
                "    ProfilerActivity=types.SimpleNamespace(CPU=0, NPU=1))\n"
                "sys.modules['torch_npu'] = types.SimpleNamespace(profiler=profiler)\n"
                "import strata\n"
                "with strata.record(sys.argv[1], steps=3) as r:\n"
                "    for i in range(5):\n        r.step()\n"
                "print(calls)\n")
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_code(code, folder + "/out")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.splitlines()[-1], "['start', 'step', 'step', 'stop']")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
