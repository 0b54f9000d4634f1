"""Splits texts of scripts that are written without spaces into pieces that can be edited one by one.

What the pieces of Chinese, Japanese and Thai are is guessed: a *small word* (a pronoun, a particle, a word that asks or
joins), or all that stands between two of them in one script. That is too coarse or too fine for a dictionary, but tells
what a follow-up points with, and what it may point to.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from .words import UNSPACED, Word, is_unspaced, words_of

_CHINESE = (
    "我 你 您 他 她 它 牠 我们 我們 咱们 你们 你們 他们 他們 她们 她們 它们 它們 自己 大家 人家"
    " 这 这个 这些 这里 这儿 这样 这次 这句 这条 这篇 这天 这位 这种 这件 这段 这两 这几 这本 这集 这张 这家 这"
    " 那 那个 那些 那里 那儿 那样 那次 那句 那条 那篇 那天 那位 那种 那件 那段 那两 那几 那本 那集 那张 那家"
    " 這 這個 這些 這裡 這樣 這次 這句 這條 這篇 這位 這種 這件 這段 這兩 那個 那條 那種"
    " 其中 前者 后者 後者 此 该 該 两者 兩者 二者 两个 兩個 俩 两个人 两人 她俩 他俩"
    " 第一个 第二个 第三个 第一 第二 第三 最后一个 最后那个 最后 另一个 另外一个 上一个 下一个 头一个 中间那个"
    " 什么 什麼 谁 誰 哪 哪个 哪些 哪里 哪儿 哪天 哪次 哪篇 哪条 哪集 哪位 几 幾 多少 怎么 怎麼 怎样 怎么样"
    " 这么 那么 這麼 那麼 这么多 那么多 怎麼樣 为什么 為什麼 为啥"
    " 为何 如何 何时 什么时候 多久 多长 多大 啥 是不是 有没有 能不能"
    " 的 了 吗 嗎 呢 吧 啊 呀 嘛 着 著 过 過 得 地 是 有 在 会 會 能 可以 要 想 说 說 讲 講 和 与 與 跟 同 及"
    " 以及 还是 還是 或者 或"
    " 但 但是 可是 所以 因为 因為 如果 然后 然後 还有 還有 还 還 也 都 就 才 又 再 不 没 沒 没有 沒有 别 很 更"
    " 最 比 被 把 对 對"
    " 给 給 从 從 到 向 让 讓 用 以 为 為 关于 關於 除了 里 裡 上 下 中 当时 當時 那时 后来 後來 之后 之後 以后"
    " 之前 以前 刚才 前面 上面"
    " 请 請 问 問 告诉我 再说 一共 到底 究竟 具体 举个例子"
)
_JAPANESE = (
    "それ これ あれ その この あの そこ ここ あそこ そちら こちら そう こう そんな こんな その中 その後 そのうち"
    " 彼 彼女 彼ら 彼女たち 彼女ら 私 僕 俺 あなた 自分 前者 後者 両方 両者 二人 二人目 三人目 一つ目 二つ目"
    " 三つ目 最初 最後 他 ほか"
    " は が を に で と も の へ や か ね よ から まで より だけ しか など なら なら って には では とは でも とか"
    " です ます でした ました ですか ますか でしょうか ください だ だった する して した している しています"
    " していますか ある いる いた あった"
    " なる という といった について ついて"
    " 何 なに 誰 だれ いつ どこ どう どの どれ どちら どんな なぜ どうして いくつ いくら 何人 何回"
    " そして それで じゃあ では しかし また まだ もう もっと"
)
_THAI = (
    "เขา เธอ มัน พวกเขา ฉัน ผม คุณ นี้ นั้น ที่ ของ ใคร อะไร ทำไม เมื่อไร เมื่อไหร่ ที่ไหน อย่างไร ยังไง ไหม หรือ และ แต่ แล้ว ไม่ คือ เป็น"
    " มี ได้ ให้ กับ จาก ใน คนแรก คนที่สอง อันแรก อันที่สอง ครับ ค่ะ คะ ล่ะ"
)
_SCRIPTS = (
    re.compile("[\u30a0-\u30ff]+"),
    re.compile("[\u3040-\u309f]+"),
    re.compile("[\u3400-\u9fff\uf900-\ufaff]+"),
    re.compile(f"{UNSPACED.pattern}+"),
)
"""Katakana, hiragana, ideographs, and other scripts without spaces; a piece ends where another one begins."""


@cache
def _small_words() -> dict[str, tuple[str, ...]]:
    """The small words by their first sign, the longest first."""
    found: dict[str, set[str]] = {}
    for word in f"{_CHINESE} {_JAPANESE} {_THAI}".split():
        found.setdefault(word[0], set()).add(word)
    return {sign: tuple(sorted(words, key=lambda word: (-len(word), word))) for sign, words in found.items()}


def pieces_of(text: str) -> list[Word]:
    """The words and signs of a text in order, and the pieces of what is written without spaces."""
    if not is_unspaced(text):
        return words_of(text)
    return [piece for word in words_of(text) for piece in _pieces(word)]


def _pieces(word: Word) -> list[Word]:
    if not is_unspaced(word.text):
        return [word]
    return [Word(t, t.lower(), word.start + at, word.start + at + len(t)) for t, at in _cut(word.text)]


@lru_cache(maxsize=4096)
def _cut(text: str) -> tuple[tuple[str, int], ...]:
    """The pieces of one word, each with its place."""
    found, begun, place = list[tuple[str, int]](), 0, 0

    def close(end: int) -> None:
        if end > begun:
            found.append((text[begun:end], begun))

    while place < len(text):
        small = next((one for one in _small_words().get(text[place], ()) if text.startswith(one, place)), "")
        if small:
            close(place)
            found.append((small, place))
            begun = place = place + len(small)
        elif place > begun and _script(text[place]) != _script(text[place - 1]):
            close(place)
            begun, place = place, place + 1
        else:
            place += 1
    close(len(text))
    return tuple(found)


@lru_cache(maxsize=4096)
def _script(sign: str) -> int:
    return next((number for number, script in enumerate(_SCRIPTS) if script.match(sign)), -1)


@cache
def small_words() -> frozenset[str]:
    """All small words of these scripts."""
    return frozenset(word for words in _small_words().values() for word in words)
