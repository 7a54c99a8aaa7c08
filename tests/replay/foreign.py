"""Names of others in generated files: stubs/ declares what compiles without them, names.txt lists it."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
STUBS = HERE / "stubs"
TEMPLATES = HERE.parent.parent / "data" / "replay"

# What the stand-ins hold besides: C++ itself, and names of parameters and members.
OWN = set("alignas bool buffer case char class const data default define else endif enum extern false file for free from "
          "getenv i if ifdef ifndef inline int int32_t int64_t malloc memcpy memset namespace nullptr once path pragma n "
          "return room shape size size_t sizeof static static_cast reinterpret_cast std string struct t to true type "
          "typedef uint16_t uint32_t uint64_t uint8_t uintptr_t undef using v version void p s fread fopen fclose FILE "
          "bits stdint half bfloat16_t".split())


def words_of(text):
    """Identifiers of C++ text, without comments, strings and includes."""
    text = re.sub(r'//.*|/\*(?s:.*?)\*/|"(?:[^"\\\n]|\\.)*"|^\s*#\s*include.*', " ", text, flags=re.M)
    return set(re.findall(r"[A-Za-z_]\w*", text))


def listed():
    """Rows of names.txt."""
    lines = (HERE / "names.txt").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def declared():
    found = set()
    for header in sorted([*STUBS.rglob("*.h"), *STUBS.rglob("*.hpp")]):
        found |= words_of(header.read_text(encoding="utf-8"))
    return found - OWN


def problems_of(generated):
    """Foreign names in the text of generated files that are not listed. They compile with stubs/ alone, so
    whatever they use is declared there."""
    missing = (declared() & words_of(generated)) - {row[0] for row in listed()}
    return ["names.txt lacks %s" % sorted(missing)] if missing else []


def problems_of_list():
    """Listed names that no template uses."""
    used = {"aclFloat16"} # what parameters of the type half become
    for template in TEMPLATES.glob("*.cpp.in"):
        used |= words_of(template.read_text(encoding="utf-8"))
    kinds = {row[0] for row in listed() if len(row) > 2 and row[2] == "DataType::" + row[0]}
    unused = {row[0] for row in listed()} - used - kinds
    return ["names.txt: nothing uses %s" % sorted(unused)] if unused else []
