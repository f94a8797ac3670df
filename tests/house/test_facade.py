"""What ``import lifagu`` shows: few names."""

import pytest

import lifagu


def test_the_facade_is_small_and_complete():
    assert len(lifagu.__all__) <= 46
    assert {*dir(lifagu)} == {*lifagu.__all__, "__version__"}
    for name in lifagu.__all__:
        assert getattr(lifagu, name) is not None


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'querry'"):
        _ = lifagu.querry
