"""The stages that propose query candidates: by rule, by paradigm, by a language model, and after the first evidence.

Each is one class with one method. A stage proposes in its order of preference and knows nothing of caps,
near-duplicates and ranks, which are settled once for all of them in ``candidates.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import Literal, Protocol

from cachetools import LRUCache

from ....data.paradigms import Paradigm, SynonymSet
from ....signatures.types import SubQuery
from ...context import says_nothing
from ...lm.forked import renewed_in_child
from ...plan import QueryCandidate
from ...text.linker import Link, Linker
from ...text.spelling import folded
from .canonical import canonical, token_set
from .keywords import key_terms

StageName = Literal["rule_based", "paradigm", "llm", "agentic"]

MAX_VARIATIONS = 8
LONGER, MORE_WORDS = 2, 8
"""A variation with more than twice the words plus eight is dropped: small models run on, and answer themselves."""
PLACEHOLDER = "{"
"""A sub-query with a placeholder for another's answer cannot be asked before that answer is known."""


@dataclass(frozen=True)
class Seed:
    """The input of the stages; the same for each of them.

    Attributes:
        query: the standalone query, cleaned.
        entities: names in it, as written there.
        language: the query's language, ``und`` if unknown.
        paradigm: the way of looking at the subject, or None.
        chosen: whether the caller named the paradigm.
        excepted: names in it that are excluded, and so are no key terms.
        gaps: questions and names that the first evidence does not cover.
    """

    query: str
    entities: tuple[str, ...] = ()
    sub_queries: tuple[SubQuery, ...] = ()
    relationships: tuple[str, ...] = ()
    language: str = "und"
    paradigm: Paradigm | None = None
    chosen: bool = False
    excepted: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The key terms of the query, names among them; computed when a stage asks for them."""
        found = key_terms(self.query, (*self.entities, *self.excepted), self.language)
        return tuple(term for term in found if term not in self.excepted)

    def about(self, *, without: Sequence[str] = ()) -> str:
        """The key terms in one line, some left out."""
        return " ".join(term for term in self.terms if term not in without)


class CandidateStage(Protocol):
    """Proposes query candidates.

    ``generate`` receives the seed and returns candidates whose ``stage`` is its own name, the best first.
    It must be deterministic and must not fail; a stage without a proposal returns [].
    """

    name: StageName

    def generate(self, seed: Seed) -> list[QueryCandidate]:
        """Candidates of this stage, the best first."""
        ...


class RuleBasedStage:
    """The query itself, its sub-queries, its key terms, each of several like names, other spellings, other words."""

    name: StageName = "rule_based"

    def __init__(
        self, linker: Linker, synonyms: Sequence[SynonymSet] = (), kinds: Container[str] | None = None
    ) -> None:
        """Make the stage of one domain; besides the query itself, it proposes candidates of these ``kinds``, or all."""
        self._linker = linker
        every: dict[str, Callable[[Seed], Iterable[QueryCandidate]]] = {
            "sub_query": self._sub_queries,
            "terms": self._terms,
            "entity": self._entities,
            "relation": self._relations,
            "full_names": self._full_names,
            "alias": self._aliases,
            "synonym": self._other_words,
        }
        self._make = [make for kind, make in every.items() if kinds is None or kind in kinds]
        self._synonyms: dict[tuple[str, str], tuple[str, ...]] = {}
        for known in synonyms:
            for word in known.words:
                others = tuple(w for w in known.words if w != word)
                self._synonyms.setdefault((known.language, word.casefold()), others)

    def generate(self, seed: Seed) -> list[QueryCandidate]:
        """The candidates that the seed gives; synonyms only where the query is in their language."""
        made = (candidate for make in self._make for candidate in make(seed))
        return [_new(self.name, "standalone", seed.query), *made]

    def _sub_queries(self, seed: Seed) -> Iterator[QueryCandidate]:
        for sub in seed.sub_queries:
            if PLACEHOLDER not in sub.text:
                yield _new(self.name, f"sub_query_{sub.id}", sub.text, 0.95, tags=(f"sub_query:{sub.id}",))

    def _terms(self, seed: Seed) -> Iterator[QueryCandidate]:
        yield _new(self.name, "terms", seed.about(), 0.8)

    def _entities(self, seed: Seed) -> Iterator[QueryCandidate]:
        if len(seed.entities) < 2:
            return
        types = {link.surface: link.name.type for link in self._linker.links(seed.query)}
        for number, name in enumerate(seed.entities, 1):
            others = [e for e in seed.entities if e != name and types.get(e) == types.get(name)]
            yield _new(self.name, f"entity_{number}", seed.about(without=others), 0.7, tags=(f"entity:{name}",))

    def _relations(self, seed: Seed) -> Iterator[QueryCandidate]:
        for number, relation in enumerate(seed.relationships if seed.entities else (), 1):
            yield _new(self.name, f"relation_{number}", f"{' '.join(seed.entities)} {relation}", 0.6)

    def _full_names(self, seed: Seed) -> Iterator[QueryCandidate]:
        """The query with its names as the card spells them. A light weight: it mostly finds what the query finds."""
        links = self._linker.links(seed.query)
        if all(link.surface == link.name.name for link in links):
            return
        there = token_set(seed.query)
        if all(token_set(link.name.name) <= there for link in links):
            return
        asked = _respelled(seed.query, {_with_rest(seed.query, link): link.name.name for link in links})
        if asked != seed.query and token_set(asked) - there:
            yield _new(self.name, "full_names", asked, 0.25, tags=tuple(f"entity:{link.name.name}" for link in links))

    def _aliases(self, seed: Seed) -> Iterator[QueryCandidate]:
        """The query with its names replaced by their first alias, for names that are typed as on the card."""
        for number, link in enumerate(self._linker.links(seed.query), 1):
            if link.name.aliases and link.surface.casefold() == link.name.name.casefold():
                asked = _respelled(seed.query, {link.surface: link.name.aliases[0]})
                yield _new(self.name, f"alias_{number}", asked, 0.6, tags=(f"entity:{link.name.name}",))

    def _other_words(self, seed: Seed) -> Iterator[QueryCandidate]:
        number = 0
        for term in seed.terms:
            for other in self._synonyms.get((seed.language, term.casefold()), ()):
                number += 1
                asked = " ".join(other if word == term else word for word in seed.terms)
                yield _new(self.name, f"synonym_{number}", asked, 0.5)


class ParadigmStage:
    """The key terms with the words and in the forms of a paradigm."""

    name: StageName = "paradigm"

    def generate(self, seed: Seed) -> list[QueryCandidate]:
        """Candidates of the paradigm, if there is one; without modifiers if the query is in another language."""
        paradigm, about = seed.paradigm, seed.about()
        if paradigm is None or not about:
            return []
        same = seed.language in (paradigm.language, "und")
        modifiers = [("modifier", text) for words in paradigm.modifiers if same and (text := _beside(about, words))]
        operators = [("operator", text) for form in paradigm.operators for text in _fill(form, seed, about)]
        return [
            *self._numbered(paradigm, operators),
            *self._numbered(paradigm, modifiers),
        ]

    def _numbered(self, paradigm: Paradigm, texts: Sequence[tuple[str, str]]) -> Iterator[QueryCandidate]:
        for number, (kind, text) in enumerate(texts, 1):
            weight = round(paradigm.weight / (1 + 0.1 * (number - 1)), 3)
            tags = (f"paradigm:{paradigm.name}",)
            yield _new(self.name, f"{kind}_{number}", text, weight, paradigm.sources, tags)


class VariationCache:
    """Variations that a model wrote, by seed query and paradigm; safe to share between threads."""

    def __init__(self, size: int = 4096) -> None:
        self._kept: LRUCache[tuple[str, str], tuple[str, ...]] = LRUCache(size)
        self._lock = Lock()
        renewed_in_child(self)

    def renew(self) -> None:
        """After a fork: another thread may have had the lock, and is in another process."""
        self._lock = Lock()

    def get(self, query: str, paradigm: str) -> tuple[str, ...] | None:
        """The kept variations of a query, or None."""
        with self._lock:
            return self._kept.get((canonical(query), paradigm))

    def put(self, query: str, paradigm: str, variations: Sequence[str]) -> None:
        """Keep the lines written, without empty, repeated and overlong ones, and what is no text."""
        most = LONGER * len(query.split()) + MORE_WORDS
        texts = (v.split() for v in variations if isinstance(v, str))
        said = tuple(dict.fromkeys(" ".join(words) for words in texts if 0 < len(words) <= most))
        with self._lock:
            self._kept[(canonical(query), paradigm)] = said[:MAX_VARIATIONS]


class LlmStage:
    """Other wordings by a language model, which is asked before (``RetrievalParts.asks``).

    Attributes:
        cache: what it wrote.
    """

    name: StageName = "llm"

    def __init__(self, cache: VariationCache) -> None:
        self.cache = cache

    def generate(self, seed: Seed) -> list[QueryCandidate]:
        """Variations from the cache, or none."""
        known = self.cache.get(seed.query, seed.paradigm.name if seed.paradigm else "")
        return [_new(self.name, f"variation_{n}", text, 0.9) for n, text in enumerate(known or (), 1)]


class AgenticStage:
    """Follow-ups for what the first evidence does not cover (a gap): the gap's own words, and its key terms."""

    name: StageName = "agentic"

    def generate(self, seed: Seed) -> list[QueryCandidate]:
        """Two for each gap, in the order of the gaps; a gap without words gives none."""
        found = []
        for number, gap in enumerate(seed.gaps, 1):
            if says_nothing(gap):
                continue
            words = key_terms(gap, seed.entities, seed.language)
            if len(words) == 1 and words[0] in seed.entities:  # a name alone: ask for it beside the query's terms
                words = (*words, *(t for t in seed.terms if t not in seed.entities))
            tags = (f"gap:{number}",)
            found += [_new(self.name, f"gap_{number}", gap, 1.0, tags=tags)]
            found += [_new(self.name, f"gap_{number}_terms", " ".join(words), 0.8, tags=tags)]
        return found


def _beside(about: str, words: str) -> str:
    """Key terms with the words that they lack; empty if they lack none."""
    there = token_set(about)
    more = [word for word in words.split() if not token_set(word) <= there]
    return " ".join((about, *more)) if more else ""


def _with_rest(text: str, link: Link) -> str:
    """A name as written, with the rest of the full name where that follows: in *Tad Brill*, *Tad* may be an alias."""
    end, after = link.start + len(link.surface), folded(text[link.start + len(link.surface) :])
    following = next((len(rest) for rest in _rests(link.name.name) if after.startswith(rest)), 0)
    return text[link.start : end + following]


@lru_cache(maxsize=4096)
def _rests(name: str) -> tuple[str, ...]:
    """What follows the first word, the first two words and so on of a name, in lower case, the longest first."""
    words = folded(name).split()
    return tuple(" " + " ".join(words[n:]) for n in range(1, len(words)))


def _respelled(text: str, spellings: Mapping[str, str]) -> str:
    """A text with some words replaced, each place once, except in an identifier such as *ATL-219*."""
    if not spellings:
        return text
    return _whole_forms(tuple(spellings)).sub(lambda match: spellings[match.group()], text)


@lru_cache(maxsize=512)
def _whole_forms(forms: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile("|".join(rf"(?<!\w){re.escape(form)}(?!\w|[-_./#]\d)" for form in longest_first))


def _fill(form: str, seed: Seed, about: str) -> Iterator[str]:
    if "{entity}" not in form:
        yield form.format(query=seed.query, terms=about)
        return
    for name in seed.entities:
        rest = " ".join(t for t in seed.terms if t not in seed.entities)
        yield " ".join(form.format(query=seed.query, terms=rest, entity=name).split())


def _new(
    stage: StageName,
    label: str,
    query: str,
    weight: float = 1.0,
    sources: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> QueryCandidate:
    return QueryCandidate(query=query, stage=stage, label=label, weight=weight, source_filter=sources, tags=tags)
