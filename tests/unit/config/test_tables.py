"""The tables of the validator and the structs of the snapshot know the same keys, so what is valid decodes."""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, get_args

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from pixivflow.config.load.resolve import resolved
from pixivflow.config.model import Settings
from pixivflow.config.validate import validate
from pixivflow.config.validate.keys.document import DOCUMENT
from pixivflow.config.validate.shape import Group, Leaf, Listed, Named, Node, Variants

WITHOUT_EFFECT = {"maxAttempts", "retryDelayMs", "success"}
"""Keys that are accepted because old files hold them."""

DERIVED = {"_generation", "_manualToken"}
"""Fields that no file can set."""


def struct_of(annotation: object) -> Iterator[type[msgspec.Struct]]:
    """The structs that a field's type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
    for part in get_args(annotation):
        yield from struct_of(part)


def differences(node: Node, structs: list[type[msgspec.Struct]], at: str) -> Iterator[str]:
    match node:
        case Group(keys):
            (struct,) = structs
            fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
            for name in set(keys) ^ set(fields) - DERIVED:
                if name not in WITHOUT_EFFECT:
                    yield f"{at}.{name}"
            for name in set(keys) & set(fields):
                yield from differences(keys[name], list(struct_of(fields[name].type)), f"{at}.{name}")
        case Listed(each) | Named(each):
            yield from differences(each, structs, at)
        case Variants(_, shapes):
            tagged = {struct.__struct_config__.tag: struct for struct in structs}
            assert set(tagged) == set(shapes)
            for tag, shape in shapes.items():
                yield from differences(shape, [tagged[tag]], f"{at}<{tag}>")
        case Leaf():
            if structs:
                yield f"{at} is no single value"


def test_every_key_of_the_tables_is_a_field_and_the_other_way_round() -> None:
    known = Group({**DOCUMENT.keys})
    assert list(differences(known, [Settings], "")) == [".scheduler"]  # which becomes the plan `default`


def likely(node: Node) -> st.SearchStrategy[Any]:
    """Documents of about the right shape, with values that are often right."""
    match node:
        case Leaf():
            return LEAVES
        case Group(keys):
            return st.fixed_dictionaries({}, optional={name: likely(each) for name, each in keys.items()}) | JUNK
        case Listed(each):
            return st.lists(likely(each), max_size=2) | JUNK
        case Named(each):
            return st.dictionaries(st.sampled_from(["default", "r", "X-Token"]), likely(each), max_size=2) | JUNK
        case Variants(key, shapes):
            return st.one_of([likely(shape).map(partial(_tagged, key, tag)) for tag, shape in shapes.items()])


def _tagged(key: str, tag: str, each: object) -> object:
    return {**each, key: tag, "url": "http://x"} if isinstance(each, dict) else each


WORDS = ["sky", "0 3 * * *", "Asia/Tokyo", "TODAY", "2025-01-01", "http://h:1", "${A}", "12:" + "x" * 20, "5", ""]
CHOICES = ["illustration", "novel", "search", "topic", "info", "cache", "external", "skip", "error", "socks5", "all"]
LEAVES = st.one_of(
    st.booleans(),
    st.integers(-1, 100),
    st.sampled_from([100_000, 1.5, 2**70, float("nan"), None]),
    st.sampled_from([*WORDS, *CHOICES]),
    st.lists(st.sampled_from(["sky", "seed", ""]), max_size=2),
)
JUNK: st.SearchStrategy[Any] = st.sampled_from([None, 5, "x", []])


STEP = re.compile(r'\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.\[\]]+)')


def mended(document: object) -> dict[str, Any]:
    """The document without whatever an error names, until there is none: what somebody does who deletes and retries."""
    whole = {"targets": [], **document} if isinstance(document, dict) else {"targets": []}
    while errors := validate(whole).report.errors:
        drop(whole, [json.loads(n or quoted or json.dumps(key)) for n, quoted, key in STEP.findall(errors[0].field)])
        whole.setdefault("targets", [])
    return whole


def drop(whole: Any, steps: list[Any]) -> None:
    """Delete what the steps lead to; where it is not there, what should have held it."""
    *above, last = steps
    holder = whole
    for step in above:
        holder = holder[step]
    if isinstance(holder, dict) and last not in holder:
        drop(whole, above)
    else:
        del holder[last]


@settings(max_examples=100, deadline=None)
@given(likely(DOCUMENT))
def test_every_error_names_something_that_can_be_mended_and_then_the_document_decodes(document: object) -> None:
    whole = mended(document)
    decoded = resolved(validate(whole).used, generation=3, manual_token="")
    assert (decoded.generation, len(decoded.targets)) == (3, len(whole["targets"]))
