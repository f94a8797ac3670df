"""The compiled kernel; all else is in pyproject.toml. Without a compiler nothing is built."""

import os
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

SOURCES = sorted(path.as_posix() for path in Path("kernel").glob("*.?pp"))
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one build for all Pythons from 3.11 on

setup(
    ext_modules=[
        Extension(
            "lifagu._kernel",
            sources=[path for path in SOURCES if path.endswith(".cpp")],
            depends=[path for path in SOURCES if path.endswith(".hpp")],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
            py_limited_api=STABLE,
            extra_compile_args=["/O2", "/std:c++17"]
            if os.name == "nt"
            else ["-O3", "-std=c++17", "-g0"],
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
