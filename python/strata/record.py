"""Records a run from inside:

    with strata.record("out", steps=5) as recording:
        for batch in data:
            train(batch)
            recording.step()

or from outside, without a change to the program: python -m strata.record -o out --steps 5 train.py. Steps are marked
at step(), else at each step of a torch optimizer. On CUDA the injected recorder of strata is used, on Ascend the
profiler of torch_npu. At the end the verdict is printed.
"""
import ctypes
import importlib.util
import os
import sys
import types

from . import _lib

INJECT = "libstrata-inject.so"


def _inject_path():
    """The recorder: STRATA_INJECT_PATH, else beside the library, where it is installed or built."""
    named = os.environ.get("STRATA_INJECT_PATH")
    here = os.path.dirname(os.path.abspath(__file__))
    prefix = os.path.abspath(os.path.join(here, "..", "..", "..", ".."))
    library = os.path.dirname(os.path.abspath(_lib.lib._name))
    places = [os.path.join(d, INJECT) for d in (here, library, os.path.join(library, "strata"),
                                                os.path.join(prefix, "lib", "strata"), "/usr/lib/strata")]
    for path in [named] if named else places:
        if os.path.exists(path):
            return os.path.abspath(path)
    raise _lib.Error("%s not found; STRATA_INJECT_PATH names it [record.no-recorder]" % INJECT, "record.no-recorder", 4)


def _environment(folder):
    path = _inject_path()
    return {"STRATA_TRACE_DIR": folder, "CUDA_INJECTION64_PATH": path, "NVTX_INJECTION64_PATH": path}


def _has(module):
    return module in sys.modules or importlib.util.find_spec(module) is not None


def _has_cuda():
    try:
        ctypes.CDLL("libcuda.so.1")
        return True
    except OSError:
        return False


def _make_folder(out):
    folder = os.path.abspath(os.fspath(out))
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        raise _lib.Error("%s is not empty: a recording needs a folder of its own [record.folder]" % out,
                         "record.folder", 8)
    return folder


class _Cuda:
    """The injected recorder in this process, loaded by ourselves or by the driver (python -m strata.record)."""

    _is_used = False

    def __init__(self, folder):
        if _Cuda._is_used:
            raise _lib.Error("a process records once; start another one [record.again]", "record.again", 8)
        _Cuda._is_used = True
        self.is_injected = os.environ.get("STRATA_TRACE_DIR") == folder  # by python -m strata.record
        os.environ.update(_environment(folder))
        self.lib = ctypes.CDLL(_inject_path())
        self.lib.strata_inject_range.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int]

    def start(self):
        if not self.is_injected:  # else the driver starts it, when CUDA is first used
            self.lib.InitializeInjection()

    def mark(self, number, is_begin):
        self.lib.strata_inject_range(b"ProfilerStep#%d" % number, number, is_begin)

    def stop(self):
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.synchronize()
        self.lib.strata_inject_stop()
        for name in ("STRATA_TRACE_DIR", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"):
            os.environ.pop(name, None)  # children of this process are not recorded any more


class _Npu:
    """The profiler of torch_npu, which has steps of its own."""

    def __init__(self, folder):
        import torch_npu
        p = torch_npu.profiler
        self.profile = p.profile(activities=[p.ProfilerActivity.CPU, p.ProfilerActivity.NPU],
                                 on_trace_ready=p.tensorboard_trace_handler(folder), record_shapes=True)

    def start(self):
        self.profile.start()

    def mark(self, number, is_begin):
        if is_begin and number > 0:
            self.profile.step()

    def stop(self):
        self.profile.stop()


def _backend(name, folder):
    if name == "auto":
        name = "npu" if _has("torch_npu") else "cuda"
    if name == "npu":
        return _Npu(folder)
    if name != "cuda":
        raise ValueError("backend must be auto, cuda or npu")
    if not _has_cuda():
        raise _lib.Error("neither CUDA nor torch_npu is here [record.no-device]", "record.no-device", 6)
    return _Cuda(folder)


def _hook_optimizer(done):
    """Calls done() after each step of a torch optimizer; what removes that, or None without torch."""
    torch = sys.modules.get("torch")
    hook = getattr(getattr(getattr(torch, "optim", None), "optimizer", None), "register_optimizer_step_post_hook", None)
    return hook(lambda *_: done()) if hook else None


class Recording:
    """A recording into the folder `out`, as a context. After `steps` steps it ends by itself; 0: at the end of the
    block. `verdict` prints what limits the run; the answer is then in `result`, the capture in `capture`."""

    def __init__(self, out, steps=0, backend="auto", verdict=True):
        self.out, self.steps, self.verdict = out, steps, verdict
        self.result = self.capture = None
        self._name, self._count, self._is_open, self._hook, self._is_manual = backend, 0, False, None, False

    def __enter__(self):
        self.folder = _make_folder(self.out)
        self._backend = _backend(self._name, self.folder)
        self._backend.start()
        self._is_open = True
        self._backend.mark(0, 1)
        self._hook = _hook_optimizer(self._optimizer_step)
        return self

    def _optimizer_step(self):
        if not self._is_manual:
            self._step()

    def step(self):
        """The end of a step. Called once, optimizers mark none any more."""
        self._is_manual = True
        self._step()

    def _step(self):
        if not self._is_open:
            return
        self._backend.mark(self._count, 0)
        self._count += 1
        if self.steps and self._count >= self.steps:
            self._end()
        else:
            self._backend.mark(self._count, 1)

    def _end(self):
        if not self._is_open:
            return
        self._is_open = False
        if self._hook is not None:
            self._hook.remove()
        self._backend.stop()

    def __exit__(self, kind, *_):
        self._end()
        if kind is None and self.verdict:
            show(self)


def show(recording):
    """Prints the verdict on a recording and where it lies."""
    from . import open as open_capture
    recording.capture = open_capture(recording.folder)
    recording.result = recording.capture.diagnose()
    print(recording.result.to_text())
    print("recorded in %s; strata.open(%r) for more" % (recording.out, os.fspath(recording.out)))


class _After:
    """Calls a function once a module has been imported."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                self.function()
            spec.loader.exec_module = exec_module
        return spec


def _run_script(folder, steps, argv):
    """The script, in a process that the recorder sits in."""
    import runpy
    recording = Recording(folder, steps, verdict=False)
    recording.folder, recording._backend = folder, _backend("auto", folder)
    recording._backend.start()
    recording._is_open = True
    recording._backend.mark(0, 1)

    def hook():
        recording._hook = recording._hook or _hook_optimizer(recording._optimizer_step)

    sys.meta_path.insert(0, _After("torch", hook))
    sys.argv = list(argv)
    sys.path[0] = os.path.dirname(os.path.abspath(argv[0]))
    try:
        runpy.run_path(argv[0], run_name="__main__")
    finally:
        recording._end()


def main(argv=None):
    """python -m strata.record [-o OUT] [--steps N] SCRIPT [ARGUMENT...]"""
    import argparse
    import subprocess
    parser = argparse.ArgumentParser(prog="python -m strata.record", description="Records a Python program.")
    parser.add_argument("-o", "--out", default="strata-out/recording", help="folder of the recording")
    parser.add_argument("--steps", type=int, default=0, help="stop recording after so many steps (default: never)")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("script", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(argv)
    if given.inside:
        _run_script(given.inside, given.steps, [given.script] + given.arguments)
        return 0
    try:
        recording = Recording(given.out)
        recording.folder = _make_folder(given.out)
        env = dict(os.environ)
        if not _has("torch_npu"):
            env.update(_environment(recording.folder))
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        env["PYTHONPATH"] = os.pathsep.join([package] + [p for p in [env.get("PYTHONPATH")] if p])
        code = subprocess.call([sys.executable, "-m", "strata.record", "--inside", recording.folder, "--steps",
                                str(given.steps), given.script] + given.arguments, env=env)
        show(recording)
    except _lib.Error as error:
        print("strata.record: error: %s" % error, file=sys.stderr)
        return 3
    return code if code >= 0 else 128 - code


class _Module(types.ModuleType):
    """strata.record is this module, and called it makes a recording."""

    def __call__(self, out, steps=0, backend="auto", verdict=True):
        return Recording(out, steps, backend, verdict)


if __name__ == "__main__":
    sys.exit(main())
sys.modules[__name__].__class__ = _Module
