"""What ``import lifagu`` shows: few names, each from its room, and old ones with a warning."""

import importlib

import pytest

import lifagu


def test_the_facade_is_small_and_complete():
    assert len(lifagu.__all__) <= 46
    assert {*dir(lifagu)} == {*lifagu.__all__, "__version__"}
    for name in lifagu.__all__:
        assert getattr(lifagu, name) is not None


@pytest.mark.parametrize("name", sorted(lifagu._MOVED_TO))
def test_names_that_moved_warn_and_still_work(name):
    room = lifagu._MOVED_TO[name]
    with pytest.warns(DeprecationWarning, match=f"lifagu.{name} is {room}.{name} now"):
        found = getattr(lifagu, name)
    assert found is getattr(importlib.import_module(room), name)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'querry'"):
        _ = lifagu.querry
