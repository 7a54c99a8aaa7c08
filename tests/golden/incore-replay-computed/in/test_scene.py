@scene_test(level=2, runtime="r")
class TestScene:
    CALLABLE = {"incores": [{"func_id": 0, "source": find_kernel("k.cpp")}]}
    CASES = [{"name": "A"}]
