@s(level=2,
class A:
 X = {"a": [f(x), -0x1_0, (1,), r"\", b"", """
""", lambda q: {q: 1}] for x in ]}
 Y = X
