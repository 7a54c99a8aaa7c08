"""The C library by ctypes: declarations, errors, and results as Python sees them."""
import ctypes
import os
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

VALUES, JSON, TEXT_FORM, MARKDOWN, HTML = range(5)  # enum strata_form
NULL, BOOL, INT, REAL, TEXT, LIST, RECORD, BLOB = range(8)  # enum strata_type
ONE, MANY, MANY_BY_KEY = range(3)  # enum strata_shape
MEMORY = 9


class Diagnostic(Structure):
    """struct strata_diagnostic"""

    _fields_ = [("code", c_char_p), ("severity", c_char_p), ("text", c_char_p), ("path", c_char_p),
                ("line", c_uint64), ("count", c_uint64)]


class Field(Structure):
    """struct strata_field"""

    _fields_ = [("name", c_char_p), ("type", c_int), ("shape", c_int), ("unit", c_char_p),
                ("head", c_char_p), ("about", c_char_p)]


class Column(Structure):
    """struct strata_column"""

    _fields_ = [("name", c_char_p), ("type", c_int), ("values", c_void_p), ("offsets", c_void_p),
                ("valid", c_void_p), ("nulls", c_uint64)]


class PtoResult(Structure):
    """struct strata_pto_result"""

    _fields_ = [("status", c_int), ("cycles", c_int64), ("us", c_double), ("instructions", c_uint64),
                ("is_complete", c_int), ("is_degenerate", c_int), ("bound", c_char_p)]


_FUNCTIONS = {  # name: (result, arguments)
    "strata_version": (c_char_p, []),
    "strata_open": (c_int, [c_char_p, c_char_p, POINTER(c_void_p)]),
    "strata_close": (None, [c_void_p]),
    "strata_capture_opened": (c_void_p, [c_void_p]),
    "strata_ask": (c_int, [POINTER(c_void_p), c_size_t, POINTER(c_char_p), c_int, POINTER(c_void_p)]),
    "strata_query": (c_int, [c_void_p, c_char_p, c_double, POINTER(c_void_p)]),
    "strata_result_status": (c_int, [c_void_p]),
    "strata_result_code": (c_int, [c_void_p]),
    "strata_result_error": (c_char_p, [c_void_p]),
    "strata_result_hints": (c_char_p, [c_void_p]),
    "strata_result_text": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "strata_result_schema": (c_char_p, [c_void_p]),
    "strata_result_free": (None, [c_void_p]),
    "strata_diagnostic_count": (c_size_t, [c_void_p]),
    "strata_diagnostic_get": (c_int, [c_void_p, c_size_t, POINTER(Diagnostic)]),
    "strata_field_count": (c_size_t, [c_void_p, c_char_p]),
    "strata_field_get": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Field)]),
    "strata_row_count": (c_uint64, [c_void_p]),
    "strata_column_count": (c_size_t, [c_void_p]),
    "strata_column_get": (c_int, [c_void_p, c_size_t, POINTER(Column)]),
    "strata_pto_new": (c_void_p, []),
    "strata_pto_free": (None, [c_void_p]),
    "strata_pto_text": (c_int, [c_void_p, c_char_p, c_size_t, c_char_p]),
    "strata_pto_set": (c_int, [c_void_p, c_char_p, c_char_p]),
    "strata_pto_arg": (c_int, [c_void_p, c_char_p, c_char_p]),
    "strata_pto_option": (c_int, [c_void_p, c_char_p, c_char_p]),
    "strata_pto_run": (c_int, [c_void_p, POINTER(PtoResult)]),
    "strata_pto_busy": (c_int64, [c_void_p, c_char_p, c_char_p]),
    "strata_pto_error": (c_char_p, [c_void_p]),
}

SONAME = "libstrata.so.0"


def _places():
    """Where the library may be: STRATA_LIBRARY, in the package, by the prefix of the package, by the linker."""
    named = os.environ.get("STRATA_LIBRARY")
    if named:
        return [named]
    here = os.path.dirname(os.path.abspath(__file__))
    prefix = os.path.abspath(os.path.join(here, "..", "..", "..", ".."))
    beside = [os.path.join(here, SONAME), os.path.join(prefix, "lib", SONAME)]
    return [path for path in beside if os.path.exists(path)] + [SONAME]


def _load():
    for path in _places():
        try:
            lib = ctypes.CDLL(path)
            break
        except OSError as error:
            reason = error
    else:
        raise ImportError("%s cannot be loaded (%s); STRATA_LIBRARY names it" % (SONAME, reason))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


lib = _load()


class Error(Exception):
    """A call that failed. `code` is the diagnostic's ("file.missing"), `status` one of enum strata_status; `path` and
    `line` are those of the file, if it is about one, `hints` what may help ("try: ...")."""

    path, line = None, None

    def __init__(self, message, code="", status=0, diagnostics=(), hints=()):
        super().__init__("\n  ".join([message, *hints]))
        self.code, self.status, self.diagnostics, self.hints = code, status, list(diagnostics), list(hints)
        for d in self.diagnostics:
            if d["code"] == code:
                self.path, self.line = d["path"], d["line"]
                break

    def __reduce__(self):
        message = str(self).split("\n  ")[0] if self.hints else str(self)
        return type(self), (message, self.code, self.status, self.diagnostics, self.hints)


class OutOfMemory(Error, MemoryError):
    """The library had no memory; nothing is left half done."""


def encoded(value, what):
    """A text or a path for the library, which reads until a NUL byte."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError("%s: expected a text, not %s" % (what, type(value).__name__))
    raw = os.fsencode(value)
    if b"\0" in raw:
        raise ValueError("%s: embedded NUL character" % what)
    return raw


def _text(value):
    return value.decode("utf-8", "replace") if value is not None else None


def diagnostics_of(handle):
    """What a call met on the way, as dicts."""
    found, d = [], Diagnostic()
    for i in range(lib.strata_diagnostic_count(handle)):
        lib.strata_diagnostic_get(handle, i, byref(d))
        found.append({"code": _text(d.code), "severity": _text(d.severity), "text": _text(d.text),
                      "path": _text(d.path), "line": d.line or None, "count": d.count})
    return found


def error_of(handle, status):
    """The exception for a result that failed."""
    message = _text(lib.strata_result_error(handle))
    if status == MEMORY:
        return OutOfMemory(message, "memory.none", status)
    diagnostics = diagnostics_of(handle)
    errors = [d for d in diagnostics if d["severity"] == "error"]
    hints = _text(lib.strata_result_hints(handle)).splitlines()
    return Error(message, errors[0]["code"] if errors else "usage.call", status, diagnostics, hints)


class Shared:
    """What owns memory of the library and does not change: a copy is the object itself."""

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    def __reduce__(self):
        raise TypeError("%s cannot be pickled" % type(self).__name__)


class Answer(Shared):
    """A result of the library, freed with this object."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        if self.handle:
            lib.strata_result_free(self.handle)
            self.handle = None

    def text(self):
        n = c_size_t()
        at = lib.strata_result_text(self.handle, byref(n))
        return ctypes.string_at(at, n.value).decode("utf-8", "replace")

    def schema(self):
        return _text(lib.strata_result_schema(self.handle))

    def fields(self, path):
        """(name, type, shape, unit, about) of the records at a path."""
        found, f = [], Field()
        for i in range(lib.strata_field_count(self.handle, path.encode())):
            lib.strata_field_get(self.handle, path.encode(), i, byref(f))
            found.append((_text(f.name), f.type, f.shape, _text(f.unit), _text(f.about)))
        return found


class Opened(Shared):
    """A capture of the library, closed with this object: a call keeps it, so that it is open until the call ends."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        if self.handle:
            lib.strata_close(self.handle)
            self.handle = None


def ask(captures, words, form):
    """Runs a command; the Answer, or an exception."""
    opened = [c._opened() for c in captures]
    handles = (c_void_p * max(len(opened), 1))(*[o.handle for o in opened])
    listed = (c_char_p * (len(words) + 1))(*[encoded(w, "a word of a command") for w in words], None)
    handle = c_void_p()
    status = lib.strata_ask(handles, len(captures), listed, form, byref(handle))
    answer = Answer(handle.value)
    if status != 0:
        raise error_of(answer.handle, status)
    return answer


def word(value):
    """A word of a command line."""
    return os.fspath(value) if hasattr(value, "__fspath__") else str(value)


def words_of(options):
    """Keyword options as those of a command line: by="op" is --by op, exact=True is --exact."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            for one in value:
                words += [option, word(one)]
        elif value is not None and value is not False:
            words += [option, word(value)]
    return words
