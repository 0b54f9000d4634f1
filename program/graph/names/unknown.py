"""Guesses a name that the graph does not have from its place in the question, so that a plan can say so.

A question about all nodes of a type has no name in it, however rare its words are. So none of these is taken for a
name: a word for a property or for one of its values ("vegan"), what is asked for in words that the schema does not have
("quante ricette"), and an ordinary word right beside one for a type ("cheap recipes", "recipes sorted by …").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ....data.grammar_words import read_grammar
from ..question.asked_type import is_form
from ..question.clauses import SENTENCE_END
from ..question.spoken import NOUNS, is_small, spoken_in
from ..question.words import Word, folded_words, name_words, stands_alone, words_of
from ..ranking.phrases import phrases_of_plans
from ..ranking.schema_words import FLOOR, FULL, written_alike
from .linking import Mention, Reading

if TYPE_CHECKING:
    from ...heads.encoder import Encoder
    from ..ranking.answering import Answerer
    from ..values import Values

RARE = 0.95
MOST_WORDS = 4
NEAR = 0.5
"""The similarity of meaning to a word of the schema, 0 to 1, from which a word is no name: "neighbours", "rarest"."""
ALIKE = 0.6
"""The similarity of spelling to a word for a property or value, 0 to 1, from which a word is no name: "végane"."""
FEW = 60
"""The most values of a property whose words are taken for no names; of a property with more, each may be a name."""


class SchemaValues:
    """The words of one schema's properties and of their values."""

    def __init__(self, values: Values, encoder: Encoder) -> None:
        """Read the words; values of properties that have more than ``FEW`` are left out."""
        keys = {*values.flags, *values.numbers, *values.texts}
        names = [word for _, name in keys for word in name_words(name)]
        texts = [text for each in values.texts.values() if len(each) <= FEW for text in each]
        said = [way for text in texts for way in (text, *values.words.get(text, ()))]
        self._words = list(dict.fromkeys(word for text in (*names, *said) for word in folded_words(text)))
        self._vectors, self._encoder = encoder.encode(self._words), encoder
        # Vectors of two words that the encoder spells in pieces are near where their letters are alike, which says
        # nothing of what they mean. So a word in pieces is only compared with words that the encoder knows whole.
        known = [encoder.knows_whole(word) and (len(word) > 1 or stands_alone(word)) for word in self._words]
        self._known = self._vectors[known]
        self.has = lru_cache(maxsize=4096)(self._has)

    def _has(self, word: str) -> bool:
        """Whether a folded word is a form of one of these words, is spelled like one, or means nearly the same."""
        if any(is_form(word, own) or (len(own) >= 4 and written_alike(word, own) >= ALIKE) for own in self._words):
            return True
        vectors = self._vectors if self._encoder.knows_whole(word) else self._known
        meant = float((vectors @ self._encoder.encode([word])[0]).max(initial=0.0))
        return (meant - FLOOR) / (FULL - FLOOR) >= NEAR


def unknown_mention(question: str, answerer: Answerer) -> tuple[Mention, ...]:
    """The longest run of words that are common neither in questions nor in the schema, as one mention with every type.

    A run with more words that are capitalized inside the sentence comes first. Empty where every word is an ordinary
    one, is near a word of the schema, or says what a plan does ("fewest").
    """
    words = words_of(question)
    nouns = bool(NOUNS & spoken_in(word.text for word in words))
    capital = [question[w.start].isupper() and i > 0 for i, w in enumerate(words)]
    named = [c and not nouns for c in capital]
    places = [i for i, w in enumerate(words) if not w.text.isdecimal() and _may_name(w.text, named[i], answerer)]
    places = [i for i in places if named[i] or not _is_beside_a_type(words, i, answerer)]
    runs = [
        run for run in _runs([i in places for i in range(len(words))]) if not _is_asked(words, run, named, answerer)
    ]
    if not runs:
        return ()
    first, last = max(runs, key=lambda run: (sum(capital[run[0] : run[1]]), run[1] - run[0], -run[0]))
    start, end = words[first].start, words[last - 1].end
    text = question[start:end]
    kinds = answerer.ranker.table.types
    readings = tuple(Reading(text, kind, "unknown", 0.0) for kind in kinds)
    return (Mention(text, start, end, first, last, readings),)


def unknown_beside(question: str, mentions: Sequence[Mention], answerer: Answerer) -> tuple[str, ...]:
    """Names that the graph lacks, enumerated with names that it has: "by Marta and *Zorro*".

    A plan from the other names silently leaves them out, so the user has to be told. Such a name is capitalized (unless
    the language capitalizes every noun) or is a word that the encoder does not know whole, and only a joining word or a
    comma stands between it and another name.
    """
    words = words_of(question)
    capitals = not NOUNS & spoken_in(word.text for word in words)
    named = [place for mention in mentions for place in range(mention.first, mention.last)]
    rare = [place not in named and _is_strange(question, word, capitals, answerer) for place, word in enumerate(words)]
    known = {(mention.first, mention.last) for mention in mentions}
    left, found = _runs(rare), set[tuple[int, int]]()
    while near := [run for run in left if any(_is_joined(question, words, run, other) for other in known | found)]:
        found.update(near)
        left = [run for run in left if run not in found]
    found |= {run for run in left if capitals and _is_written_as_a_name(question, words, run)}
    return tuple(question[words[first].start : words[last - 1].end] for first, last in sorted(found))


def _is_written_as_a_name(question: str, words: Sequence[Word], run: tuple[int, int]) -> bool:
    """Whether all words of a run have a capital and small letters, and do not begin a sentence."""
    first, last = run
    texts = [question[word.start : word.end] for word in words[first:last]]
    begins = first == 0 or SENTENCE_END.search(question[words[first - 1].end : words[first].start])
    return not begins and all(text[0].isupper() and text[1:].islower() and len(text) > 2 for text in texts)


def _is_strange(question: str, word: Word, capitals: bool, answerer: Answerer) -> bool:
    if word.text.isdecimal() or word.text in _joining():
        return False
    if capitals and word.start > 0 and question[word.start].isupper():
        return _may_name(word.text, True, answerer)
    return _may_name(word.text, False, answerer) and not answerer.encoder.knows_whole(word.text)


def _is_joined(question: str, words: Sequence[Word], run: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether nothing but a joining word or a comma stands between two runs of words.

    The word before the first run may be repeated before the second: "by Marta and by Zorro".
    """
    (begun, end), (begin, _) = sorted((run, other))
    between = [word.text for word in words[end:begin]]
    if between and begun and between[-1] == words[begun - 1].text:
        between.pop()
    if begin < end or len(between) > 1:
        return False
    signs = question[words[end - 1].end : words[begin].start]
    return between[0] in _joining() if between else "," in signs or "&" in signs


@lru_cache(maxsize=1)
def _joining() -> frozenset[str]:
    return frozenset(word for phrase in read_grammar() if phrase.line == "joins" for word in folded_words(phrase.text))


def _may_name(word: str, capital: bool, answerer: Answerer) -> bool:
    """Whether a folded word may be a name or a part of one; ``capital`` says that it is capitalized as a name."""
    if word in answerer.ranker.words.vocabulary or answerer.of_values.has(word):
        return False
    if capital:
        return True
    rare = answerer.learned.paths.common.get(word, 1.0) >= RARE and not is_small(word)
    return rare and not phrases_of_plans().has(word) and answerer.ranker.words.nearest(word) < NEAR


def _is_beside_a_type(words: Sequence[Word], place: int, answerer: Answerer) -> bool:
    """Whether a word is an ordinary one of English right beside a word for a type, as in "*cheap* dishes"."""
    beside = (words[i].text for i in (place - 1, place + 1) if 0 <= i < len(words))
    return answerer.encoder.knows_whole(words[place].text) and any(answerer.types.of(word) for word in beside)


def _is_asked(words: Sequence[Word], run: tuple[int, int], named: Sequence[bool], answerer: Answerer) -> bool:
    """Whether a run of words is what the question asks for, and no name.

    It is where only question words and values stand before it, and no word near the schema behind it.
    """
    first, last = run
    before = (word.text for word in words[:first])
    if any(named[first:last]) or not all(word in _asking() or _is_of_value(word, answerer) for word in before):
        return False
    if len(words) == last:
        return first > 0 or last > 1
    return answerer.ranker.words.nearest(words[last].text) < NEAR


def _is_of_value(word: str, answerer: Answerer) -> bool:
    """Whether a word is of a property or a value, and not of an edge or a type: "vegane", and not "treats"."""
    return answerer.of_values.has(word) and answerer.ranker.words.nearest(word) < NEAR


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    return frozenset(word for phrase in read_grammar() if phrase.line == "which" for word in folded_words(phrase.text))


def _runs(rare: Sequence[bool]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for place, is_rare in enumerate(rare):
        if is_rare and runs and runs[-1][1] == place and place - runs[-1][0] < MOST_WORDS:
            runs[-1] = (runs[-1][0], place + 1)
        elif is_rare:
            runs.append((place, place + 1))
    return runs
