"""However a command fails, it tells why, ends with 1, and repeats no credential."""

import pytest

from pixivflow.cli import main as cli

PLANTED = "Planted-s3cret_0123"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("download", "--url", f"https://www.pixiv.net/?code={PLANTED}"), "unsupported_url"),
        (("download", "--url", "1", f"https://www.pixiv.net/?code={PLANTED}"), "unexpected extra argument"),
        (("status", "--word", PLANTED), "KeyError: 'https://redacted@host/?…'"),
    ],
    ids=["an address that cannot be", "an argument too many", "a bug"],
)
def test_an_error_is_told_without_a_credential(
    arguments: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "status", ("tests.commands.failing", ""))
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (1, "")
    assert words in told.err
    assert PLANTED not in told.err
