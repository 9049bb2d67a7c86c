"""Which addresses name one illustration, and that nothing else does."""

import pytest

from pixivflow.errors import ConfigError
from pixivflow.pixiv.links import illustration

WORK = 12345678
P0 = "https://i.pximg.net/img-original/img/2024/01/02/03/04/05/12345678_p0.png"


@pytest.mark.parametrize(
    "text",
    [
        "12345678",
        " 12345678\n",
        "https://www.pixiv.net/artworks/12345678",
        "http://pixiv.net/artworks/12345678/",
        "www.pixiv.net/artworks/12345678#big",
        "HTTPS://WWW.PIXIV.NET/artworks/12345678",
        "https://touch.pixiv.net/artworks/12345678?from=mail",
        "https://www.pixiv.net/en/artworks/12345678",
        "https://www.pixiv.net:443/zh/artworks/12345678",
        "https://www.pixiv.net/i/12345678",
        "https://www.pixiv.net/users/11/artworks/12345678",
        "https://www.pixiv.net/member_illust.php?mode=medium&illust_id=12345678#x",
        "https://www.pixiv.net/member_illust.php?illust_id=12345678&mode=medium",
        P0,
        "https://i.pximg.net/c/250x250_80_a2/img-master/img/2024/01/02/03/04/05/12345678_p3_square1200.jpg",
    ],
)
def test_every_way_in_which_people_paste_an_illustration_names_it(text: str) -> None:
    assert illustration(text) == WORK


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("https://evilpixiv.net/artworks/1", id="a host that ends like Pixiv's"),
        pytest.param("https://www.pixiv.net.evil.example/artworks/1", id="a host that begins like Pixiv's"),
        pytest.param("https://www.pixiv.net@evil.example/artworks/1", id="Pixiv as a user name"),
        pytest.param("https://example.com/?u=https://www.pixiv.net/artworks/1", id="Pixiv in a query"),
        pytest.param("https://example.com/artworks/1#www.pixiv.net", id="Pixiv in a fragment"),
        pytest.param("ftp://www.pixiv.net/artworks/1", id="another scheme"),
        pytest.param("javascript://www.pixiv.net/artworks/1", id="a script"),
        pytest.param("https://[www.pixiv.net/artworks/1", id="a broken host"),
        pytest.param("https://www.pixiv.net/artworks/0", id="zero"),
        pytest.param("https://www.pixiv.net/artworks/012", id="a leading zero"),
        pytest.param("https://www.pixiv.net/artworks/12abc", id="letters in the number"),
        pytest.param("https://www.pixiv.net/artworks/" + "1" * 30, id="thirty digits"),
        pytest.param("https://www.pixiv.net/artworks/١٢٣", id="digits of another script"),
        pytest.param("https://www.pixiv.net/artworks/1/2", id="more than the number"),
        pytest.param("https://www.pixiv.net/eng/artworks/1", id="a language of three letters"),
        pytest.param("https://www.pixiv.net/artworks/unlisted/abcDEF123", id="an unlisted work"),
        pytest.param("https://www.pixiv.net/member_illust.php?mode=medium", id="a page without its number"),
        pytest.param("https://www.pixiv.net/member_illust.php?illust_id=0", id="a page with zero"),
        pytest.param("https://www.pixiv.net/tags/x/artworks", id="a tag"),
        pytest.param("https://www.pixiv.net/ranking.php", id="a ranking"),
        pytest.param("https://www.pixiv.net/novel/show.php?id=1", id="a novel"),
        pytest.param("https://i.pximg.net/img-original/12345678_p0.png", id="a picture's address without its date"),
        pytest.param(P0.replace("i.pximg.net", "i.pximg.net.evil.example"), id="a picture on another host"),
        pytest.param("0", id="only zero"),
        pytest.param("", id="nothing"),
        pytest.param("x" * 100_000, id="a very long text"),
    ],
)
def test_anything_else_is_refused_naming_the_shape(text: str) -> None:
    with pytest.raises(ConfigError, match="unsupported_url") as refused:
        illustration(text)
    assert refused.value.key == "--url"
    assert len(f"{refused.value}") < 400


@pytest.mark.case("download", 59)
@pytest.mark.parametrize(
    "text", ["https://evilpixiv.net/artworks/1", "https://example.com/?u=https://www.pixiv.net/artworks/1"]
)
def test_pixivs_name_somewhere_in_an_address_does_not_make_it_pixivs(text: str) -> None:
    with pytest.raises(ConfigError, match="unsupported_url"):
        illustration(text)


@pytest.mark.case("download", 60)
@pytest.mark.parametrize("number", ["0", "12abc", "1" * 30])
def test_what_only_looks_like_a_number_of_a_work_is_none(number: str) -> None:
    with pytest.raises(ConfigError, match="unsupported_url"):
        illustration(f"https://www.pixiv.net/artworks/{number}")


@pytest.mark.case("download", 61)
def test_the_old_page_names_its_work_wherever_the_number_stands_in_the_query() -> None:
    assert illustration("https://www.pixiv.net/member_illust.php?mode=medium&illust_id=5#x") == 5
