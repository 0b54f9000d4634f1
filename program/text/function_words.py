"""Function words: words that hold a sentence together and say nothing about what is sought. Key terms leave them out.

Those of English stand here. Another language has the words of its file (``data/function_words.py``) for English ones
that are function words; the file's verbs, numbers and times say something, and are none.
"""

from __future__ import annotations

from functools import cache

from ...data.function_words import languages_with_function_words, read_function_words

ENGLISH = "en"
ENGLISH_WORDS = frozenset(
    """
    a about after again all also although am an and any anyone anything are as at be because been before being
    between both but by can could did do does doing done each either else ever every for from give given had has
    have having he her here him his how i if in into is it its just let like list may me might mine more most
    much my neither no nor not of off on once one or other our out over own please say says said she should show
    since so some such tell than that the their them then there these they this those through to too under until
    up us very was we were what when where whether which while who whom whose why will with without would you
    your
    """.split()
)
_ALSO = frozenset("against already become even many most much nothing now only same something still yes".split())
"""Words that are no more than that in other languages; English key terms keep them."""
_UNSAID = {"nl": ("wel",), "pl": ("się",), "sv": ("upp", "ut")}
"""Function words for which English has none."""

CJK_FUNCTION_WORDS: dict[str, tuple[str, ...]] = {
    "zh": tuple(
        "什么时候 为什么 怎么样 是不是 有没有 什么 怎么 怎样 哪些 哪个 哪里 哪儿 多少 几个 一下 一些 "
        "这个 那个 这些 那些 以及 或者 还是 但是 因为 所以 如果 关于 对于 的话 我们 他们 她们 你们 自己 请问 "
        "的 了 是 吗 呢 吧 啊 和 与 跟 在 对 从 到 把 被 给 让 我 你 他 她 它 谁 哪 也 都 就 还 又 很 最 有 "
        "说 过 着 得 地 这 那".split()
    ),
    "ja": tuple(
        "について どのように どうして どんな なぜ どう どの どれ どこ いつ だれ 誰 何 ください 教えて でした ですか "
        "です ます ました している した する いる ある これ それ あれ この その あの "
        "と の は が を に へ で も や か ね よ な".split()
    ),
}
"""Longest first within a language: they are cut out of text that has no spaces."""


@cache
def function_words(language: str) -> frozenset[str]:
    """The function words of a language, in small letters; those of English for one that has no file."""
    if language == ENGLISH or language not in languages_with_function_words():
        return ENGLISH_WORDS
    known = ENGLISH_WORDS | _ALSO
    lines = (typed for english, typed in read_function_words(language) if known.issuperset(english.split()))
    parts = (text.replace("'", " ").split() for typed in lines for text in typed if " " not in text)
    return frozenset((*(part for some in parts for part in some), *_UNSAID.get(language, ())))
