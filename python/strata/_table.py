"""Rows of SQL: columns as NumPy arrays where NumPy is there, as lists where it is not."""
import ctypes

from . import _lib


def _numpy():
    try:
        import numpy
        return numpy
    except ImportError:
        return None


class Texts(_lib.Shared):
    """A column of texts: looked up where they lie, one at a time or all as a list."""

    def __init__(self, column):
        self._column, self._offsets, self._bytes = column, column.offsets(), column.bytes()

    def __len__(self):
        return self._column.rows

    def __getitem__(self, i):
        if isinstance(i, slice):
            return self.tolist()[i]
        if i < 0:
            i += len(self)
        if not 0 <= i < len(self):
            raise IndexError(i)
        if not self._column.is_there(i):
            return None
        return self._column.decode(bytes(self._bytes[self._offsets[i]:self._offsets[i + 1]]))

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        """All of them."""
        raw, at = bytes(self._bytes), self._offsets.tolist()
        decode = self._column.decode
        if self._column.is_text and raw.isascii():
            raw, decode = raw.decode(), str
        found = [decode(raw[a:b]) for a, b in zip(at, at[1:])]
        if self._column.valid is not None:
            found = [one if self._column.is_there(i) else None for i, one in enumerate(found)]
        return found

    def __array__(self, dtype=None, copy=None):
        return _numpy().array(self.tolist(), dtype=dtype or object)

    def __eq__(self, other):
        return self.tolist() == list(other)

    def __repr__(self):
        return repr(self.tolist() if len(self) <= 20 else self[:20] + ["..."])


class _Column(_lib.Shared):
    """One column of a result, which it keeps alive."""

    def __init__(self, answer, i, rows):
        c = _lib.Column()
        _lib.lib.strata_column_get(answer.handle, i, ctypes.byref(c))
        self.answer, self.rows, self.name, self.type = answer, rows, c.name.decode(), c.type
        self.at, self.offsets_at, self.nulls = c.values, c.offsets, c.nulls
        self.valid = self.view("B", c.valid, (rows + 7) // 8) if c.valid else None
        self.is_text = c.type == _lib.TEXT
        self.decode = (lambda raw: raw.decode("utf-8", "replace")) if self.is_text else bytes

    def view(self, code, at, n):
        """Memory of the library as a memoryview, without a copy."""
        kinds = {"q": ctypes.c_int64, "d": ctypes.c_double, "B": ctypes.c_uint8}
        if not at or n == 0:
            return memoryview(b"").cast(code)

        class Part(kinds[code] * n):  # a class of its own can keep its owner
            pass

        part = Part.from_address(at)
        part.owner = self.answer
        return memoryview(part).cast("B").cast(code)

    def offsets(self):
        return self.view("q", self.offsets_at, self.rows + 1)

    def bytes(self):
        offsets = self.offsets()
        return self.view("B", self.at, offsets[self.rows] if self.rows else 0)

    def is_there(self, i):
        return self.valid is None or self.valid[i >> 3] >> (i & 7) & 1 == 1

    def numbers(self):
        return self.view("d" if self.type == _lib.REAL else "q", self.at, self.rows)

    def tolist(self):
        if self.type in (_lib.TEXT, _lib.BLOB):
            return Texts(self).tolist()
        if self.type == _lib.NULL:
            return [None] * self.rows
        found = self.numbers().tolist()
        if self.valid is not None:
            found = [one if self.is_there(i) else None for i, one in enumerate(found)]
        return found

    def mask(self, np):
        """True where a row is NULL."""
        bits = np.unpackbits(np.frombuffer(self.valid, np.uint8), bitorder="little")
        return bits[:self.rows] == 0

    def array(self, np):
        if self.type in (_lib.TEXT, _lib.BLOB):
            return Texts(self)
        if self.type == _lib.NULL:
            return np.full(self.rows, np.nan)
        numbers = np.frombuffer(self.numbers(), np.float64 if self.type == _lib.REAL else np.int64)
        return numbers if self.valid is None else np.ma.MaskedArray(numbers, self.mask(np))


class Table(_lib.Shared):
    """The rows of a statement. table["dur"] is a column; iterating gives rows as tuples."""

    def __init__(self, answer):
        lib = _lib.lib
        self._rows = lib.strata_row_count(answer.handle)
        self._columns = [_Column(answer, i, self._rows) for i in range(lib.strata_column_count(answer.handle))]
        self.names = []
        for c in self._columns:  # of columns with one name the later ones are "id:1", "id:2"
            name, n = c.name, 0
            while name in self.names:
                n += 1
                name = "%s:%d" % (c.name, n)
            c.name = name
            self.names.append(name)

    def __len__(self):
        return self._rows

    def _find(self, name):
        if name not in self.names:
            raise KeyError(name)
        return self._columns[self.names.index(name)]

    def __getitem__(self, name):
        """A column: a NumPy array over the library's memory, a masked one with NULLs in it; texts as a sequence;
        without NumPy a list."""
        np = _numpy()
        return self._find(name).array(np) if np else self._find(name).tolist()

    def columns(self):
        """All columns by name."""
        return {name: self[name] for name in self.names}

    def lists(self):
        """All columns as lists, with None for NULL, with and without NumPy."""
        return {c.name: c.tolist() for c in self._columns}

    def rows(self):
        """All rows as tuples."""
        return list(zip(*(c.tolist() for c in self._columns)))

    def __iter__(self):
        return iter(self.rows())

    def to_pandas(self):
        """A pandas.DataFrame; whole numbers with NULLs are Int64."""
        import pandas
        np, made = _numpy(), {}
        for c in self._columns:
            if c.type == _lib.INT and c.valid is not None:
                made[c.name] = pandas.arrays.IntegerArray(np.array(c.numbers()), c.mask(np))
            elif c.type == _lib.REAL and c.valid is not None:
                made[c.name] = c.array(np).filled(np.nan)
            elif c.type in (_lib.INT, _lib.REAL):
                made[c.name] = c.array(np)
            else:
                made[c.name] = c.tolist()
        return pandas.DataFrame(made)

    def to_arrow(self):
        """A pyarrow.Table over the library's memory."""
        import pyarrow as pa
        kinds = {_lib.INT: pa.int64(), _lib.REAL: pa.float64(), _lib.TEXT: pa.large_string(),
                 _lib.BLOB: pa.large_binary()}
        arrays = []
        for c in self._columns:
            if c.type == _lib.NULL:
                arrays.append(pa.nulls(self._rows))
                continue
            valid = pa.py_buffer(c.valid) if c.valid is not None else None
            data = [pa.py_buffer(c.numbers())]
            if c.type in (_lib.TEXT, _lib.BLOB):
                data = [pa.py_buffer(c.offsets()), pa.py_buffer(c.bytes())]
            arrays.append(pa.Array.from_buffers(kinds[c.type], self._rows, [valid] + data, c.nulls))
        return pa.table(arrays, names=self.names)

    def __repr__(self):
        rows = [["-" if v is None else "%.6g" % v if isinstance(v, float) else str(v) for v in row]
                for row in self._head(20)]
        widths = [max([len(name)] + [len(row[i]) for row in rows]) for i, name in enumerate(self.names)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in [self.names] + rows]
        if self._rows > 20:
            lines.append("... %d rows" % self._rows)
        return "\n".join(lines)

    def _head(self, most):
        n = min(most, self._rows)
        found = []
        for c in self._columns:
            if c.type in (_lib.TEXT, _lib.BLOB):
                texts = Texts(c)
                found.append([texts[i] for i in range(n)])
            elif c.type == _lib.NULL:
                found.append([None] * n)
            else:
                numbers = c.numbers()
                found.append([numbers[i] if c.is_there(i) else None for i in range(n)])
        return list(zip(*found))

    def _repr_html_(self):
        import html
        rows = ["".join("<td>%s</td>" % html.escape("" if v is None else str(v)) for v in row)
                for row in self._head(50)]
        head = "".join("<th>%s</th>" % html.escape(name) for name in self.names)
        note = "<p>%d rows</p>" % self._rows if self._rows > 50 else ""
        return "<table><tr>%s</tr>%s</table>%s" % (head, "".join("<tr>%s</tr>" % r for r in rows), note)
