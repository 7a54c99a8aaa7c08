"""y = 0.5 x + y, a block of rows at a time: what the orchestration submits has the arguments of each kernel."""
import torch
from simpler.task_interface import ArgDirection as D

from simpler_setup import SceneTestCase, TaskArgsBuilder, TensorArg, scene_test


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestChain(SceneTestCase):
    CALLABLE = {
        "orchestration": {
            "source": "kernels/chain.cpp",
            "function_name": "aicpu_orchestration_entry",
            "signature": [D.IN, D.INOUT],
        },
        "incores": [
            {"func_id": 0, "name": "scale", "source": "kernels/scale.cpp", "core_type": "aiv"},
            {"func_id": 1, "name": "add", "source": "kernels/add.cpp", "core_type": "aiv"},
        ],
    }
    CASES = [
        {"name": "Small", "platforms": ["a2a3", "a5"], "params": {"blocks": 4}},
        {"name": "Large", "platforms": ["a2a3"], "params": {"blocks": 64}},
    ]

    def generate_args(self, params):
        rows = 64 * params["blocks"]
        return TaskArgsBuilder(
            TensorArg("x", torch.full((rows, 64), 3.0, dtype=torch.float32)),
            TensorArg("y", torch.zeros(rows, 64, dtype=torch.float32)),
        )

    def compute_golden(self, args, params):
        args.y[:] = 0.5 * args.x + args.y
