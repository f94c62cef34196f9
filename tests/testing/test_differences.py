import pytest

from claude_wrapper.testing.differences import differences


def found(recorded, sent, *ignore):
    return list(differences(recorded, sent, ignore))


@pytest.mark.parametrize(
    "value", [1, "text", None, True, [1, {"a": "b"}], {"a": {"b": [None, 2.5]}}, {"empty": {}}]
)
def test_a_value_is_not_different_from_itself(value):
    assert found(value, value) == []


def test_a_difference_is_told_with_its_place_and_both_values():
    assert found({"a": [{"b": 1}]}, {"a": [{"b": 2}]}) == ["a[0].b: recorded 1, sent 2"]
    assert found({"a": "x"}, {"a": ["x"]}) == ['a: recorded "x", sent ["x"]']


def test_every_difference_is_told():
    assert len(found({"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 2, "d": 3})) == 3


def test_what_is_missing_and_what_is_new_are_told_apart():
    assert found({"a": 1}, {}) == ["a: recorded 1, sent nothing"]
    assert found({}, {"a": 1}) == ["a: recorded nothing, sent 1"]
    assert found([1], [1, 2]) == [": recorded [1], sent [1,2]"]


def test_null_is_as_good_as_nothing():
    assert found({"a": None}, {}) == found({}, {"a": None}) == []


def test_true_is_not_one():
    assert found({"a": True}, {"a": 1}) == ["a: recorded true, sent 1"]


def test_long_texts_are_shown_where_they_differ():
    long = "x" * 500
    (told,) = found({"t": long + "left" + long}, {"t": long + "right" + long})
    assert "left" in told
    assert "right" in told
    assert len(told) < 200
    assert "…" in told


def test_a_text_that_goes_on_is_shown_from_where_the_other_ends():
    assert found("Go", "Go on") == [': recorded "Go", sent "Go on"']


@pytest.mark.parametrize("ignore", ["b", "a[0].b"])
def test_what_is_ignored_may_differ(ignore):
    assert found({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ignore) == []
    assert found({"a": [{"c": 1}]}, {"a": [{"c": 2}]}, ignore) != []


def test_a_masked_secret_stands_for_any_text_and_what_is_around_it_counts():
    assert found("key=***, go", "key=sk-1\n2, go") == []
    assert found("key=***, go", "key=sk-12, stay") != []
    assert found("a.c", "abc") != []
