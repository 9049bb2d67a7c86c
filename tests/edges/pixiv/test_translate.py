"""What Pixiv shows in place of a work is never taken for the work: each sign of it is enough."""

import pytest

from pixivflow.pixiv import translate
from pixivflow.pixiv.wire import Illust, MetaPage, SinglePage, Urls, User

PICTURE = "https://i.pximg.net/img-original/img/2026/01/01/00/00/00/12_p0.png"
GREY = "https://s.pximg.net/common/images/limit_unviewable_360.png"
SHOWN = Illust(
    id=12,
    title="sea",
    page_count=1,
    user=User(id=7, name="Kai"),
    image_urls=Urls(large=PICTURE),
    meta_single_page=SinglePage(original_image_url=PICTURE),
    visible=True,
)


def changed(**fields: object) -> Illust:
    known = {name: getattr(SHOWN, name) for name in SHOWN.__struct_fields__}
    return Illust(**{**known, **fields})


def test_a_work_that_is_shown_has_its_picture() -> None:
    work = translate.work(SHOWN)
    assert work is not None
    assert work.is_visible
    assert [page.original_url for page in work.pages] == [PICTURE]


@pytest.mark.parametrize(
    "illust",
    [
        pytest.param(changed(visible=False), id="it says so, though everything else is there"),
        pytest.param(changed(user=User(id=0, name="")), id="nobody made it"),
        pytest.param(changed(user=User(id="0", name="")), id="nobody made it, in letters"),
        pytest.param(changed(image_urls=Urls(medium=GREY)), id="one grey picture"),
        pytest.param(changed(meta_single_page=SinglePage(original_image_url=GREY)), id="a grey original"),
        pytest.param(changed(meta_pages=[MetaPage(image_urls=Urls(original=GREY))]), id="a grey page"),
    ],
)
def test_a_placeholder_has_no_picture_and_no_author(illust: Illust) -> None:
    work = translate.work(illust)
    assert work is not None
    assert (work.is_visible, work.pages, work.user_id) == (False, (), "")


def test_a_reply_that_does_not_say_whether_it_is_shown_is() -> None:
    work = translate.work(changed(visible=None))
    assert work is not None
    assert work.is_visible
