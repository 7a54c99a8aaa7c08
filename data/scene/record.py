"""Runs the Python part of a scene and writes down what its orchestrations are given.

usage: record.py MODULE CASE ROOT OUT     (CASE may be CLASS::CASE; ROOT is the folder of the repository)

OUT/scene.json has the kernels, the buffers and each run of an orchestration; OUT/data.bin the values of whole numbers.
Modules that the scene imports come from the repository; torch, the runtime's own and what is not installed are
stand-ins. Nothing is computed on tensors beyond what decides the arguments.
"""
import ctypes
import enum
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import pathlib
import struct
import sys
import traceback
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import torch  # noqa: E402  the stand-in

MOST_DATA = 64 << 20  # bytes of a buffer whose values are kept
WINDOW_ALIGN = 512


# ---- the runtime's types ----
class ArgDirection(enum.Enum):
    IN, OUT, INOUT, SCALAR = range(4)


class TensorArgType(enum.Enum):
    INPUT, OUTPUT, INOUT, OUTPUT_EXISTING, NO_DEP = range(5)


DataType = enum.Enum("DataType", "FLOAT32 FLOAT16 INT32 INT16 INT8 UINT8 BFLOAT16 INT64 UINT64 UINT16 UINT32 BOOL "
                                 "FP8E4M3FN FP8E8M0 FP4E2M1", start=0)
OF_TORCH = {"float32": "FLOAT32", "float16": "FLOAT16", "bfloat16": "BFLOAT16", "int8": "INT8", "int16": "INT16",
            "int32": "INT32", "int64": "INT64", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32",
            "uint64": "UINT64", "bool": "BOOL", "float8_e4m3fn": "FP8E4M3FN", "float8_e8m0fnu": "FP8E8M0",
            "float4_e2m1fn_x2": "FP4E2M1"}
SIZES = {"FLOAT32": 4, "INT32": 4, "UINT32": 4, "INT64": 8, "UINT64": 8, "FLOAT16": 2, "BFLOAT16": 2, "INT16": 2,
         "UINT16": 2}
FORMS = {"INT8": "b", "UINT8": "B", "INT16": "h", "UINT16": "H", "INT32": "i", "UINT32": "I", "INT64": "q",
         "UINT64": "Q", "BOOL": "B"}


class NotHere(Exception):
    """What a scene needs and a recording has not."""


def type_name(kind):
    if isinstance(kind, torch.dtype):
        if kind.name not in OF_TORCH:
            raise NotHere("tensors of type %s are not known to the runtime" % kind)
        return OF_TORCH[kind.name]
    if isinstance(kind, int):
        return DataType(kind).name
    return kind.name if isinstance(kind, enum.Enum) else str(kind).upper()


def to_bits(value):
    """A scalar argument as its slot has it."""
    if isinstance(value, Context):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if isinstance(value, ctypes._SimpleCData):
        raw = bytes(value)
        return int.from_bytes(raw, "little")
    if hasattr(value, "value") and not isinstance(value, int):
        return to_bits(value.value)
    return int(value) & 0xffffffffffffffff


# ---- memory ----
class Buffer:
    """Memory that tensors lie in: an argument, or a window between ranks."""
    all = []

    def __init__(self, name, nbytes, kind, storage=None):
        self.name, self.nbytes, self.kind, self.storage = name, int(nbytes), kind, storage
        self.number = len(Buffer.all)
        Buffer.all.append(self)

    base = property(lambda self: 4096 * (self.number + 1))

    def tensor(self, shapes=None, dtype=None, *_a, shape=None, offset=0, **_k):
        return Ref(self, offset, tuple(shapes if shapes is not None else shape), type_name(dtype))


class Part:
    """A named part of a window."""

    def __init__(self, buffer, offset, nbytes):
        self.buffer, self.offset, self.nbytes = buffer, offset, nbytes

    base = device_ptr = addr = property(lambda self: self.buffer.base + self.offset)

    def tensor(self, shapes, dtype=None, *_a, **_k):
        return Ref(self.buffer, self.offset, tuple(shapes), type_name(dtype))

    def __int__(self):
        return self.base


class Ref:
    """A tensor argument: bytes into a buffer, shape and strides in elements."""

    def __init__(self, buffer, offset, shape, dtype, strides=None):
        self.buffer, self.offset, self.shape, self.dtype = buffer, offset, tuple(int(n) for n in shape), dtype
        step, own = 1, []
        for n in reversed(self.shape):
            own.append(step)
            step *= n
        self.strides = tuple(strides) if strides is not None else tuple(reversed(own))

    def view(self, shape, offsets=None):
        at = self.offset + sum(o * s for o, s in zip(offsets or (), self.strides)) * SIZES.get(self.dtype, 1)
        return Ref(self.buffer, at, shape, self.dtype, self.strides)

    def reshape(self, shape):
        return Ref(self.buffer, self.offset, shape, self.dtype)


class Context:
    """The communication context of a rank, as a scalar."""

    def __init__(self, domain, rank):
        self.domain, self.rank = domain, rank
        self.number = None

    def __int__(self):
        return 0


def buffer_of(storage, name):
    for b in Buffer.all:
        if b.storage is storage:
            return b
    return Buffer(name, storage.size * storage.dtype.itemsize, "tensor", storage)


def ref_of(tensor, name="tensor"):
    if isinstance(tensor, Ref):
        return tensor
    shape, strides = tuple(tensor.shape) or (1,), tensor.strides if tensor.ndim else (1,)
    size = tensor.dtype.itemsize
    return Ref(buffer_of(tensor.storage, name), tensor.offset * size, shape, type_name(tensor.dtype), strides)


# ---- arguments ----
class TensorArg(tuple):
    def __new__(cls, name, value):
        return tuple.__new__(cls, (name, value))
    name, value = property(lambda self: self[0]), property(lambda self: self[1])


class Scalar(tuple):
    def __new__(cls, name, value):
        return tuple.__new__(cls, (name, value))
    name, value = property(lambda self: self[0]), property(lambda self: self[1])


class TaskArgsBuilder:
    def __init__(self, *specs):
        self.specs, self._data = [], {}
        for spec in specs:
            self._add(spec)

    def _add(self, spec):
        self.specs.append(spec)
        self._data[spec.name] = spec.value
        if isinstance(spec, TensorArg) and isinstance(spec.value, torch.Tensor):
            buffer_of(spec.value.storage, spec.name)

    def add_tensor(self, name, value):
        self._add(TensorArg(name, value))

    def add_scalar(self, name, value):
        self._add(Scalar(name, value))

    def tensor_names(self):
        return [s.name for s in self.specs if isinstance(s, TensorArg)]

    def clone(self):
        return self

    def __getattr__(self, name):
        try:
            return self.__dict__["_data"][name]
        except KeyError:
            raise AttributeError(name) from None


class TaskArgs:
    def __init__(self, *_a, **_k):
        self.tensors, self.scalars = [], []

    def add_tensor(self, tensor, tag=None, *_a, **_k):
        self.tensors.append((ref_of(tensor), tag))

    def add_scalar(self, value):
        self.scalars.append(to_bits(value))

    def tensor_count(self):
        return len(self.tensors)

    def scalar_count(self):
        return len(self.scalars)

    def clear(self):
        self.__init__()


def tagged(direction):
    name = getattr(direction, "name", str(direction))
    return {"OUT": "OUTPUT_EXISTING", "INOUT": "INOUT"}.get(name, "INPUT")


def build_args(builder, signature, *_a, **_k):
    """The arguments of an orchestration that takes those of the scene, and the names of its outputs."""
    args, outputs, index = TaskArgs(), [], 0
    for spec in builder.specs:
        if isinstance(spec, TensorArg):
            direction = signature[index] if index < len(signature) else ArgDirection.INOUT
            args.tensors.append((ref_of(spec.value, spec.name), TensorArgType[tagged(direction)]))
            if tagged(direction) != "INPUT":
                outputs.append(spec.name)
            index += 1
        else:
            args.add_scalar(spec.value)
    return args, outputs


# ---- level 3: programs of several chips ----
class CommBufferSpec:
    def __init__(self, name, dtype=None, count=0, nbytes=0, **_k):
        self.name, self.dtype, self.count, self.nbytes = name, dtype, count, nbytes or count


class Rank:
    def __init__(self, domain, rank):
        self.domain_rank = self.rank = rank
        self.domain_size = len(domain.windows)
        self.device_ctx = Context(domain, rank)
        self.window = domain.windows[rank]
        self.buffers, at = {}, 0
        for spec in domain.specs:
            self.buffers[spec.name] = Part(self.window, at, spec.nbytes)
            at += spec.nbytes
        self.local_window_base = self.window.base
        self.actual_window_size = self.window.nbytes


class Domain:
    all = []

    def __init__(self, name, workers, window_size, specs):
        self.specs = list(specs or [])
        size = max(int(window_size or 0), sum(s.nbytes for s in self.specs), WINDOW_ALIGN)
        self.windows = [Buffer("%s_%d" % (name, i), size, "window") for i in range(len(workers))]
        self.ranks = [Rank(self, i) for i in range(len(workers))]
        self.workers = list(workers)
        Domain.all.append(self)

    def __getitem__(self, worker):
        return self.ranks[self.workers.index(worker) if worker in self.workers else worker]

    def __iter__(self):
        return iter(self.ranks)

    def __enter__(self):
        return self

    def __exit__(self, *_a):
        return False


class Anything:
    """Stands for what has no part in the arguments: takes and gives anything. What comes of a module that is not here
    (`origin`) is no number and no list: arguments that need one are not known."""

    origin = ""

    def __init__(self, *_a, **_k):
        pass

    def _value(self, of):
        if self.origin:
            raise RuntimeError("%s has no value: its module is not here" % self.origin)
        return of

    def __call__(self, *args, **_k):
        # As a decorator it leaves what it decorates.
        return args[0] if len(args) == 1 and (inspect.isclass(args[0]) or inspect.isfunction(args[0])) else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, _index):
        return self

    def __setitem__(self, _index, _value):
        pass

    def __iter__(self):
        return iter(self._value(()))

    def __enter__(self):
        return self

    def __exit__(self, *_a):
        return False

    def __int__(self):
        return self._value(0)

    __index__ = __int__

    def __float__(self):
        return self._value(0.0)

    def __bool__(self):
        return False

    def __mro_entries__(self, _bases):
        return (object,)

    def __or__(self, _other):
        return self

    __ror__ = __add__ = __radd__ = __sub__ = __mul__ = __or__


class Chip:
    def __init__(self, number, name):
        self.number, self.name = number, name


class Namespace:
    def __init__(self, chips, entries):
        for chip in chips:
            setattr(self, chip.name, chip)
        for name, value in entries.items():
            setattr(self, name, value)

    def keep(self, *objects):
        return objects[0] if len(objects) == 1 else objects

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Orchestrator(Anything):
    def __init__(self):
        self.runs = []

    def allocate_domain(self, name="domain", workers=(0,), window_size=0, buffers=(), **_k):
        return Domain(name, list(workers), window_size, buffers)

    def submit_next_level(self, chip, args, *_a, worker=0, **_k):
        if isinstance(chip, Chip):
            self.runs.append((chip.number, args, int(worker) if isinstance(worker, int) else 0))
        return Anything()

    def submit_next_level_group(self, chip, args_list, *_a, workers=None, **_k):
        for i, args in enumerate(args_list):
            self.submit_next_level(chip, args, worker=workers[i] if workers else i)
        return Anything()

    def submit(self, chip, args, *_a, **_k):
        return self.submit_next_level(chip, args)


# ---- stand-ins for modules ----
class SceneTestCase:
    CALLABLE, CASES = {}, []
    RTOL = ATOL = 1e-5

    @staticmethod
    def run_module(_name):
        return None


def scene_test(*args, **kwargs):
    level = kwargs.get("level", args[0] if args else 2)
    runtime = kwargs.get("runtime", args[1] if len(args) > 1 else "")

    def decorator(cls):
        cls.strata_level, cls.strata_runtime = int(level), str(runtime)
        spec, folder = getattr(cls, "CALLABLE", None), os.path.dirname(os.path.abspath(inspect.getfile(cls)))
        if isinstance(spec, dict):  # another class may take it over, in another folder
            spec.update(placed(spec, folder))
            if "callables" in spec:
                spec["callables"] = [placed(one, folder) for one in spec["callables"]]
        return cls
    return decorator


def placed(spec, folder):
    """The same callable, with absolute paths."""
    def absolute(path):
        return str(path) if os.path.isabs(str(path)) or "$" in str(path) else os.path.join(folder, str(path))

    def whole(one):
        one = dict(one)
        if one.get("source"):
            one["source"] = absolute(one["source"])
        if one.get("extra_include_dirs"):
            one["extra_include_dirs"] = [absolute(d) for d in one["extra_include_dirs"]]
        return one
    made = dict(spec)
    if isinstance(spec.get("orchestration"), dict):
        made["orchestration"] = whole(spec["orchestration"])
    if "incores" in spec:
        made["incores"] = [whole(one) for one in spec["incores"]]
    return made


class SceneTestLevel(enum.IntEnum):
    CHIP, NODE, NETWORK1 = 2, 3, 4


def scene_level(_level):
    return lambda thing: thing


def named(builder, name, *_a, **_k):
    return ref_of(getattr(builder, name), name)


def of_tensor(_builder, tensor, *_a, **_k):
    return ref_of(tensor)


def memory_of(_builder, tensor, *_a, **_k):
    return ref_of(tensor).buffer


def module(name, package=None, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    made.__path__ = [package] if package else []
    made.__getattr__ = lambda own: Anything() if not own.startswith("__") else _missing(own)
    sys.modules[name] = made
    parent, _, own = name.rpartition(".")
    if parent in sys.modules:
        sys.modules[parent].__dict__.setdefault(own, made)
    return made


def _missing(name):
    raise AttributeError(name)


def install(root):
    interface = dict(ArgDirection=ArgDirection, TensorArgType=TensorArgType, DataType=DataType, TaskArgs=TaskArgs,
                     ChipStorageTaskArgs=TaskArgs, CommBufferSpec=CommBufferSpec, scalar_to_uint64=to_bits,
                     CallConfig=Anything, AddressSpace=enum.Enum("AddressSpace", "HOST DEVICE", start=0))
    module("simpler", None)
    for name in ("task_interface", "worker", "buffer", "orchestrator"):
        module("simpler." + name, None, **interface)
    module("_task_interface", None, **interface)
    setup = dict(SceneTestCase=SceneTestCase, TaskArgsBuilder=TaskArgsBuilder, TensorArg=TensorArg, Scalar=Scalar,
                 scene_test=scene_test, scene_level=scene_level, SceneTestLevel=SceneTestLevel,
                 _build_chip_task_args=build_args, _build_l2_ref_args=build_args, _build_l3_task_args=build_args,
                 _rehosted_ref=named, _l3_ref=named, _rehosted_ref_for=of_tensor, _rehosted_buffer_for=memory_of,
                 CallableNamespace=Namespace)
    module("simpler_setup", os.path.join(root, "simpler_setup"), **setup)
    module("simpler_setup.scene_test", None, **setup)
    module("simpler_setup.torch_interop", None, make_tensor_arg=lambda worker, t: ref_of(t),
           torch_dtype_to_datatype=lambda kind: DataType[type_name(kind)], make_chip_tensor_arg=ref_of)
    module("pytest", None)
    sys.meta_path.append(Finder())


def of_missing(module, name):
    if name.startswith("__"):
        _missing(name)
    made = Anything()
    made.origin = "%s.%s" % (module, name)
    return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """What is not installed is a module of anything."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        made = types.ModuleType(spec.name)
        made.__path__ = []
        made.__getattr__ = lambda own: of_missing(spec.name, own)
        return made

    def exec_module(self, _module):
        pass


def load(path, root):
    """The module, under the name that its place below the root gives it."""
    path, root = pathlib.Path(path).resolve(), pathlib.Path(root).resolve()
    sys.path.insert(1, str(root))
    sys.path.insert(2, str(path.parent))
    for parent in path.parents:
        if parent == root:
            break
        sys.path.append(str(parent))
    try:
        parts = path.relative_to(root).with_suffix("").parts
    except ValueError:
        parts = (path.stem,)
    if not all(p.isidentifier() for p in parts):
        parts = (path.stem,)
    for i in range(1, len(parts)):  # folders are packages, whether they say so or not
        name = ".".join(parts[:i])
        if name not in sys.modules:
            folder = root.joinpath(*parts[:i])
            made = types.ModuleType(name)
            made.__path__ = [str(folder)]
            sys.modules[name] = made
    name = ".".join(parts)
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


def scenes_of(loaded, wanted):
    """The classes that have the case, in the order of the text."""
    class_name, _, case_name = wanted.rpartition("::")
    found = []
    for name, cls in vars(loaded).items():
        if not inspect.isclass(cls) or not isinstance(getattr(cls, "CALLABLE", None), dict):
            continue
        if cls.__module__ != loaded.__name__ or (class_name and name != class_name):
            continue
        for case in getattr(cls, "CASES", None) or []:
            if case.get("name") == case_name:
                found.append((cls, case))
                break
    return found


def entry_of(callable_spec, number, folder):
    callable_spec = placed(callable_spec, folder)
    orchestration = callable_spec.get("orchestration")
    orchestration = orchestration if isinstance(orchestration, dict) else {}
    incores = []
    for one in callable_spec.get("incores", []):
        source = str(one["source"])
        incores.append({"func_id": int(one.get("func_id", -1)), "source": source,
                        "name": str(one.get("name") or pathlib.Path(source).stem),
                        "core_type": str(one.get("core_type", "")),
                        "include_dirs": one.get("extra_include_dirs") or []})
    return {"name": str(callable_spec.get("name", "callable_%d" % number)),
            "source": str(orchestration.get("source") or ""),
            "function": str(orchestration.get("function_name") or "aicpu_orchestration_entry"),
            "incores": incores}


def record(path, wanted, root):
    install(root)
    loaded = load(path, root)
    found = scenes_of(loaded, wanted)
    if not found:
        raise NotHere("no class here has CALLABLE and the case %s" % wanted)
    found = [(c, k) for c, k in found if getattr(c, "strata_level", 2) == 2] or found
    if len(found) > 1:
        raise NotHere("several classes here have the case %s: %s; CLASS::CASE names one"
                      % (wanted, ", ".join(c.__name__ for c, _ in found)))
    cls, case = found[0]
    params, scene = case.get("params", {}), cls()
    folder = os.path.dirname(os.path.abspath(path))
    specs = cls.CALLABLE.get("callables")
    callables = [entry_of(s, i, folder) for i, s in enumerate(specs if specs is not None else [cls.CALLABLE])]
    if not hasattr(cls, "generate_args"):
        raise NotHere("the class %s has no generate_args()" % cls.__name__)
    builder = scene.generate_args(params)
    if isinstance(builder, (list, tuple)):
        made = TaskArgsBuilder()
        for one in builder:
            name, value = (one.name, one.value) if hasattr(one, "name") else one
            (made.add_tensor if isinstance(value, torch.Tensor) else made.add_scalar)(name, value)
        builder = made
    if specs is None:
        signature = cls.CALLABLE["orchestration"].get("signature", [])
        runs = [(0, build_args(builder, signature)[0], 0)]
    else:
        orch, chips, entries = Orchestrator(), [], {}
        for i, spec in enumerate(specs):
            if "incores" in spec:
                chips.append(Chip(i, callables[i]["name"]))
                entries[callables[i]["name"] + "_sig"] = spec.get("orchestration", {}).get("signature", [])
        program = cls.CALLABLE.get("orchestration")
        program = program.__func__ if isinstance(program, staticmethod) else program
        if not callable(program):
            raise NotHere("the orchestration of the class %s is no function" % cls.__name__)
        program(orch, Namespace(chips, entries), builder, Anything())
        runs = orch.runs
    if not runs:
        raise NotHere("the orchestration submits nothing to a chip")
    return cls, case, callables, runs


# ---- what is written ----
def packed(storage, data):
    """The values of a storage: {"fill": one} or {"data": [offset, bytes]}; None: unknown."""
    if storage is None:
        return None
    kind = OF_TORCH.get(storage.dtype.name)
    if not storage.is_list():
        return {"fill": storage.values} if storage.values else None
    values = storage.list() if kind in FORMS and storage.size * storage.dtype.itemsize <= MOST_DATA else None
    if values is None:
        return None
    at = data.tell()
    data.write(struct.pack("<%d%s" % (len(values), FORMS[kind]), *[int(v) for v in values]))
    return {"data": [at, data.tell() - at]}


def write(out, cls, case, callables, runs):
    contexts = []
    with open(os.path.join(out, "data.bin"), "wb") as data:
        made_runs = []
        for number, args, worker in runs:
            scalars = []
            for value in args.scalars:
                if isinstance(value, Context):
                    if value.number is None:
                        value.number = len(contexts)
                        contexts.append(value)
                    scalars.append({"context": value.number})
                else:
                    scalars.append({"bits": value})
            made_runs.append({
                "callable": number, "worker": worker, "scalars": scalars,
                "tensors": [{"buffer": r.buffer.number, "offset": r.offset, "dtype": r.dtype, "shape": list(r.shape),
                             "strides": list(r.strides), "role": getattr(tag, "name", "INPUT")}
                            for r, tag in args.tensors]})
        buffers = []
        for b in Buffer.all:
            one = {"name": b.name, "bytes": b.nbytes, "kind": b.kind,
                   "dtype": type_name(b.storage.dtype) if b.storage is not None else "INT32"}
            one.update(packed(b.storage, data) or {})
            buffers.append(one)
    document = {
        "level": getattr(cls, "strata_level", 2), "runtime": getattr(cls, "strata_runtime", ""), "class": cls.__name__,
        "case": {"name": case.get("name"), "platforms": [str(p) for p in case.get("platforms") or []]},
        "callables": callables, "buffers": buffers, "runs": made_runs,
        "contexts": [{"rank": c.rank, "windows": [w.number for w in c.domain.windows]} for c in contexts],
    }
    with open(os.path.join(out, "scene.json"), "w", encoding="utf-8") as file:
        json.dump(document, file)


def blame(error, path):
    """The last place in the scene's own files, and what went wrong there."""
    at, own = None, os.path.dirname(os.path.abspath(path))
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename != __file__ and not frame.filename.startswith(HERE) and (
                at is None or not frame.filename.startswith("<")):
            at = frame
    where = "%s:%d" % (at.filename, at.lineno) if at is not None else "%s:0" % own
    text = str(error) if isinstance(error, NotHere) else "%s: %s" % (type(error).__name__, error)
    return "%s: %s" % (where if at is not None else path + ":0", text.replace("\n", " ")[:500])


def main():
    path, wanted, root, out = sys.argv[1:5]
    os.environ.clear()
    sys.argv = [path]
    sys.setrecursionlimit(2000)
    try:
        write(out, *record(path, wanted, root))
    except BaseException as error:  # pylint: disable=broad-except  whatever a scene does ends as one line
        sys.stderr.write("\n" + blame(error, path) + "\n")
        sys.exit(1)


main()
