"""Answers as dataclasses, made from the record descriptions of the library."""
import json
import keyword
import warnings

from . import _lib

FRAME_HEIGHT = 620  # of a page in a notebook, in pixels
_classes = {}


class Result:
    """What a command answered. Fields are those of its JSON document; the text of a terminal is its repr."""

    def to_text(self):
        """The report as text."""
        return self._form(_lib.TEXT_FORM)

    def to_markdown(self):
        """The report as Markdown."""
        return self._form(_lib.MARKDOWN)

    def to_html(self):
        """A whole HTML page: the views of `strata report -o page.html`."""
        return self._form(_lib.HTML)

    def to_json(self):
        """The document of --json."""
        return self._question[2]

    def to_dict(self):
        """What stands under "result" in the document, as dicts and lists."""
        return self._question[3]

    def __getitem__(self, key):
        """result["rows"] as it was in 0.1, where some answers were plain dicts; use the attribute."""
        if not isinstance(key, str):
            raise TypeError("%s has fields, not items" % type(self).__name__)
        warnings.warn("result[%r]: use result.%s, or to_dict()" % (key, attribute(key)), DeprecationWarning, stacklevel=2)
        return self.to_dict()[key]

    def diagnostics(self):
        """What was met while reading and computing, as dicts with code, severity, text, path, line, count."""
        return self._question[4]

    def __copy__(self):
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo):
        import copy
        made = type(self).__new__(type(self))
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made

    def __reduce__(self):
        raise TypeError("%s cannot be pickled; to_dict() and to_json() can" % type(self).__name__)

    def _form(self, form):
        return _lib.ask(self._question[0], self._question[1], form).text()

    def __repr__(self):
        try:
            return self.to_text().rstrip("\n")
        except (AttributeError, ValueError, _lib.Error):  # a part of an answer, or its capture is closed
            return _fields_text(self)

    def _repr_html_(self):
        if not hasattr(self, "_question"):
            return None
        return frame(self.to_html())

    def _repr_markdown_(self):
        return self.to_markdown() if hasattr(self, "_question") else None


def _fields_text(record):
    shown = ("%s=%r" % (name, getattr(record, name)) for name in record.__dataclass_fields__)
    return "%s(%s)" % (type(record).__name__, ", ".join(shown))


def frame(page):
    """A page inside a notebook: it keeps its own styles and scripts, and nothing of the notebook."""
    escaped = page.replace("&", "&amp;").replace('"', "&quot;")
    return ('<iframe class="strata" sandbox="allow-scripts allow-downloads allow-popups" '
            'style="width:100%%;height:%dpx;border:0" srcdoc="%s"></iframe>' % (FRAME_HEIGHT, escaped))


def attribute(key):
    """A key as a name of Python."""
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in key)
    if not name or name[0].isdigit():
        name = "_" + name
    return name + "_" if keyword.iskeyword(name) or name.startswith("to_") else name


def _class_name(schema, path):
    words = schema.split("/")[0].split(".")[-1].replace("-", "_").split("_") + path.replace(".", "_").split("_")
    return "".join(w.capitalize() for w in words if w)


class _Maker:
    """Makes the objects of one kind of record."""

    def __init__(self, answer, schema, path):
        import dataclasses
        self.parts = []  # (key, attribute, shape, maker)
        members = []
        for key, kind, shape, unit, about in answer.fields(path):
            below = path + "." + key if path else key
            maker = None
            if kind == _lib.RECORD:
                maker = _maker(answer, schema, below)
            self.parts.append((key, attribute(key), shape, maker))
            members.append((attribute(key), "object", dataclasses.field(
                default=None, metadata={"key": key, "unit": unit, "about": about})))
        self.cls = None
        if members:
            self.cls = dataclasses.make_dataclass(_class_name(schema, path), members, bases=(Result,), repr=False)
            self.cls.__module__ = "strata"

    def make(self, value):
        if self.cls is None or not isinstance(value, dict):
            return value
        made = self.cls()
        for key, name, shape, maker in self.parts:
            if key in value:
                setattr(made, name, _shaped(value[key], shape, maker))
        return made


def _shaped(value, shape, maker):
    if maker is None or value is None:
        return value
    if shape == _lib.MANY and isinstance(value, list):
        return [maker.make(one) for one in value]
    if shape == _lib.MANY_BY_KEY and isinstance(value, dict):
        return {key: maker.make(one) for key, one in value.items()}
    return maker.make(value)


def _maker(answer, schema, path):
    found = _classes.get((schema, path))
    if found is None:
        found = _classes[schema, path] = _Maker(answer, schema, path)
    return found


class Plain(Result):
    """An answer whose document is a list, or not described: `value` holds it."""

    def __init__(self, value):
        self.value = value

    def __len__(self):
        return len(self.value)

    def __getitem__(self, key):
        return self.value[key]

    def __iter__(self):
        return iter(self.value)

    __dataclass_fields__ = {"value": None}


def ask(captures, words):
    """Asks a command for its document and gives the result as objects."""
    answer = _lib.ask(captures, words, _lib.JSON)
    text, schema = answer.text(), answer.schema()
    document = json.loads(text) if text.lstrip()[:1] in ("{", "[") else text.strip() or None  # --version is a text
    value = document
    if isinstance(document, dict) and "schema" in document and "result" in document:
        value = document["result"]
    maker = _maker(answer, schema, "") if schema else None
    if isinstance(value, list):
        made = Plain([maker.make(one) for one in value] if maker else value)
    else:
        made = maker.make(value) if maker else value
        made = made if isinstance(made, Result) else Plain(made)
    made._question = (captures, words, text, value, _lib.diagnostics_of(answer.handle))
    return made
