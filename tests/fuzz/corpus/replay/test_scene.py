"""A scene as tests of simpler write it, cut down to what strata reads: literals, never run."""
from simpler.task_interface import ArgDirection as D

from simpler_setup import SceneTestCase, scene_test

BLOCK = 16


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestPagedAttention(SceneTestCase):
    CALLABLE = {
        "orchestration": {
            "source": "kernels/orchestration/paged_attention.cpp",
            "function_name": "build_graph",
            "signature": [D.IN, D.IN, D.IN, D.IN, D.IN, D.OUT],
        },
        "incores": [
            {"func_id": 0, "name": "QK", "source": "kernels/aic/qk_matmul.cpp", "core_type": "aic",
             "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "name": "SF", "source": "kernels/aiv/softmax.cpp", "core_type": "aiv",
             "signature": [D.IN, D.OUT, D.OUT, D.OUT]},
            {"func_id": 4, "name": "PA", "source": "kernels/mix/paged_attention_parallel.cpp"},
        ],
    }
    CASES = [
        {
            "name": "CaseSmall1",
            "platforms": ["a2a3sim", "a2a3"],
            "config": {"aicpu_thread_num": 4, "block_dim": 24},
            "params": {
                "batch": 1, "num_heads": 16, "kv_head_num": 1, "head_dim": 16,
                "block_size": BLOCK, "context_len": 33, "max_model_len": 256,
                "dtype": "bfloat16",
            },
        },
        {
            "name": "Case1",
            "platforms": ["a2a3"],
            "manual": True,
            "params": {
                "batch": 256, "num_heads": 16, "kv_head_num": 1, "head_dim": 128,
                "block_size": 128, "context_len": 8_192, "max_model_len": 32768,
            },
        },
    ]

    def generate_args(self, params):
        return make_args(params, scale=1.0)
