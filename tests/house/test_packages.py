"""What lifagu stands on: bounds, the lock file; and how its kernel was linked."""

import re
import struct
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as normal

from lifagu.basics.kernel import has_kernel, loaded
from support.helpers import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = {"": PROJECT["project"]["dependencies"], **PROJECT["project"]["optional-dependencies"]}


def requirements(*left_out):
    """By their texts, without lifagu's own extras."""
    groups = (group for name, group in GROUPS.items() if name not in left_out)
    return {
        each: Requirement(each)
        for group in groups
        for each in group
        if not each.startswith("lifagu[")
    }


REQUIREMENTS = requirements()
TESTED = requirements("bench")  # the peers are in an environment of their own
LOCK = (ROOT / "tools/locked.txt").read_text()


# ---- bounds


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_requirements_end_before_the_next_major_version(text):
    signs = {each.operator: each.version for each in REQUIREMENTS[text].specifier}
    assert {*signs} == {">=", "<"}
    assert re.fullmatch(r"[1-9]\d*", signs["<"])


@pytest.mark.parametrize("text", TESTED)
def test_what_is_installed_is_admitted(text):
    assert version(TESTED[text].name) in TESTED[text].specifier


def test_one_package_has_the_same_bounds_everywhere():
    bounds = {(each.name, str(each.specifier)) for each in REQUIREMENTS.values()}
    assert len(bounds) == len({name for name, _ in bounds})


# ---- the lock file


def locked():
    """Version by name, once for each version; every one of them with hashes."""
    for entry in re.split(r"\n(?=[a-z])", re.sub(r"(?m)^ *#.*\n", "", LOCK).strip()):
        pinned, *hashes = entry.replace("\\\n", "\n").splitlines()
        name, _, number = pinned.partition(";")[0].strip().partition("==")
        assert hashes
        assert all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64} *", each) for each in hashes)
        yield name, number


def test_the_lock_file_fits_what_is_asked_for():
    found = {}
    for name, number in locked():
        found.setdefault(name, []).append(number)
    build = PROJECT["dependency-groups"]["build"]
    assert build == PROJECT["build-system"]["requires"]
    for asked in [*TESTED.values(), *map(Requirement, build)]:
        assert all(number in asked.specifier for number in found[normal(asked.name)]), asked


def test_the_lock_file_does_not_say_where_packages_come_from():
    assert not re.search(r"://|^-|\bfile:|@ |[\w.]+/[\w.]", LOCK, re.MULTILINE)


# ---- the kernel


def loaded_segments(data):
    """(type, bytes) of every segment of an ELF file of 64 bits, little end first."""
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, start + number * size)
        yield kind, data[offset : offset + length]


def test_the_kernel_is_hardened():
    """Its stack is guarded, and what the linker filled in cannot be written any more."""
    if not has_kernel() or not sys.platform.startswith("linux") or sys.maxsize < 2**32:
        pytest.skip("no compiled kernel for 64-bit Linux")
    data = Path(loaded().__file__).read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01"
    segments = dict(loaded_segments(data))
    relro, dynamic = 0x6474E552, 2
    assert relro in segments
    flags = dict(struct.iter_unpack("<QQ", segments[dynamic]))
    assert flags.get(30, 0) & 8 or flags.get(0x6FFFFFFB, 0) & 1  # all is bound when it is loaded
    assert b"\0__stack_chk_fail\0" in data
