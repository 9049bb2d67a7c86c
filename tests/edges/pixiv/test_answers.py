"""What is told of an answer, whatever it says."""

import json

import pytest

from pixivflow.pixiv.answers import Broken, Down, Meaning, Missing, Refused, Reply, meaning

TOKEN = "the-access-token/of-this-account"


@pytest.mark.parametrize(
    ("status", "kind"), [(404, Missing), (400, Refused), (503, Down), (500, Broken)], ids=lambda each: str(each)
)
@pytest.mark.parametrize("where", [0, 105], ids=["whole", "cut"])
def test_no_answer_makes_an_error_repeat_the_token_that_was_sent(status: int, kind: type[Meaning], where: int) -> None:
    for spelt in (TOKEN, TOKEN.replace("/", "%2F")):
        body = json.dumps({"error": {"message": "x" * where + f" who is {spelt}?"}}).encode()
        found = meaning(Reply(status=status, body=body), 0, TOKEN)
        assert isinstance(found, Missing | Refused | Down | Broken)
        assert type(found) is kind
        assert "the-" not in found.text


def test_half_an_address_at_the_end_of_an_error_is_left_out() -> None:
    body = json.dumps({"error": {"message": "x" * 105 + " https://me:another-word@host/"}}).encode()
    found = meaning(Reply(status=500, body=body), 0)
    assert isinstance(found, Broken)
    assert "me:" not in found.text
