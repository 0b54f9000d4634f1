"""The marks that count what a message lists: *1.*, *2)*, *iii.*, *①*, *Q1:*, *first, … second, …*."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

Span = tuple[int, int]

_NAMED = r"(?:(?:q|question|frage|pregunta|pergunta|domanda|vraag|fråga|pytanie|问题?|問題?|質問)\s?)?"
_BEGINS = r"(?:(?<!\S)|(?<=[。？！；，、]))"
_MARKS = (
    # "1." and "(b)", also "1.who"; with a dash only before a space, as "1-2" is none.
    re.compile(rf"{_BEGINS}{_NAMED}\(?(\d{{1,2}}|[a-h]|[ivx]{{1,4}})([.):])(?:\s+(?=\S)|(?=[^\W\d_]))", re.IGNORECASE),
    re.compile(r"(?<!\S)(\d{1,2})(\s?[-–—])\s+(?=\S)"),
    # Behind the signs of Chinese and Japanese no space stands, and none need stand before.
    re.compile(rf"(?:{_BEGINS}|(?<=\w[?!.])){_NAMED}[（(]?(\d{{1,2}})([、．：）)])\s*(?=\S)"),
    re.compile(r"([①-⑨])()\s*(?=\S)"),
    re.compile(r"(?<!\S)([1-9])(\ufe0f?\u20e3)\s*(?=\S)"),
)
_ROMAN = {said: number for number, said in enumerate("i ii iii iv v vi vii viii ix x xi xii".split(), 1)}
_ORDINALS = (
    "first firstly/second secondly/third thirdly/fourth fourthly/fifth fifthly/sixth sixthly|last lastly finally",
    "erstens/zweitens/drittens/viertens/fünftens/sechstens|schließlich zuletzt",
    "premièrement primo/deuxièmement secundo/troisièmement tertio/quatrièmement/cinquièmement/sixièmement|enfin",
    "primero/segundo/tercero/cuarto/quinto/sexto|finalmente",
    "primeiro/segundo/terceiro/quarto/quinto/sexto|finalmente",
    "primo/secondo/terzo/quarto/quinto/sesto|infine",
    "eerste ten_eerste/ten_tweede/ten_derde/ten_vierde/ten_vijfde/ten_zesde|tenslotte",
    "för_det_första/för_det_andra/för_det_tredje/för_det_fjärde/för_det_femte/för_det_sjätte|slutligen",
    "po_pierwsze/po_drugie/po_trzecie/po_czwarte/po_piąte/po_szóste|wreszcie",
    "第一/第二/第三/第四/第五/第六|最后",
    "一つ目は/二つ目は/三つ目は/四つ目は/五つ目は/六つ目は|最後に",
)
"""Words of a language that count, the first to the sixth with their other forms, and what says the last."""


_MAY_COUNT = re.compile(r"[\d①-⑨]|(?<![^\W\d_])[a-hivx]{1,4}[.):]", re.IGNORECASE)
"""Without any such sign there is no mark but in words."""


def counted_marks(text: str) -> list[Span]:
    """Where marks stand that count up from the first; none where fewer than two do."""
    ways = [_counting(text, pattern) for pattern in _MARKS] if _MAY_COUNT.search(text) else []
    low = text.lower()
    ways += [_told(text, line) for line in _ORDINALS if any(one in low for one in _begin(line))]
    return min((marks for marks in map(list, ways) if len(marks) > 1), key=lambda marks: marks[0], default=[])


def _counting(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    """Marks of one kind: all figures, all letters, or all Roman, with the same sign behind."""
    sign, sort, wanted = "", "", 1
    for mark in pattern.finditer(text):
        said = _numbers(mark[1].lower())
        if not sort and (begun := next((name for name, number in said.items() if number == 1), "")):
            sign, sort = mark[2].strip(), begun
        if sort and mark[2].strip() == sign and said.get(sort) == wanted:
            wanted += 1
            yield mark.span()


def _numbers(said: str) -> dict[str, int]:
    """What a mark may count as: *i* is the first of Roman figures, *c* a letter and a hundred."""
    if said[0].isdigit() or not said.isascii():
        return {"figure": int(unicodedata.numeric(said) if len(said) == 1 else int(said))}
    found = {"roman": _ROMAN[said]} if said in _ROMAN else {}
    return found | ({"letter": ord(said) - ord("a") + 1} if len(said) == 1 else {})


def _told(text: str, line: str) -> Iterator[Span]:
    """Words that count at the beginnings of sentences or clauses; the one for the last ends them."""
    counted, _, last = line.partition("|")
    forms = [tuple(each.split()) for each in counted.split("/")]
    at, wanted = 0, 0
    while wanted < len(forms):
        mark = _word(forms[wanted]).search(text, at)
        end = _word(tuple(last.split())).search(text, at) if wanted > 1 or (wanted and mark is None) else None
        if mark is None or (end is not None and end.start() < mark.start()):
            if end is not None:
                yield end.span()
            return
        if not wanted and text[: mark.start()].strip() and not text[: mark.start()].rstrip().endswith(":"):
            return
        yield mark.span()
        at, wanted = mark.end(), wanted + 1


@cache
def _begin(line: str) -> tuple[str, ...]:
    """The first words of what counts the first."""
    return tuple(form.split("_")[0] for form in line.split("/")[0].split())


@cache
def _word(forms: tuple[str, ...]) -> re.Pattern[str]:
    said = "|".join(re.escape(form).replace("_", r"\s+") for form in sorted(forms, key=len, reverse=True))
    unspaced = re.search(r"[\u3040-\u9fff]", forms[0]) is not None
    signs = r"\s*[,，、:：]?\s*" if unspaced else r"(?:\s+of\s+all)?\s*[,:]\s*"
    begins = r"(?:^|(?<=[.?!;:,。？！；，：\n])|(?<=\band\s)|(?<=\bund\s)|(?<=\bet\s))\s*"
    return re.compile(rf"{begins}(?:{said}){signs}(?=\S)", re.IGNORECASE)
