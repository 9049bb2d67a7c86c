"""What a route shows that cannot show everything, and what it says of the rest."""

from typing import Any

import pytest

from pixivflow.config.model import Capabilities
from pixivflow.delivery.content import Content, composed
from pixivflow.delivery.media import AlbumPart, FilePart, ImagePart, Media, TextPart, VideoPart, mime_of
from pixivflow.delivery.plan import Downgrade, Dropped, Unsendable, plan, planned
from pixivflow.delivery.profile import WEBHOOK, Profile, overridden
from pixivflow.slots.model import WorkType
from tests.fixtures.works import WORK

TENS = Profile(album_min=2, album_max=10, max_upload_bytes=50, truncate_policy="split")
"""A platform that shows pictures in albums of up to ten."""

TEXTS = Profile(image=False, file=False, video=False, album=False, max_text_length=4_096)
"""One that shows text alone."""


def content(*paths: str, title: str = "Sea", size: int | None = 3) -> Content:
    media = [Media(path=path, mime=mime_of(path), size=size) for path in paths]
    return composed(WorkType.ILLUSTRATION, WORK, title, media)


def narrowed(profile: Profile = WEBHOOK, **given: Any) -> Profile:
    return overridden(profile, Capabilities(**given))


def test_an_album_that_is_too_long_is_shown_one_by_one_and_that_is_no_loss() -> None:
    found = plan(content(*(f"{n}.png" for n in range(12))), TENS)
    assert sum(isinstance(part, ImagePart) for part in found.parts) == 12
    assert len(found.parts) == 13
    assert (found.unsupported, found.dropped, found.downgrades) == ((), (), ())


def test_a_receiver_that_takes_only_text_gets_the_text_and_the_rest_is_named() -> None:
    found = plan(content("1.pdf", "2.png", "3.png"), TEXTS)
    assert [type(part) for part in found.parts] == [TextPart]
    assert [part.media.path for part in found.unsupported] == ["1.pdf", "2.png", "3.png"]
    assert [type(part) for part in found.unsupported] == [FilePart, ImagePart, ImagePart]
    assert found.downgrades == (
        Downgrade("album_not_supported", 2),
        Downgrade("image_not_supported", 2),
        Downgrade("file_not_supported", 1),
    )


def test_a_route_cannot_lift_a_limit_of_its_platform() -> None:
    assert narrowed(TENS, max_upload_bytes=99_999).max_upload_bytes == 50
    assert narrowed(TENS, max_upload_bytes=0).max_upload_bytes == 50
    assert narrowed(TENS, album_max=20, album_min=1) == TENS
    assert narrowed(TENS, max_upload_bytes=10).max_upload_bytes == 10


def test_a_route_may_set_a_limit_where_its_platform_has_none_and_nobody_sets_a_negative_one() -> None:
    assert narrowed(WEBHOOK, max_upload_bytes=5).max_upload_bytes == 5
    assert narrowed(WEBHOOK, max_upload_bytes=-1).max_upload_bytes == 0


@pytest.mark.parametrize(
    ("given", "bounds"),
    [
        ({}, (0, 0)),
        ({"album": True}, (2, 10)),
        ({"album": True, "album_max": 4}, (2, 4)),
        ({"album_min": 3}, (3, 10)),
        ({"album": False, "album_max": 4}, (0, 0)),
    ],
)
def test_albums_that_a_route_asks_for_hold_two_to_ten_unless_it_says_less(
    given: dict[str, Any], bounds: tuple[int, int]
) -> None:
    profile = narrowed(WEBHOOK, **given)
    assert (profile.album_min, profile.album_max) == bounds


def test_switches_and_policies_of_a_route_replace_those_of_its_kind() -> None:
    profile = narrowed(TEXTS, image=True, text=False, truncate_policy="truncate")
    assert (profile.image, profile.text, profile.file, profile.truncate_policy) == (True, False, False, "truncate")


def test_without_albums_their_pictures_are_shown_one_by_one_and_that_is_said() -> None:
    found = plan(content("1.png", "2.png"), narrowed(album=False))
    assert [type(part) for part in found.parts] == [TextPart, ImagePart, ImagePart]
    assert found.downgrades == (Downgrade("album_not_supported", 2),)
    assert found.dropped == ()


def test_a_file_that_is_too_large_is_left_out_and_an_album_of_one_is_none() -> None:
    big, small = Media(path="1.png", mime="image/png", size=9), Media(path="2.png", mime="image/png", size=8)
    found = plan(composed(WorkType.ILLUSTRATION, WORK, "Sea", [big, small]), narrowed(max_upload_bytes=8))
    assert found.parts[1:] == (ImagePart(small),)
    assert found.dropped == (Dropped("image", "upload_too_large"),)
    assert found.downgrades == ()


def test_a_file_of_unknown_size_is_not_taken_for_too_large() -> None:
    assert plan(content("1.png", size=None), narrowed(max_upload_bytes=1)).dropped == ()


def test_a_route_that_declares_nothing_is_sent_everything() -> None:
    whole = content("1.png", "2.mp4", "3.zip")
    assert planned(whole, None) == (whole.text, whole.parts, ())


def test_a_video_that_is_not_supported_is_named_and_the_rest_is_sent() -> None:
    text, parts, dropped = planned(content("1.png", "2.mp4"), Capabilities(video=False))
    assert text == "Sea\nhttps://www.pixiv.net/artworks/71"
    assert [type(part) for part in parts] == [TextPart, ImagePart]
    assert dropped == (Dropped("video", "video_not_supported"),)


def test_a_work_of_which_no_picture_could_be_shown_is_not_published_as_bare_text() -> None:
    with pytest.raises(Unsendable, match="image_not_supported"):
        planned(content("1.png"), Capabilities(image=False))


def test_a_content_that_is_only_text_needs_no_picture() -> None:
    assert planned(content(), Capabilities(image=False))[2] == ()


def test_a_text_that_is_not_supported_is_left_out_beside_pictures() -> None:
    text, parts, _ = planned(content("1.png"), Capabilities(text=False))
    assert text == ""
    assert [type(part) for part in parts] == [ImagePart]


def test_a_text_that_is_too_long_is_shortened_visibly_or_refused_and_never_clipped_in_silence() -> None:
    long = content("1.png", title="x" * 100)
    text, _, _ = planned(long, Capabilities(max_text_length=10, truncate_policy="truncate"))
    assert text == "x" * 9 + "…"
    for policy in (None, "error", "split"):
        with pytest.raises(Unsendable, match="10"):
            planned(long, Capabilities(max_text_length=10, truncate_policy=policy))


def test_a_text_as_long_as_the_limit_is_sent_whole() -> None:
    whole = content(title="Sea")
    assert planned(whole, Capabilities(max_text_length=len(whole.text)))[0] == whole.text


def test_two_videos_stay_an_album_where_albums_are_known() -> None:
    found = plan(content("1.mp4", "2.mp4"), WEBHOOK)
    assert [type(part) for part in found.parts] == [TextPart, AlbumPart]
    assert [type(part) for part in plan(content("1.mp4"), WEBHOOK).parts] == [TextPart, VideoPart]
