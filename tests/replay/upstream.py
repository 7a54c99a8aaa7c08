#!/usr/bin/env python3
"""Generated workspaces against the headers of the runtime, as checkouts of its releases have them.

usage: STRATA_SIMPLER=DIR[:DIR...] upstream.py STRATA

Without STRATA_SIMPLER nothing is checked and the exit code is 77. Each checkout is tried for both chips: a probe that uses
every name of names.txt, the host program, and kernels of that checkout behind the generated entry, with strata's headers
for the instructions. CANN is not needed: its headers are those of stubs/.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import foreign

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLES = ROOT / "examples" / "replay"
STUBS = HERE / "stubs"
RUNTIME = "tensormap_and_ringbuffer"
problems = []
counts = {"probes": 0, "hosts": 0, "kernels": 0}


def run(*args):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False)


def expect(condition, text):
    if not condition:
        problems.append(text)


def folders(checkout, chip):
    """The include folders of data/replay/CMakeLists.txt.in that lie in the checkout."""
    text = (ROOT / "data/replay/CMakeLists.txt.in").read_text(encoding="utf-8")
    words = text[text.index("set(include_dirs"):].split(")")[0].split()
    for word in words:
        if word.startswith("${REPO_ROOT}"):
            yield word.replace("${REPO_ROOT}", str(checkout)).replace("@family@", chip).replace("@runtime@", RUNTIME)


def includes(checkout, chip, first):
    """`first` hides what the checkout has under the same names."""
    words = []
    for folder in [first, *folders(checkout, chip)]:
        words += ["-I", folder]
    return words


def compiles(what, *words):
    done = run("g++", "-std=c++17", "-w", "-fsyntax-only", "-include", "stdint.h", "-include", "stddef.h", *words)
    expect(done.returncode == 0, "%s does not compile:\n%s" % (what, done.stderr[:3000]))


def probe(checkout, chip, acl, tmp):
    lines = foreign.listed()
    text = "".join("#include \"%s\"\n" % header for header in sorted({words[1] for words in lines if len(words) > 2}))
    for number, words in enumerate(words for words in lines if len(words) > 2):
        text += "using probe_%d = decltype(%s); // %s\n" % (number, words[2], words[0])
    (tmp / "probe.cpp").write_text(text, encoding="utf-8")
    compiles("%s %s: the probe of names" % (checkout, chip), *includes(checkout, chip, acl), tmp / "probe.cpp")
    counts["probes"] += 1


def workspaces(strata, tmp):
    """(chip, what, side, folder) of workspaces that need different parts of the templates."""
    folder = tmp / "spmd_multiblock_mix"
    folder.mkdir()
    (folder / "kernel_spmd_mix.cpp").write_text(
        "#include <stdint.h>\nvoid kernel_entry(int64_t *args) { (void)args[0]; (void)args[1]; (void)args[48]; }\n",
        encoding="utf-8")
    (folder / "scene.json").write_text('{"case": {"name": "C", "platforms": ["a5"]}, "incores": '
                                       '[{"func_id": 0, "source": "kernel_spmd_mix.cpp"}]}', encoding="utf-8")
    attention = EXAMPLES / "paged_attention/test_scene.py"
    wanted = [("a2a3", "SF", attention, "CaseSmall1", "--kernel", "SF"),
              ("a2a3", "QK", attention, "CaseSmall1", "--kernel", "QK"),
              ("a2a3", "mix", attention, "Case1", "--kernel-source", "paged_attention_parallel.cpp"),
              ("a5", "mix", folder / "scene.json", "C", "--func-id", "0")]
    for number, (chip, what, scene, case, *choice) in enumerate(wanted):
        ws = tmp / ("ws%d" % number)
        done = run(strata, "incore", "replay", scene, "--case", case, *choice, "--platform", chip, "--dry-run", "-o", ws)
        if done.returncode != 0 and "Unknown case" in done.stderr:
            continue
        expect(done.returncode == 0, "%s %s: %s" % (chip, what, done.stderr))
        yield chip, what, ws


def kernels(checkout, chip):
    """Kernels of the checkout's own scenes, one of each core type."""
    for side, macro in (("aiv", "__DAV_VEC__"), ("aic", "__DAV_CUBE__")):
        for path in sorted(checkout.glob("*/**/%s/%s/**/kernels/%s/*.cpp" % (chip, RUNTIME, side)))[:3]:
            yield side, macro, path


def entry_of(chip, path):
    """The generated wrapper with another kernel in it."""
    template = (ROOT / "data/replay/replay_kernel.cpp.in").read_text(encoding="utf-8")
    values = {"@guard@": "1", "@chip@": "220" if chip == "a2a3" else "310", "@scope@": "" if chip == "a2a3" else "::",
              "@macro@": "PTO_NPU_ARCH_A2A3" if chip == "a2a3" else "PTO_NPU_ARCH_A5", "@path@": str(path),
              "@shape@": "one"}
    text, taken = "", []  # of each open @if: is this part taken?
    for line in template.splitlines():
        if line.startswith("@if "):
            taken.append(line == "@if together")
        elif line == "@else":
            taken[-1] = not taken[-1]
        elif line == "@end":
            taken.pop()
        elif all(taken):
            text += line + "\n"
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def try_checkout(strata, checkout, tmp):
    acl, device = tmp / "acl-only", tmp / "device"
    for folder in (acl, device):
        folder.mkdir(exist_ok=True)
    for name, to in (("acl", acl), ("acl", device)):
        if not (to / name).exists():
            (to / name).symlink_to(STUBS / name)
    (device / "cce_aicore_intrinsics.h").write_text("#include <pto/pto-inst.hpp>\n", encoding="utf-8")
    chips = [chip for chip in ("a2a3", "a5") if (checkout / "src" / chip / "runtime" / RUNTIME).is_dir()]
    expect(chips, "%s: no runtime %s" % (checkout, RUNTIME))
    made = list(workspaces(strata, pathlib.Path(tempfile.mkdtemp(dir=tmp))))
    for chip in chips:
        probe(checkout, chip, acl, tmp)
        for of, what, ws in made:
            if of == chip:
                compiles("%s %s %s: replay_host.cpp" % (checkout, chip, what), *includes(checkout, chip, acl),
                         ws / "replay_host.cpp")
                counts["hosts"] += 1
        for _, macro, path in kernels(checkout, chip):
            source = tmp / "entry.cpp"
            source.write_text(entry_of(chip, path), encoding="utf-8")
            # The checkout's descriptors and contexts, strata's instructions.
            own = [*includes(checkout, chip, device), "-idirafter", ROOT / "data/pto-host"]
            compiles("%s %s" % (chip, path), "-D" + macro, "-D__NPU_ARCH__=" + ("2201" if chip == "a2a3" else "3510"),
                     "-D__aicore__=", "-D__gm__=", *own, source)
            counts["kernels"] += 1


def main():
    strata = pathlib.Path(sys.argv[1]).resolve()
    checkouts = [pathlib.Path(p).resolve() for p in os.environ.get("STRATA_SIMPLER", "").split(":") if p]
    if not checkouts:
        print("STRATA_SIMPLER is not set: no checkout of the runtime")
        sys.exit(77)
    for checkout in checkouts:
        with tempfile.TemporaryDirectory() as folder:
            try_checkout(strata, checkout, pathlib.Path(folder))
    print("\n".join(problems))
    print("%d checkouts: %d probes, %d host programs, %d kernels; %d problems"
          % (len(checkouts), counts["probes"], counts["hosts"], counts["kernels"], len(problems)))
    sys.exit(1 if problems else 0)


main()
