"""The words of the generated world: tags by how common they are, and titles and names made to break things."""

from typing import Final

from pixivflow.sandbox.model import Tag

AI_TAG: Final = Tag("AI生成", "AI-generated")
R18_TAG: Final = Tag("R-18")

TAGS: Final = tuple(
    Tag(name, translated or None)
    for name, _, translated in (
        line.partition("/")
        for line in (
            "オリジナル/original",
            "女の子/girl",
            "風景/landscape",
            "イラスト/illustration",
            "猫/cat",
            "空/sky",
            "海/sea",
            "花/flower",
            "創作/original creation",
            "ファンタジー/fantasy",
            "夜景/night view",
            "桜/cherry blossom",
            "夏/summer",
            "雪/snow",
            "背景/background",
            "少年/boy",
            "制服/uniform",
            "落書き/doodle",
            "水彩/watercolor",
            "森/forest",
            "星空/starry sky",
            "夕焼け/sunset",
            "犬/dog",
            "鳥/bird",
            "魔法/magic",
            "ロボット/robot",
            "着物/kimono",
            "東京/Tokyo",
            "電車/train",
            "食べ物/food",
            "秋/autumn",
            "雨/rain",
            "狐/fox",
            "竜/dragon",
            "都市/city",
            "宇宙/space",
            "鉛筆画/pencil drawing",
            "四コマ/four-panel comic",
            "建物/",
            "静物/",
        )
    )
)

TITLES: Final = (
    "../../x",
    "..\\..\\x",
    "長い題名の見本で" * 37 + "終わる字",
    "👨‍👩‍👧‍👦 家族 👩🏽‍🚀",
    "🇯🇵🇨🇳🇩🇪",
    "before\0after",
    "first line\nsecond line",
    "gpj.\u202eexe\u202c",
    "CON",
    "",
    "   ",
    'a/b:c*d?e"f<g>h|i',
    "trailing dots...",
    "trailing blank ",
    ".hidden",
    "\u3000全角の空白\u3000",
    "が か\u3099",  # the same letter composed and decomposed
    "aux.jpg",
    "tab\tand\x7fdelete",
    "zero\u200bwidth\ufeff",
)
"""Twenty titles that a file name must survive."""

NAMES: Final = ("..", "CON", "a/b", "", "作者" * 150, ".", "NUL.txt", " both ends ", "C:\\temp", "\u202erotide")
"""Ten names that a folder must survive."""
