"""A stand-in for the generator of PTOAS: leaves a case as it would."""
import os
import pathlib
import sys

args = dict(zip(sys.argv[1::2], sys.argv[2::2]))
mode = os.environ.get("FAKE_MODE", "")
if mode == "no-generate" or args["--run-mode"] != "sim":
    sys.exit("generator failed")
case = pathlib.Path(args["--output-root"]) / pathlib.Path(args["--input"]).parent.name / args["--testcase"]
case.mkdir(parents=True)
(case / "main.cpp").write_text('ReadFile("./x.bin", 4, p); ReadFile("./out.bin", 4, p);\n')
if mode != "no-golden":
    (case / "golden.py").write_text("import sys\nopen('x.bin', 'wb').write(b'data')\n"
                                    + ("sys.exit(3)\n" if mode == "bad-golden" else ""))
