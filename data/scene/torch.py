"""A stand-in for torch in which scenes make their arguments.

Tensors have a shape, a type, strides over a storage, and values as far as they are known: whole numbers, and small
arrays of floats. A storage of unknown values takes no memory, whatever its size. What a function would compute from
unknown values is unknown.
"""
import builtins
import math
import random as _random
import sys as _sys
import types as _types

MOST_VALUES = 1 << 20  # of an array that is computed
LAZY_VALUES = 1 << 12  # larger ones are computed when somebody asks
MOST_FLOATS = 1 << 16


class dtype:
    def __init__(self, name, itemsize, kind):
        self.name, self.itemsize, self.kind = name, itemsize, kind  # kind: i, u, f, b, or ? of others
        self.is_floating_point = kind == "f"

    def __repr__(self):
        return "torch." + self.name


_TYPES = [("float32", 4, "f"), ("float64", 8, "f"), ("float16", 2, "f"), ("bfloat16", 2, "f"), ("int8", 1, "i"),
          ("int16", 2, "i"), ("int32", 4, "i"), ("int64", 8, "i"), ("uint8", 1, "u"), ("uint16", 2, "u"),
          ("uint32", 4, "u"), ("uint64", 8, "u"), ("bool", 1, "b"), ("float8_e4m3fn", 1, "f"),
          ("float8_e5m2", 1, "f"), ("float8_e8m0fnu", 1, "f"), ("float4_e2m1fn_x2", 1, "?")]
for _name, _size, _kind in _TYPES:
    globals()[_name] = dtype(_name, _size, _kind)
float, double, half, long, int, short = float32, float64, float16, int64, int32, int16  # noqa: F821
strided = "strided"
inf, nan, pi = math.inf, math.nan, math.pi


class Size(tuple):
    def numel(self):
        return math.prod(self)


class device:
    def __init__(self, kind="cpu", index=None):
        self.type, self.index = str(kind), index


class Lazy:
    """Values that are computed when somebody asks, once."""

    def __init__(self, function):
        self.function, self.found = function, None

    def get(self):
        if self.function is not None:
            function, self.function = self.function, None
            try:
                self.found = function()
            except (ArithmeticError, ValueError, TypeError, OverflowError):
                self.found = None
        return self.found


class Storage:
    """`values` is a list, one that is computed later, one value for all, or None: unknown."""

    def __init__(self, kind, size, values):
        self.dtype, self.size, self.values = kind, size, values
        self.is_captured = False  # something computed later needs the values of now

    def is_list(self):
        return isinstance(self.values, (list, Lazy))

    def list(self):
        """Of one with a list: the list, or None."""
        if isinstance(self.values, Lazy):
            self.values = self.values.get()
        return self.values

    def open(self):
        """Becomes a list of its own where that is small enough; False: the values are unknown from now on."""
        if self.is_list():
            self.values = self.list()
        if isinstance(self.values, list):
            if self.is_captured:
                self.values, self.is_captured = list(self.values), False
            return True
        if self.values is None or self.size > MOST_VALUES:
            self.values = None
            return False
        self.values = [self.values] * self.size
        return True


def _frozen(t):
    """The tensor as it is now, whatever is written to it later."""
    t.storage.is_captured = True
    return Tensor(Storage(t.dtype, t.storage.size, t.storage.values), t.shape, t.strides, t.offset)


def _row_major(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _shape_of(args):
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = args[0]
    return tuple(builtins.int(n) for n in args)


def _cast(value, kind):
    """A value as one of that type."""
    if value is None:
        return None
    if isinstance(value, builtins.float) and (math.isnan(value) or math.isinf(value)):
        return value if kind.kind == "f" else 0
    if kind.kind == "b":
        return builtins.bool(value)
    if kind.kind == "f":
        return builtins.float(value)
    bits = 8 * kind.itemsize
    value = builtins.int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if kind.kind == "i" and value >> (bits - 1) else value


def _result_type(*kinds):
    """The wider of the types, floats before whole numbers."""
    floats = [k for k in kinds if k.kind == "f"]
    return builtins.max(floats or kinds, key=lambda k: (k.kind != "b", k.itemsize))


def _broadcast(*shapes):
    rank = builtins.max(len(s) for s in shapes)
    out = [1] * rank
    for shape in shapes:
        for i, n in enumerate((1,) * (rank - len(shape)) + tuple(shape)):
            if n != 1 and out[i] not in (1, n):
                raise RuntimeError("shapes %s do not fit" % (shapes,))
            out[i] = n if n != 1 else out[i]
    return tuple(out)


def _make(shape, kind, values):
    """A new tensor; a list of values is as long as the shape."""
    n = math.prod(shape)
    if isinstance(values, (list, Lazy)) and (n > MOST_VALUES or (kind.kind == "f" and n > MOST_FLOATS)):
        values = None
    return Tensor(Storage(kind, n, values), tuple(shape), _row_major(shape), 0)


class Tensor:
    requires_grad = False
    is_cuda = False
    layout = strided

    def __init__(self, storage, shape, strides, offset):
        self.storage, self.strides, self.offset = storage, tuple(strides), offset
        self.shape = Size(shape)

    # ---- what it is ----
    dtype = property(lambda self: self.storage.dtype)
    device = device()
    ndim = property(lambda self: len(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.numel() * self.dtype.itemsize)
    T = property(lambda self: self.permute(*reversed(range(self.ndim))))
    data = property(lambda self: self)

    def dim(self):
        return self.ndim

    def numel(self):
        return math.prod(self.shape)

    nelement = numel

    def element_size(self):
        return self.dtype.itemsize

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim=None):
        return self.strides if dim is None else self.strides[dim]

    def storage_offset(self):
        return self.offset

    def data_ptr(self):
        return id(self.storage) * 4096 + self.offset * self.dtype.itemsize

    def untyped_storage(self):
        return self.storage

    def is_contiguous(self, *_a, **_k):
        return self.strides == _row_major(self.shape) or self.numel() <= 1

    def is_floating_point(self):
        return self.dtype.kind == "f"

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self):
        return "tensor(%s, %s)" % (tuple(self.shape), self.dtype)

    # ---- its values ----
    def places(self):
        """Where its elements are in the storage, in order."""
        out = [self.offset]
        for n, step in zip(self.shape, self.strides):
            out = [at + i * step for at in out for i in range(n)]
        return out

    def known(self):
        """Its values in order, one value for all, or None."""
        if not self.storage.is_list() or self.storage.list() is None:
            return self.storage.values
        if self.is_contiguous():
            return self.storage.values[self.offset:self.offset + self.numel()]
        if self.numel() > MOST_VALUES:
            return None
        return [self.storage.values[at] for at in self.places()]

    def values(self):
        """As a list, or None."""
        found = self.known()
        if found is None or isinstance(found, list):
            return found
        return [found] * self.numel() if self.numel() <= MOST_VALUES else None

    def item(self):
        found = self.values()
        return found[0] if found else _cast(0, self.dtype)

    def tolist(self):
        flat = self.values()
        if flat is None:
            flat = [_cast(0, self.dtype)] * self.numel()
        if self.ndim == 0:
            return flat[0]
        for n in reversed(self.shape[1:]):
            flat = [flat[i:i + n] for i in range(0, len(flat), n)] if n else []
        return flat

    def __int__(self):
        return builtins.int(self.item())

    __index__ = __int__

    def __float__(self):
        return builtins.float(self.item())

    def __bool__(self):
        return builtins.bool(self.item())

    def __hash__(self):
        return id(self)

    def numpy(self):
        return self

    def set_values(self, values):
        """Writes a list, one value for all or nothing known into the places of this tensor."""
        storage = self.storage
        if not isinstance(values, list) and self.is_contiguous() and self.numel() == storage.size:
            storage.values, storage.is_captured = _cast(values, self.dtype), False
            return self
        if storage.values is None and (values is None or storage.size > MOST_VALUES):
            return self
        if storage.values is None:
            storage.values = _cast(0, self.dtype)
        if values is None or not storage.open():
            storage.values = None if self.dtype.kind == "f" or values is None else storage.values
            return self
        if not isinstance(values, list):
            values = [values] * self.numel()
        if self.is_contiguous():
            storage.values[self.offset:self.offset + self.numel()] = [_cast(v, self.dtype) for v in values]
        else:
            for at, value in zip(self.places(), values):
                storage.values[at] = _cast(value, self.dtype)
        return self

    # ---- other ways to look at it ----
    def _viewed(self, shape, strides, offset=None):
        return Tensor(self.storage, shape, strides, self.offset if offset is None else offset)

    def reshape(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], dtype):
            return self.view(shape[0])
        shape = list(_shape_of(shape))
        if -1 in shape:
            rest = math.prod(n for n in shape if n != -1)
            shape[shape.index(-1)] = self.numel() // rest if rest else 0
        if math.prod(shape) != self.numel():
            raise RuntimeError("shape %s for %d elements" % (shape, self.numel()))
        source = self if self.is_contiguous() else self.contiguous()
        return source._viewed(shape, _row_major(shape))

    def view(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], dtype):
            kind = shape[0]
            last = self.shape[-1] * self.dtype.itemsize // kind.itemsize if self.ndim else 1
            new = tuple(self.shape[:-1]) + (last,) if self.ndim else ()
            same = kind.itemsize == self.dtype.itemsize and kind.kind in "iub" and self.dtype.kind in "iub"
            return _make(new, kind, _mapped(self.known(), lambda v: _cast(v, kind)) if same else None)
        return self.reshape(*shape)

    view_as = lambda self, other: self.reshape(*other.shape)
    reshape_as = view_as

    def permute(self, *order):
        order = [n % self.ndim for n in _shape_of(order)]
        return self._viewed([self.shape[i] for i in order], [self.strides[i] for i in order])

    def transpose(self, a, b):
        order = list(range(self.ndim))
        order[a], order[b] = order[b], order[a]
        return self.permute(*order)

    swapaxes = transpose
    t = lambda self: self.transpose(0, 1) if self.ndim == 2 else self

    def unsqueeze(self, dim):
        dim %= self.ndim + 1
        return self._viewed(self.shape[:dim] + (1,) + self.shape[dim:], self.strides[:dim] + (1,) + self.strides[dim:])

    def squeeze(self, dim=None):
        keep = [i for i, n in enumerate(self.shape) if n != 1 or (dim is not None and i != dim % self.ndim)]
        return self._viewed([self.shape[i] for i in keep], [self.strides[i] for i in keep])

    def flatten(self, start=0, end=-1):
        start, end = start % self.ndim, end % self.ndim
        return self.reshape(*self.shape[:start], math.prod(self.shape[start:end + 1]), *self.shape[end + 1:])

    ravel = flatten

    def expand(self, *shape):
        shape = list(_shape_of(shape))
        old, steps = (1,) * (len(shape) - self.ndim) + tuple(self.shape), (0,) * (len(shape) - self.ndim) + self.strides
        shape = [o if n == -1 else n for n, o in zip(shape, old)]
        return self._viewed(shape, [s if n == o else 0 for n, o, s in zip(shape, old, steps)])

    expand_as = lambda self, other: self.expand(*other.shape)
    broadcast_to = expand

    def narrow(self, dim, start, length):
        return self[(slice(None),) * (dim % self.ndim) + (slice(start, start + length),)]

    def select(self, dim, index):
        return self[(slice(None),) * (dim % self.ndim) + (index,)]

    def chunk(self, n, dim=0):
        step = -(-self.shape[dim] // n)
        return tuple(self.narrow(dim, i, builtins.min(step, self.shape[dim] - i))
                     for i in range(0, self.shape[dim], step))

    def split(self, sizes, dim=0):
        if isinstance(sizes, builtins.int):
            sizes = [builtins.min(sizes, self.shape[dim] - i) for i in range(0, self.shape[dim], sizes)]
        out, at = [], 0
        for n in sizes:
            out.append(self.narrow(dim, at, n))
            at += n
        return tuple(out)

    def unbind(self, dim=0):
        return tuple(self.select(dim, i) for i in range(self.shape[dim]))

    def _located(self, index):
        """A view for whole numbers, slices, None and ...; None where tensors index."""
        index = list(index) if isinstance(index, tuple) else [index]
        if any(isinstance(i, (list, builtins.bool)) or (isinstance(i, Tensor) and (i.ndim or i.dtype.kind == "b"))
               for i in index):
            return None
        used = builtins.sum(i is not None and i is not Ellipsis for i in index)
        if Ellipsis in [i for i in index if not isinstance(i, Tensor)]:
            at = next(k for k, i in enumerate(index) if i is Ellipsis)
            index[at:at + 1] = [slice(None)] * (self.ndim - used)
        index += [slice(None)] * (self.ndim - builtins.sum(i is not None for i in index))
        shape, strides, offset, dim = [], [], self.offset, 0
        for i in index:
            if i is None:
                shape.append(1)
                strides.append(1)
                continue
            n, step = self.shape[dim], self.strides[dim]
            dim += 1
            if isinstance(i, slice):
                begin, end, by = slice(*(None if x is None else builtins.int(x)
                                         for x in (i.start, i.stop, i.step))).indices(n)
                shape.append(len(range(begin, end, by)))
                strides.append(step * by)
                offset += begin * step
            else:
                i = builtins.int(i)
                if not -n <= i < n:
                    raise IndexError("index %d of %d" % (i, n))
                offset += (i % n) * step
        return self._viewed(shape, strides, offset)

    def _picked_shape(self, index):
        """The shape that indexing with tensors gives."""
        index = list(index) if isinstance(index, tuple) else [index]
        shape, dim, wide = [], 0, None
        for i in index:
            if i is Ellipsis:
                rest = self.ndim - builtins.sum(k is not None and k is not Ellipsis for k in index)
                shape += self.shape[dim:dim + rest]
                dim += rest
            elif isinstance(i, slice):
                shape.append(len(range(*i.indices(self.shape[dim]))))
                dim += 1
            elif i is None:
                shape.append(1)
            else:
                if isinstance(i, Tensor) and i.dtype.kind == "b":
                    found = i.values()
                    n = builtins.sum(found) if found else 0
                    own, dim = (n,), dim + i.ndim
                else:
                    own, dim = tuple(i.shape) if isinstance(i, Tensor) else (len(i),) if isinstance(i, list) else (), dim + 1
                if wide is None:
                    wide = (len(shape), own)
                else:
                    wide = (wide[0], _broadcast(wide[1], own))
        if wide is not None:
            shape[wide[0]:wide[0]] = wide[1]
        return tuple(shape) + tuple(self.shape[dim:])

    def _rows(self, index):
        """The rows that one tensor or list of whole numbers picks, or None."""
        if isinstance(index, tuple) and len(index) == 1:
            index = index[0]
        if isinstance(index, list):
            return index if all(isinstance(i, builtins.int) for i in index) else None
        if isinstance(index, Tensor) and index.dtype.kind == "b" and index.ndim == 1:
            found = index.values()
            return None if found is None else [i for i, on in enumerate(found) if on]
        if isinstance(index, Tensor) and index.dtype.kind in "iu":
            return index.values()
        return None

    def __getitem__(self, index):
        place = self._located(index)
        if place is not None:
            return place
        shape, rows = self._picked_shape(index), self._rows(index)
        if rows is None or math.prod(shape) > MOST_VALUES or not self.storage.is_list() or self.known() is None:
            return _make(shape, self.dtype, None if self.storage.is_list() else self.storage.values)
        values = []
        for i in rows:
            values += self[builtins.int(i)].values()
        return _make(shape, self.dtype, values)

    def __setitem__(self, index, value):
        place = self._located(index)
        if place is not None:
            place.copy_(value)
            return
        rows = self._rows(index)
        if rows is None:
            self.set_values(None)
            return
        for k, i in enumerate(rows):
            part = value
            if isinstance(value, Tensor) and value.ndim == self.ndim and len(value) == len(rows):
                part = value[k]
            self[builtins.int(i)].copy_(part)

    # ---- copies ----
    def clone(self, *_a, **_k):
        return _make(self.shape, self.dtype, _each(self, self.dtype, lambda v: v))

    def contiguous(self, *_a, **_k):
        return self if self.is_contiguous() else self.clone()

    def to(self, *args, **kwargs):
        kind = kwargs.get("dtype")
        for a in args:
            kind = a if isinstance(a, dtype) else a.dtype if isinstance(a, Tensor) else kind
        return self if kind is None or kind is self.dtype else _make(
            self.shape, kind, _each(self, kind, lambda v: _cast(v, kind)))

    type = lambda self, kind=None: self.dtype if kind is None else self.to(kind)
    type_as = lambda self, other: self.to(other.dtype)
    float = lambda self: self.to(float32)  # noqa: F821
    double = lambda self: self.to(float64)  # noqa: F821
    half = lambda self: self.to(float16)  # noqa: F821
    bfloat16 = lambda self: self.to(bfloat16)  # noqa: F821
    int = lambda self: self.to(int32)  # noqa: F821
    long = lambda self: self.to(int64)  # noqa: F821
    short = lambda self: self.to(int16)  # noqa: F821
    char = lambda self: self.to(int8)  # noqa: F821
    byte = lambda self: self.to(uint8)  # noqa: F821
    bool = lambda self: self.to(bool_)

    def cpu(self, *_a, **_k):
        return self

    cuda = npu = detach = share_memory_ = pin_memory = requires_grad_ = cpu

    def copy_(self, other, *_a, **_k):
        if not isinstance(other, Tensor):
            other = tensor(other, dtype=self.dtype)
        if not other.storage.is_list() or self.numel() > MOST_VALUES:
            return self.set_values(None if other.storage.is_list() else other.storage.values)
        return self.set_values(other.expand(*self.shape).known())

    def fill_(self, value):
        return self.set_values(_cast(builtins.float(value) if self.dtype.kind == "f" else value, self.dtype))

    def zero_(self):
        return self.fill_(0)

    def repeat(self, *times):
        times = _shape_of(times)
        source = self.reshape((1,) * (len(times) - self.ndim) + tuple(self.shape))
        for dim, n in enumerate(times):
            source = cat([source] * n, dim) if n != 1 else source
        return source.clone() if source.storage is self.storage else source

    def repeat_interleave(self, n, dim=None):
        source = self.flatten() if dim is None else self
        dim = 0 if dim is None else dim
        return stack([source] * n, dim % source.ndim + 1).flatten(dim % source.ndim, dim % source.ndim + 1)

    def new_zeros(self, *shape, **kwargs):
        return zeros(*shape, dtype=kwargs.get("dtype") or self.dtype)

    new_empty = new_zeros

    def new_full(self, shape, value, **kwargs):
        return full(shape, value, dtype=kwargs.get("dtype") or self.dtype)

    # ---- random ----
    def random_values(self, *_a, **_k):
        return self.set_values(None)

    uniform_ = normal_ = exponential_ = random_values

    def random_(self, low=0, high=None, generator=None):
        low, high = (0, low) if high is None else (low, high)
        return self.copy_(randint(low, high, tuple(self.shape), dtype=self.dtype, generator=generator))

    # ---- one result of many ----
    def _reduced(self, function, dim=None, keepdim=False, kind=None):
        kind = kind or self.dtype
        if dim is None:
            found = self.values()
            return _make((), kind, None if not found else [_cast(function(found), kind)])
        dims = sorted(d % self.ndim for d in (dim if isinstance(dim, (tuple, list)) else [dim]))
        rest = [i for i in range(self.ndim) if i not in dims]
        shape = [self.shape[i] for i in rest]
        whole = [1 if i in dims else n for i, n in enumerate(self.shape)] if keepdim else shape
        found = self.permute(*rest, *dims).values() if self.known() is not None and self.numel() else None
        n = math.prod(self.shape[i] for i in dims)
        out = None if found is None else [_cast(function(found[i:i + n]), kind) for i in range(0, len(found), n)]
        return _make(whole, kind, out)

    def sum(self, dim=None, keepdim=False, dtype=None, axis=None):
        kind = dtype or (self.dtype if self.dtype.kind == "f" else int64)  # noqa: F821
        return self._reduced(builtins.sum, axis if dim is None else dim, keepdim, kind)

    def prod(self, dim=None, keepdim=False, dtype=None):
        return self._reduced(math.prod, dim, keepdim, dtype or (self.dtype if self.dtype.kind == "f" else int64))  # noqa: F821

    def mean(self, dim=None, keepdim=False, dtype=None):
        return self._reduced(lambda v: builtins.sum(v) / len(v), dim, keepdim, dtype)

    def var(self, dim=None, keepdim=False, **_k):
        return self._reduced(lambda v: builtins.sum((x - builtins.sum(v) / len(v)) ** 2 for x in v), dim, keepdim)

    std = var

    def _extreme(self, function, dim, keepdim):
        if isinstance(dim, Tensor):
            return _binary(self, dim, function)
        out = self._reduced(lambda v: function(*v) if len(v) > 1 else v[0], dim, keepdim)
        if dim is None:
            return out
        at = self._reduced(lambda v: v.index(function(*v) if len(v) > 1 else v[0]), dim, keepdim, int64)  # noqa: F821
        return Pair((out, at))

    def max(self, dim=None, keepdim=False):
        return self._extreme(builtins.max, dim, keepdim)

    def min(self, dim=None, keepdim=False):
        return self._extreme(builtins.min, dim, keepdim)

    def amax(self, dim=None, keepdim=False):
        return self._reduced(builtins.max, dim, keepdim)

    def amin(self, dim=None, keepdim=False):
        return self._reduced(builtins.min, dim, keepdim)

    def argmax(self, dim=None, keepdim=False):
        return self._reduced(lambda v: v.index(builtins.max(v)), dim, keepdim, int64)  # noqa: F821

    def argmin(self, dim=None, keepdim=False):
        return self._reduced(lambda v: v.index(builtins.min(v)), dim, keepdim, int64)  # noqa: F821

    def any(self, dim=None, keepdim=False):
        return self._reduced(builtins.any, dim, keepdim, bool_)

    def all(self, dim=None, keepdim=False):
        return self._reduced(builtins.all, dim, keepdim, bool_)

    def cumsum(self, dim, dtype=None):
        kind = dtype or (self.dtype if self.dtype.kind == "f" else int64)  # noqa: F821
        found = self.transpose(dim, -1).values() if self.ndim else self.values()
        if found is None:
            return _make(self.shape, kind, None)
        n, out = self.shape[dim], []
        for i in range(0, len(found), n):
            total = 0
            for v in found[i:i + n]:
                total += v
                out.append(total)
        return _make([self.shape[i] for i in _swapped(self.ndim, dim)], kind, out).transpose(dim, -1).contiguous()

    def sort(self, dim=-1, descending=False, stable=False):
        found = self.values() if self.ndim == 1 else None
        order = None if found is None else sorted(range(len(found)), key=found.__getitem__, reverse=descending)
        return Pair((_make(self.shape, self.dtype, None if order is None else [found[i] for i in order]),
                     _make(self.shape, int64, order)))  # noqa: F821

    def argsort(self, dim=-1, descending=False, stable=False):
        return self.sort(dim, descending)[1]

    def topk(self, k, dim=-1, largest=True, sorted=True):
        shape = list(self.shape)
        shape[dim] = k
        return Pair((_make(shape, self.dtype, None), _make(shape, int64, None)))  # noqa: F821

    def nonzero(self, as_tuple=False):
        found = self.values() if self.ndim == 1 else None
        at = [] if found is None else [i for i, v in enumerate(found) if v]
        return (_make((len(at),), int64, at),) if as_tuple else _make((len(at), 1), int64, at)  # noqa: F821

    def unique(self, **_k):
        found = self.values()
        return tensor(sorted(set(found)) if found else [], dtype=self.dtype)

    def index_select(self, dim, index):
        return self.transpose(0, dim)[index].transpose(0, dim)

    def gather(self, dim, index):
        return _make(index.shape, self.dtype, None)

    def scatter_(self, *_a, **_k):
        return self.set_values(None)

    index_copy_ = index_add_ = index_put_ = scatter_add_ = masked_scatter_ = scatter_

    def masked_fill(self, mask, value):
        return where(mask, value, self)

    def masked_fill_(self, mask, value):
        return self.copy_(where(mask, value, self))

    def clamp(self, min=None, max=None):
        def one(v):
            v = v if min is None or v >= min else min
            return v if max is None or v <= max else max
        return _make(self.shape, self.dtype, _each(self, self.dtype, one))

    clip = clamp
    clamp_min = lambda self, low: self.clamp(min=low)
    clamp_max = lambda self, high: self.clamp(max=high)

    def matmul(self, other):
        return matmul(self, other)

    __matmul__ = mm = bmm = matmul

    def flip(self, *dims):
        found, out = self, self
        for d in _shape_of(dims):
            out = found[(slice(None),) * d + (list(range(self.shape[d] - 1, -1, -1)),)] if d else found[
                list(range(self.shape[0] - 1, -1, -1))]
            found = out
        return out

    def tril(self, diagonal=0):
        return _make(self.shape, self.dtype, None)

    triu = tril

    def new_tensor(self, values, **kwargs):
        return tensor(values, dtype=kwargs.get("dtype") or self.dtype)

    def equal(self, other):
        return self.values() == other.values()

    def __getattr__(self, name):
        """A method that is not here: what it gives has this shape and unknown values."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name.endswith("_") and not name.endswith("__"):
            plain = name[:-1]
            return lambda *a, **k: self.copy_(getattr(self, plain)(*a, **k))
        return lambda *a, **k: _make(self.shape, self.dtype, None)


class Pair(tuple):
    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def _swapped(n, dim):
    order = list(range(n))
    order[dim], order[-1] = order[-1], order[dim]
    return order


def _each(t, kind, function):
    """The function of each value of a tensor, as values of a new one."""
    if not t.storage.is_list():
        return _mapped(t.storage.values, function)
    if t.numel() <= LAZY_VALUES:
        return _mapped(t.known(), function)
    if t.numel() > MOST_VALUES or (kind.kind == "f" and t.numel() > MOST_FLOATS):
        return None
    now = _frozen(t)
    return Lazy(lambda: _mapped(now.known(), function))


def _mapped(values, function):
    """The function of each value; unknown where it has none."""
    try:
        if isinstance(values, list):
            return [function(v) for v in values]
        return None if values is None else function(values)
    except (ArithmeticError, ValueError, TypeError, OverflowError):
        return None


def _binary(a, b, function, kind=None):
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return function(a, b)
    known = [x for x in (a, b) if isinstance(x, Tensor)]
    if kind is None:
        kind = _result_type(*(x.dtype for x in known))
        if kind.kind != "f" and any(isinstance(x, builtins.float) for x in (a, b)):
            kind = float32  # noqa: F821
    shape = _broadcast(*(x.shape for x in known))
    n = math.prod(shape)
    if any(not x.storage.is_list() and x.storage.values is None for x in known):
        return _make(shape, kind, None)
    if not any(x.storage.is_list() for x in known):
        sides = [x.storage.values if isinstance(x, Tensor) else x for x in (a, b)]
        return _make(shape, kind, _mapped(function(*sides), lambda v: _cast(v, kind)) if n else None)
    if n > MOST_VALUES or (kind.kind == "f" and n > MOST_FLOATS):
        return _make(shape, kind, None)
    now = [_frozen(x) if isinstance(x, Tensor) and n > LAZY_VALUES else x for x in (a, b)]

    def computed():
        sides = [x.expand(*shape).values() if isinstance(x, Tensor) else [x] * n for x in now]
        if any(v is None for v in sides):
            return None
        return [_cast(function(x, y), kind) for x, y in zip(*sides)]
    return _make(shape, kind, Lazy(computed) if n > LAZY_VALUES else Lazy(computed).get())


def _divided(x, y):
    return x / y if y else math.inf


_OPERATORS = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "floordiv": lambda x, y: x // y, "mod": lambda x, y: x % y, "pow": lambda x, y: x ** y,
    "and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y,
    "lshift": lambda x, y: x << y, "rshift": lambda x, y: x >> y,
}
_COMPARISONS = {
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
}
_NAMES = {"floordiv": ["floor_divide"], "mod": ["remainder", "fmod"], "sub": ["subtract"], "mul": ["multiply"],
          "and": ["bitwise_and", "logical_and"], "or": ["bitwise_or", "logical_or"], "xor": ["bitwise_xor"],
          "lshift": ["bitwise_left_shift"], "rshift": ["bitwise_right_shift"]}
_UNARY = {
    "neg": lambda v: -v, "abs": builtins.abs, "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "sin": math.sin,
    "cos": math.cos, "tanh": math.tanh, "floor": math.floor, "ceil": math.ceil, "round": builtins.round,
    "trunc": math.trunc, "log2": math.log2, "exp2": lambda v: 2.0 ** v, "rsqrt": lambda v: 1 / math.sqrt(v),
    "reciprocal": lambda v: 1 / v, "sign": lambda v: (v > 0) - (v < 0), "relu": lambda v: builtins.max(v, 0),
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)), "square": lambda v: v * v,
}


def _add_operators():
    def binary(function, kind=None):
        return lambda self, other, **k: _binary(self, other, function, kind)

    def reflected(function):
        return lambda self, other: _binary(other, self, function)

    def in_place(function):
        return lambda self, other, **k: self.copy_(_binary(self, other, function))

    for name, function in _OPERATORS.items():
        setattr(Tensor, "__%s__" % name, binary(function))
        setattr(Tensor, "__r%s__" % name, reflected(function))
        setattr(Tensor, "__i%s__" % name, in_place(function))
        for own in [name, *_NAMES.get(name, [])]:
            if own not in ("and", "or"):
                setattr(Tensor, own, binary(function))
                setattr(Tensor, own + "_", in_place(function))
                globals()[own] = lambda a, b, f=function, **k: _binary(a, b, f)

    def quotient(a, b):
        kinds = [x.dtype for x in (a, b) if isinstance(x, Tensor)]
        kind = _result_type(*kinds)
        return _binary(a, b, _divided, kind if kind.kind == "f" else float32)  # noqa: F821

    def div(self, other, rounding_mode=None):
        return _binary(self, other, _OPERATORS["floordiv"]) if rounding_mode else quotient(self, other)

    Tensor.__truediv__ = Tensor.div = Tensor.true_divide = div
    Tensor.__rtruediv__ = lambda self, other: quotient(other, self)
    Tensor.__itruediv__ = Tensor.div_ = lambda self, other: self.copy_(quotient(self, other))
    globals()["div"] = div
    for name, function in _COMPARISONS.items():
        setattr(Tensor, "__%s__" % name, binary(function, bool_))
        setattr(Tensor, name, binary(function, bool_))
        globals()[name] = lambda a, b, f=function: _binary(a, b, f, bool_)
    for name, function in _UNARY.items():
        def one(self, *_a, f=function, **_k):
            whole = f in (builtins.abs, _UNARY["neg"], _UNARY["sign"], _UNARY["relu"], _UNARY["square"])
            kind = self.dtype if whole or self.dtype.kind == "f" else float32  # noqa: F821
            return _make(self.shape, kind, _each(self, kind, lambda v: _cast(f(v), kind)))
        setattr(Tensor, name, one)
        setattr(Tensor, name + "_", lambda self, *a, g=one, **k: self.copy_(g(self)))
        globals()[name] = one
    Tensor.__neg__, Tensor.__abs__ = Tensor.neg, Tensor.abs
    Tensor.__invert__ = Tensor.logical_not = lambda self: _make(
        self.shape, self.dtype, _each(self, self.dtype, lambda v: not v if self.dtype.kind == "b" else ~v))
    Tensor.maximum = lambda self, other: _binary(self, other, builtins.max)
    Tensor.minimum = lambda self, other: _binary(self, other, builtins.min)


bool_ = globals()["bool"]
_add_operators()


# ---- making tensors ----
class Generator:
    def __init__(self, device=None):
        self.random = _random.Random(0)

    def manual_seed(self, seed):
        self.random.seed(seed)
        return self

    def seed(self):
        return 0

    initial_seed = seed


default_generator = Generator()


def manual_seed(seed):
    return default_generator.manual_seed(seed)


seed = manual_seed


def full(*shape, fill_value=None, dtype=None, **_k):
    if fill_value is None:
        shape, fill_value = shape[:-1], shape[-1]
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    kind = dtype or (float32 if isinstance(fill_value, builtins.float) else int64)  # noqa: F821
    return _make(_shape_of(shape), kind, _cast(fill_value, kind))


def zeros(*shape, dtype=None, size=None, **_k):
    return _make(_shape_of(shape if size is None else (size,)), dtype or float32, _cast(0, dtype or float32))  # noqa: F821


def ones(*shape, dtype=None, **_k):
    return _make(_shape_of(shape), dtype or float32, _cast(1, dtype or float32))  # noqa: F821


empty = zeros


def _like(function):
    return lambda other, *a, dtype=None, **k: function(tuple(other.shape), *a, dtype=dtype or other.dtype)


zeros_like, ones_like, empty_like = _like(zeros), _like(ones), _like(empty)
full_like = _like(full)


def _nested(values):
    if isinstance(values, Tensor):
        return tuple(values.shape), values.values()
    if not isinstance(values, (list, tuple)):
        return (), [values]
    parts = [_nested(v) for v in values]
    shape = (len(parts),) + (parts[0][0] if parts else ())
    if any(p[1] is None for p in parts):
        return shape, None
    return shape, [v for p in parts for v in p[1]]


def tensor(values, dtype=None, **_k):
    if isinstance(values, Tensor):
        return values.clone().to(dtype or values.dtype)
    if hasattr(values, "tolist") and not isinstance(values, (list, tuple)):
        values = values.tolist()
    shape, flat = _nested(values)
    if dtype is None:
        first = flat[0] if flat else 0.0
        dtype = bool_ if isinstance(first, builtins.bool) else int64 if isinstance(first, builtins.int) else float32  # noqa: F821
    return _make(shape, dtype, None if flat is None else [_cast(v, dtype) for v in flat])


as_tensor = asarray = from_numpy = tensor


def arange(*args, dtype=None, **_k):
    begin, end, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    n = builtins.max(0, math.ceil((end - begin) / step))
    kind = dtype or (int64 if all(isinstance(a, builtins.int) for a in args) else float32)  # noqa: F821
    if n > MOST_VALUES:
        return _make((n,), kind, None)
    count = lambda: [_cast(begin + i * step, kind) for i in range(n)]  # noqa: E731
    return _make((n,), kind, count() if n <= LAZY_VALUES else Lazy(count))


def linspace(begin, end, steps, dtype=None, **_k):
    return _make((steps,), dtype or float32, [begin + (end - begin) * i / builtins.max(1, steps - 1)  # noqa: F821
                                              for i in range(steps)])


def eye(n, m=None, dtype=None, **_k):
    m = m or n
    return _make((n, m), dtype or float32, [_cast(i == j, dtype or float32) for i in range(n) for j in range(m)])  # noqa: F821


def _unknown(*shape, dtype=None, size=None, **_k):
    return _make(_shape_of(shape if size is None else (size,)), dtype or float32, None)  # noqa: F821


rand, randn = _unknown, _unknown
rand_like = randn_like = lambda other, dtype=None, **_k: _unknown(tuple(other.shape), dtype=dtype or other.dtype)


def normal(*args, size=None, **_k):
    if size is None and args and isinstance(args[0], Tensor):
        return _make(args[0].shape, args[0].dtype, None)
    return _unknown(size if size is not None else args[-1])


def randint(*args, low=None, high=None, size=None, dtype=None, generator=None, **_k):
    args = list(args)
    if size is None:
        size = args.pop()
    if high is None:
        high = args.pop()
    if low is None:
        low = args.pop() if args else 0
    shape, kind = _shape_of((size,)), dtype or int64  # noqa: F821
    n, source = math.prod(shape), (generator or default_generator).random
    low, high = builtins.int(low), builtins.int(high)
    if n > MOST_VALUES:
        return _make(shape, kind, None)
    draw = lambda: [_cast(source.randrange(low, builtins.max(high, low + 1)), kind) for _ in range(n)]  # noqa: E731
    return _make(shape, kind, draw() if n <= LAZY_VALUES else Lazy(draw))


def randperm(n, dtype=None, generator=None, **_k):
    order = list(range(n))
    (generator or default_generator).random.shuffle(order)
    return _make((n,), dtype or int64, order)  # noqa: F821


def frombuffer(data, dtype=None, count=-1, offset=0, **_k):
    n = (len(data) - offset) // dtype.itemsize if count < 0 else count
    if dtype.kind not in "iu" or n > MOST_VALUES:
        return _make((n,), dtype, None)
    raw = bytes(memoryview(data).cast("B")[offset:offset + n * dtype.itemsize])
    return _make((n,), dtype, [builtins.int.from_bytes(raw[i:i + dtype.itemsize], "little", signed=dtype.kind == "i")
                               for i in range(0, len(raw), dtype.itemsize)])


# ---- functions of several tensors ----
def cat(tensors, dim=0, **_k):
    tensors = [t for t in tensors if t.ndim > 1 or t.numel() or len(tensors) == 1] or list(tensors)
    first = tensors[0]
    dim %= builtins.max(1, first.ndim)
    shape = list(first.shape)
    shape[dim] = builtins.sum(t.shape[dim] for t in tensors)
    kind = _result_type(*(t.dtype for t in tensors))
    if not any(t.storage.is_list() for t in tensors) and all(
            t.storage.values == first.storage.values for t in tensors):
        return _make(shape, kind, _mapped(first.storage.values, lambda v: _cast(v, kind)))
    if math.prod(shape) > MOST_VALUES or (kind.kind == "f" and math.prod(shape) > MOST_FLOATS):
        return _make(shape, kind, None)
    now = [_frozen(t) for t in tensors]

    def computed():
        rows = [(t.values(), math.prod(t.shape[dim:])) for t in now]
        if any(values is None for values, _ in rows):
            return None
        out = []
        for i in range(math.prod(first.shape[:dim])):
            for values, n in rows:
                out += values[i * n:(i + 1) * n]
        return [_cast(v, kind) for v in out]
    return _make(shape, kind, Lazy(computed) if math.prod(shape) > LAZY_VALUES else Lazy(computed).get())


concat = concatenate = cat


def stack(tensors, dim=0, **_k):
    dim %= tensors[0].ndim + 1
    return cat([t.unsqueeze(dim) for t in tensors], dim)


def vstack(tensors):
    return cat([t if t.ndim > 1 else t.unsqueeze(0) for t in tensors], 0)


def hstack(tensors):
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def matmul(a, b, **_k):
    kind = _result_type(a.dtype, b.dtype)
    if a.ndim == 1 and b.ndim == 1:
        return _make((), kind, None)
    if b.ndim == 1:
        return _make(a.shape[:-1], kind, None)
    if a.ndim == 1:
        return _make(tuple(b.shape[:-2]) + (b.shape[-1],), kind, None)
    return _make(_broadcast(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1]), kind, None)


mm = bmm = mv = matmul


def outer(a, b):
    return a.unsqueeze(1) * b.unsqueeze(0)


def where(condition, a=None, b=None):
    if a is None:
        return condition.nonzero(as_tuple=True)
    sides = [x for x in (a, b) if isinstance(x, Tensor)]
    shape = _broadcast(condition.shape, *(x.shape for x in sides))
    kind = _result_type(*(x.dtype for x in sides)) if sides else tensor(a).dtype
    on = condition.expand(*shape).values() if math.prod(shape) <= MOST_VALUES else None
    values = [x.expand(*shape).values() if isinstance(x, Tensor) and math.prod(shape) <= MOST_VALUES
              else None if isinstance(x, Tensor) else [x] * math.prod(shape) for x in (a, b)]
    if on is None or any(v is None for v in values):
        return _make(shape, kind, None)
    return _make(shape, kind, [_cast(x if c else y, kind) for c, x, y in zip(on, *values)])


def meshgrid(*tensors, indexing="ij"):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    n = len(tensors)
    shape = [t.numel() for t in tensors]
    return tuple(t.reshape([-1 if i == k else 1 for k in range(n)]).expand(*shape) for i, t in enumerate(tensors))


def bucketize(values, boundaries, **_k):
    return _make(values.shape, int64, None)  # noqa: F821


def broadcast_tensors(*tensors):
    shape = _broadcast(*(t.shape for t in tensors))
    return tuple(t.expand(*shape) for t in tensors)


def equal(a, b):
    return a.values() == b.values()


def allclose(*_a, **_k):
    return True


def is_tensor(x):
    return isinstance(x, Tensor)


def numel(t):
    return t.numel()


def set_num_threads(_n):
    return None


def get_num_threads():
    return 1


class no_grad:
    def __init__(self, *_a):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_a):
        return False

    def __call__(self, function):
        return function


inference_mode = enable_grad = no_grad
set_grad_enabled = no_grad


class _Module(_types.ModuleType):
    """A part of the package: whatever it is asked for is a function that gives what it gets, its values unknown."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _lenient(name)


def _lenient(name):
    def function(*args, **kwargs):
        for a in args:
            if isinstance(a, (list, tuple)) and a and isinstance(a[0], Tensor):
                a = a[0]
            if isinstance(a, Tensor):
                own = type(a).__dict__.get(name)
                return own(*args, **kwargs) if own else _make(a.shape, a.dtype, None)
        return None
    return function


def __getattr__(name):
    """A function that is not here: the method of that name, or unknown values in the shape of the first tensor."""
    if name.startswith("__"):
        raise AttributeError(name)
    return _lenient(name)


def _add_modules():
    for name in ("nn", "nn.functional", "cuda", "npu", "distributed", "linalg", "random", "utils", "testing",
                 "backends", "version", "special", "fft"):
        module = _Module("torch." + name)
        module.__path__ = []
        _sys.modules["torch." + name] = module
        parent, _, own = name.rpartition(".")
        owner = _sys.modules["torch." + parent] if parent else _sys.modules[__name__]
        setattr(owner, own or name, module)
    functional = _sys.modules["torch.nn.functional"]
    functional.pad = _pad
    _sys.modules["torch.random"].manual_seed = manual_seed


def _pad(t, pads, mode="constant", value=0):
    for i in range(0, len(pads), 2):
        dim = t.ndim - 1 - i // 2
        for n, is_front in ((pads[i], True), (pads[i + 1], False)):
            if n > 0:
                shape = list(t.shape)
                shape[dim] = n
                more = full(shape, value or 0, dtype=t.dtype)
                t = cat([more, t] if is_front else [t, more], dim)
    return t


_add_modules()
__path__ = []
__version__ = "0"
FloatTensor = HalfTensor = LongTensor = IntTensor = Tensor
