from os import PathLike
from typing import Any, List, Union

from . import Result

Path = Union[str, "PathLike[str]"]
__all__: List[str]

def load(run: Path, **options: Any) -> Result: ...
def run(*command: str, **options: Any) -> Result: ...
def compare(a: Path, b: Path, **options: Any) -> Result: ...
