"""Builds the wheel of the Python module for pip (PEP 517), with the standard library alone.

The C library is taken from STRATA_BUILD, a build folder; else from build/release, which is built when it is not there.
"""
import base64
import hashlib
import os
import pathlib
import subprocess
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
VERSION = (ROOT / "VERSION").read_text().split()[0]
LIBRARIES = ("libstrata.so.0", "libstrata-inject.so")
NAME = "strata-%s" % VERSION


def _build():
    """The folder with the libraries."""
    folder = pathlib.Path(os.environ.get("STRATA_BUILD", ROOT / "build/release"))
    if not all((folder / name).exists() for name in LIBRARIES):
        subprocess.run(["cmake", "--preset", "release", "-B", str(folder)], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", str(folder), "--target", "strata_shared", "inject"], cwd=ROOT, check=True)
    return folder


def _metadata():
    return ("Metadata-Version: 2.1\nName: strata\nVersion: %s\nSummary: shows where accelerator time goes, and why\n"
            "Requires-Python: >=3.8\nProvides-Extra: numpy\nProvides-Extra: pandas\nProvides-Extra: arrow\n" % VERSION)


def _tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _files(with_libraries):
    for path in sorted((ROOT / "python/strata").iterdir()):
        if path.suffix in (".py", ".pyi", ".typed"):
            yield "strata/" + path.name, path.read_bytes(), 0o644
    if with_libraries:
        folder = _build()
        for name in LIBRARIES:
            yield "strata/" + name, (folder / name).read_bytes(), 0o755
    wheel = "Wheel-Version: 1.0\nGenerator: strata\nRoot-Is-Purelib: false\nTag: %s\n" % _tag()
    yield NAME + ".dist-info/METADATA", _metadata().encode(), 0o644
    yield NAME + ".dist-info/WHEEL", wheel.encode(), 0o644


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel; its name."""
    name = "%s-%s.whl" % (NAME, _tag())
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as out:
        def put(path, data, mode):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            out.writestr(entry, data)

        for path, data, mode in _files(True):
            put(path, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d" % (path, digest, len(data)))
        record.append(NAME + ".dist-info/RECORD,,")
        put(NAME + ".dist-info/RECORD", ("\n".join(record) + "\n").encode(), 0o644)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Not offered: the tree itself is the source."""
    raise NotImplementedError("install from the tree: pip install .")
