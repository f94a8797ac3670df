"""The compiled kernel; all else is in pyproject.toml. Without a compiler nothing is built."""

import os
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

SOURCES = sorted(path.as_posix() for path in Path("kernel").glob("*.?pp"))
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one build for all Pythons from 3.11 on

if os.name == "nt":
    COMPILE, LINK = ["/O2", "/std:c++17"], []
    HARDENED_COMPILE, HARDENED_LINK = ["/GS", "/guard:cf"], ["/guard:cf"]
else:
    COMPILE, LINK = ["-O3", "-std=c++17", "-g0"], []
    # where 3 is not known, the headers of the C library take it for 2
    HARDENED_COMPILE = ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"]
    HARDENED_LINK = [] if sys.platform == "darwin" else ["-Wl,-z,relro,-z,now"]


class BuildHardened(build_ext):
    """Mistakes in the kernel end the process before they can be made use of; a compiler that does
    not know how builds it without.
    """

    def build_extension(self, ext: Extension) -> None:
        """One extension, hardened if possible."""
        try:
            super().build_extension(ext)
        except (CompileError, LinkError) as refused:
            self.warn(f"built without hardening: {refused}")
            ext.extra_compile_args, ext.extra_link_args = COMPILE, LINK
            super().build_extension(ext)


setup(
    ext_modules=[
        Extension(
            "lifagu._kernel",
            sources=[path for path in SOURCES if path.endswith(".cpp")],
            depends=[path for path in SOURCES if path.endswith(".hpp")],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
            py_limited_api=STABLE,
            extra_compile_args=COMPILE + HARDENED_COMPILE,
            extra_link_args=LINK + HARDENED_LINK,
            optional=True,
        )
    ],
    cmdclass={"build_ext": BuildHardened},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
