"""Builds the wheel for pip (PEP 517): program, C library and Python module, with the standard library alone.

    wheel.py BUILD-DIR OUT-DIR    as `make wheel`; `pip install .` calls build_wheel()

What tools/portable makes of a build goes below the prefix of the environment: bin/strata, lib with the libraries it
needs, share. The build is STRATA_BUILD; else build/release, which is built when it is not there.
"""
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
VERSION = (ROOT / "VERSION").read_text().split()[0]
SONAME = "libstrata.so.0"
NAME = "strata-%s" % VERSION
EXTRAS = {"numpy": ["numpy"], "pandas": ["pandas", "numpy"], "arrow": ["pyarrow"]}


def _build():
    """The folder of a complete build."""
    folder = pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build/release"))
    if not (folder / SONAME).exists() or not (folder / "strata").exists():
        subprocess.run(["cmake", "--preset", "release", "-B", str(folder)], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", str(folder)], cwd=ROOT, check=True)
    return folder


def _metadata():
    lines = ["Metadata-Version: 2.1", "Name: strata", "Version: " + VERSION,
             "Summary: show where accelerator time goes, and why", "Requires-Python: >=3.8"]
    for extra, packages in EXTRAS.items():
        lines.append("Provides-Extra: " + extra)
        lines += ['Requires-Dist: %s; extra == "%s"' % (package, extra) for package in packages]
    return "\n".join(lines) + "\n"


def _tag(glibc):
    return "py3-none-manylinux_%s_%s" % (glibc.replace(".", "_"), os.uname().machine)


def _installed(folder):
    """(name in the wheel, file) of what lies below the prefix; a wheel has no links."""
    data = NAME + ".data/data/"
    yield NAME + ".data/scripts/strata", folder / "bin/strata"
    yield data + "lib/" + SONAME, folder / "lib" / SONAME
    for part in ("lib/strata", "include", "share"):
        for path in sorted((folder / part).rglob("*")):
            if path.is_file():
                yield data + path.relative_to(folder).as_posix(), path


def _files(folder, tag):
    for path in sorted((ROOT / "python/strata").iterdir()):
        if path.suffix in (".py", ".pyi", ".typed"):
            yield "strata/" + path.name, path.read_bytes(), 0o644
    for name, path in _installed(folder):
        yield name, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644
    wheel = "Wheel-Version: 1.0\nGenerator: strata\nRoot-Is-Purelib: false\nTag: %s\n" % tag
    yield NAME + ".dist-info/METADATA", _metadata().encode(), 0o644
    yield NAME + ".dist-info/WHEEL", wheel.encode(), 0o644


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel; its name."""
    with tempfile.TemporaryDirectory() as folder:
        glibc = subprocess.run([str(ROOT / "tools/portable"), str(_build()), folder], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.strip()
        return _write(wheel_directory, pathlib.Path(folder), _tag(glibc))


def _write(wheel_directory, folder, tag):
    name = "%s-%s.whl" % (NAME, tag)
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as out:
        def put(path, data, mode):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            out.writestr(entry, data)

        for path, data, mode in _files(folder, tag):
            put(path, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d" % (path, digest, len(data)))
        record.append(NAME + ".dist-info/RECORD,,")
        put(NAME + ".dist-info/RECORD", ("\n".join(record) + "\n").encode(), 0o644)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Not offered: the tree itself is the source."""
    raise NotImplementedError("install from the tree: pip install .")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    os.environ["STRATA_BUILD"] = sys.argv[1]
    os.makedirs(sys.argv[2], exist_ok=True)
    print(os.path.join(sys.argv[2], build_wheel(sys.argv[2])))
