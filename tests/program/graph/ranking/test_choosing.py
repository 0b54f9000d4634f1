"""Choosing among complete plans: what is one plan, what is said of each, and what is learned of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.errors import DataError
from queryplan.program.graph.learning.fit_choosing import fit_choice, right_options
from queryplan.program.graph.learning.labelled import Question, Source
from queryplan.program.graph.names.linking import Mention
from queryplan.program.graph.question.view import Hypothesis
from queryplan.program.graph.ranking import choosing
from queryplan.program.graph.ranking.answering import Answerer
from queryplan.program.graph.ranking.choosing import CHOICE, Chooser, Chosen, choice_file, only_chance, starting_choice
from queryplan.program.graph.ranking.completing import Completer, Option
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.ranking.ranking import Ranker
from queryplan.program.graph.sketch import canonical
from queryplan.program.graph.values import values_of
from queryplan.program.heads.encoder import default_encoder

BOTH = "what kills both slug and snail"


@pytest.fixture(scope="module")
def answerer(taught: Any, lesson_source: Source) -> Answerer:
    ranker = Ranker(PathTable(lesson_source.schema), default_encoder(), taught.paths)
    return Answerer(ranker, taught, lesson_source.index, values_of(lesson_source.schema), default_encoder())


@pytest.fixture(scope="module")
def completer(taught: Any, answerer: Answerer) -> Completer:
    return Completer(answerer.ranker, taught.endings, answerer.values, default_encoder())


@pytest.fixture(scope="module")
def chooser(answerer: Answerer, completer: Completer) -> Chooser:
    return Chooser(answerer.ranker, completer)


@pytest.fixture(scope="module")
def named(answerer: Answerer, completer: Completer) -> Callable[[Hypothesis], list[Option]]:
    """The endings of the likeliest path from names that were chosen by hand."""

    def options(hypothesis: Hypothesis) -> list[Option]:
        ranked = max(answerer.ranker.of(BOTH, hypothesis), key=lambda r: float(r.scores.max(initial=-np.inf)))
        return completer.options(BOTH, ranked, int(ranked.scores.argmax()), 0.3, 0.6)

    return options


def meaning(*mentions: Mention) -> Hypothesis:
    return Hypothesis(mentions, tuple(mention.readings[0] for mention in mentions))


def mention_of(mentions: tuple[Mention, ...], text: str) -> Mention:
    return next(mention for mention in mentions if mention.text == text)


def number(chosen: Chosen, name: str) -> np.ndarray:
    return chosen.numbers[:, CHOICE.index(name)]


def chance_of(chosen: Chosen) -> np.ndarray:
    """The chance of each plan as the rankings saw it, added up over what is one plan."""
    return np.exp(number(chosen, "chance")) - choosing.SMALL


# --- what is one plan


def test_equal_plans_are_one_and_their_chances_are_added(
    answerer: Answerer, chooser: Chooser, named: Callable[[Hypothesis], list[Option]]
) -> None:
    mentions = answerer.mentions(BOTH)
    options = [one for one in named(meaning(mention_of(mentions, "slug"))) if not one.ending.none]
    fainter = [replace(one, path_chance=one.path_chance / 3) for one in options]
    once, twice = (chooser.look(BOTH, mentions, given) for given in (options, [*fainter, *options]))
    assert len(twice.options) == len(once.options) == len(options)
    assert chance_of(twice) == pytest.approx(chance_of(once) * 4 / 3)
    assert {id(one) for one in twice.options} == {id(one) for one in options}, "the likeliest stands for both"


def test_plans_that_differ_in_how_they_end_stay_apart(
    answerer: Answerer, chooser: Chooser, named: Callable[[Hypothesis], list[Option]]
) -> None:
    mentions = answerer.mentions(BOTH)
    options = named(meaning(mention_of(mentions, "slug")))
    said = [canonical(one.plan) for one in chooser.look(BOTH, mentions, options).options if not one.ending.none]
    assert len(said) == len(set(said)) == len(options) - 1 > 1


def test_that_the_schema_cannot_say_it_stands_once_whatever_the_path(
    answerer: Answerer, chooser: Chooser, named: Callable[[Hypothesis], list[Option]]
) -> None:
    mentions = answerer.mentions(BOTH)
    slug, snail = (mention_of(mentions, text) for text in ("slug", "snail"))
    options = [one for given in ((slug,), (snail,), (slug, snail)) for one in named(meaning(*given))]
    chosen = chooser.look(BOTH, mentions, options)
    none = [i for i, one in enumerate(chosen.options) if one.ending.none]
    assert len(none) == 1
    assert number(chosen, "is none")[none] == 1
    assert number(chosen, "is none").sum() == 1
    assert chance_of(chosen)[none] == pytest.approx(sum(one.chance for one in options if one.ending.none))


def test_a_question_without_plans_has_none_to_choose_from(chooser: Chooser) -> None:
    chosen = chooser.look("anything at all", (), ())
    assert chosen.options == ()
    assert chosen.numbers.shape == (0, len(CHOICE))
    assert chosen.chances(starting_choice()).shape == (0,)


# --- the numbers


def test_every_number_has_a_name_of_its_own() -> None:
    assert len(set(CHOICE)) == len(CHOICE)


@settings(max_examples=8, deadline=None)
@given(st.integers(min_value=0), st.text(max_size=12))
def test_whatever_is_asked_the_numbers_are_finite_and_chances_sum_to_one(
    answerer: Answerer, lesson_source: Source, place: int, more: str
) -> None:
    text = lesson_source.questions[place % len(lesson_source.questions)].text
    chosen = answerer.chosen(f"{text} {more}")
    assert chosen.numbers.shape == (len(chosen.options), len(CHOICE))
    assert np.isfinite(chosen.numbers).all()
    assert sum(one.ending.none for one in chosen.options) <= 1
    for weights in (starting_choice(), only_chance()):
        chances = chosen.chances(weights)
        assert ((chances >= 0) & (chances <= 1)).all()
        assert chances.sum() == pytest.approx(1.0 if chosen.options else 0.0)


@settings(max_examples=8, deadline=None)
@given(st.integers(min_value=0))
def test_each_number_stands_under_its_name(answerer: Answerer, lesson_source: Source, place: int) -> None:
    text = lesson_source.questions[place % len(lesson_source.questions)].text
    chosen = answerer.chosen(text)
    for row, option in enumerate(chosen.options):
        said = dict(zip(CHOICE, chosen.numbers[row], strict=True))
        final = option.ending.final
        assert said["names"] == len(option.hypothesis.mentions)
        assert said["mentions"] == len(answerer.mentions(text))
        assert said["path covered share"] == pytest.approx(option.covered)
        assert said["is count"] == (final.kind == "count")
        assert said["is order"] == (final.kind == "order")
        assert said["words"] == len(option.view.words)
        assert said["ending chance"] == pytest.approx(np.log(option.ending_chance + choosing.SMALL))
        assert said["path behind"] <= 1e-9
        assert said["ending behind"] <= 1e-9
        assert sum(said[f"combine {way}"] for way in choosing.COMBINES) == 1


def test_before_any_label_the_rankings_decide(answerer: Answerer) -> None:
    chosen = answerer.chosen("what grows in clay")
    mass = chance_of(chosen)
    assert chosen.chances(only_chance()) == pytest.approx(mass / mass.sum(), abs=1e-6)


def test_a_plan_that_leaves_out_a_likely_name_gets_its_number(
    answerer: Answerer, chooser: Chooser, named: Callable[[Hypothesis], list[Option]]
) -> None:
    mentions = answerer.mentions(BOTH)
    slug, snail = (mention_of(mentions, text) for text in ("slug", "snail"))
    meant = dict(zip(mentions, answerer.ranker.meant(BOTH, mentions), strict=True))
    one = chooser.look(BOTH, mentions, named(meaning(slug)))
    both = chooser.look(BOTH, mentions, named(meaning(slug, snail)))
    assert meant[snail] > 0.5, "the test is about a likely name"
    assert number(one, "likeliest left out")[0] == pytest.approx(meant[snail])
    assert (number(one, "likely left out") == number(both, "likely left out")[0] + 1).all()
    assert number(one, "left out")[0] - number(both, "left out")[0] == pytest.approx(meant[snail])
    assert set(number(one, "names")) == {1.0}
    assert set(number(both, "names")) == {2.0}
    assert number(both, "least meant")[0] == pytest.approx(min(meant[slug], meant[snail]))


def test_a_word_that_the_ending_accounts_for_is_not_unsaid(
    answerer: Answerer, chooser: Chooser, completer: Completer
) -> None:
    question = "shade plants for clay"
    mentions = answerer.mentions(question)
    clay = meaning(mention_of(mentions, "clay"))
    options = [
        option
        for ranked in answerer.ranker.of(question, clay)
        for place in np.argsort(-ranked.scores)[:6].tolist()
        for option in completer.options(question, ranked, place, 0.1, 0.6)
    ]
    chosen = chooser.look(question, mentions, options)
    filtered = number(chosen, "is filtered") == 1
    assert filtered.any()
    for row in np.flatnonzero(filtered):
        mate = [
            i
            for i, one in enumerate(chosen.options)
            if one.ranked is chosen.options[row].ranked
            and one.place == chosen.options[row].place
            and (one.ending.final.kind, one.ending.final.filters, one.ending.none) == ("set", (), False)
        ]
        for plain in mate:
            assert number(chosen, "unsaid by schema")[row] <= number(chosen, "unsaid by schema")[plain] + 1e-9


# --- what is shipped


def test_what_is_shipped_has_a_finite_weight_for_every_number() -> None:
    assert starting_choice().shape == (len(CHOICE),)
    assert np.isfinite(starting_choice()).all()
    assert not np.allclose(starting_choice(), only_chance()), "nothing was learned"


def test_weights_written_to_a_file_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "choice.toml"
    monkeypatch.setattr(choosing, "LEARNED", path)
    weights = np.random.default_rng(5).normal(size=len(CHOICE)) * np.logspace(-7, 4, len(CHOICE))
    weights[3] = 0.0
    path.write_text(choice_file(weights), encoding="utf-8")
    read = starting_choice.__wrapped__()
    assert read == pytest.approx(weights, rel=1e-3)
    assert choice_file(read) == choice_file(weights)


@pytest.mark.parametrize("missing", ["chance", "none words", CHOICE[-1]])
def test_a_file_that_lacks_a_weight_is_refused_and_the_weight_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    path = tmp_path / "choice.toml"
    lines = choice_file(only_chance()).splitlines(keepends=True)
    path.write_text("".join(one for one in lines if not one.startswith(f'"{missing}" =')), encoding="utf-8")
    monkeypatch.setattr(choosing, "LEARNED", path)
    with pytest.raises(DataError, match=rf"choice\.toml .*'{missing}'.* install it again"):
        starting_choice.__wrapped__()


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_file_with_a_weight_that_is_no_number_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    path = tmp_path / "choice.toml"
    path.write_text(choice_file(only_chance()).replace('"chance" = 1.0', f'"chance" = {value}'), encoding="utf-8")
    monkeypatch.setattr(choosing, "LEARNED", path)
    with pytest.raises(DataError, match="not every weight is a number"):
        starting_choice.__wrapped__()


@pytest.mark.parametrize("text", [None, "", "weights = 3", "[weights", '[weights]\n"chance" = "high"'])
def test_a_file_that_is_not_there_or_says_something_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    path = tmp_path / "choice.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(choosing, "LEARNED", path)
    with pytest.raises(DataError, match=r"choice\.toml of the package cannot be read"):
        starting_choice.__wrapped__()


# --- learning the weights

COUNTS, ORDER, WORDS = (CHOICE.index(name) for name in ("is count", "is order", "words"))


def planted(weight: float, questions: int = 1500, plans: int = 6) -> list[tuple[np.ndarray, np.ndarray]]:
    """Questions whose right plan is drawn by the rankings' chance and one further number of that weight."""
    rng = np.random.default_rng(11)
    examples = []
    for _ in range(questions):
        numbers = np.zeros((plans, len(CHOICE)))
        numbers[:, [0, COUNTS, ORDER]] = rng.normal(size=(plans, 3))
        numbers[:, WORDS] = rng.integers(1, 9)
        drawn = np.argmax(numbers[:, 0] + weight * numbers[:, COUNTS] + rng.gumbel(size=plans))
        examples.append((numbers, np.arange(plans) == drawn))
    return examples


@pytest.mark.parametrize("weight", [1.5, -1.0])
def test_a_planted_weight_is_recovered(weight: float) -> None:
    fitted = fit_choice(planted(weight), only_chance())
    assert fitted[COUNTS] == pytest.approx(weight, abs=0.2)
    assert fitted[0] == pytest.approx(1.0, abs=0.2)
    assert fitted[ORDER] == pytest.approx(0.0, abs=0.15), "it was drawn by nothing"


def test_what_is_the_same_for_every_plan_of_a_question_keeps_to_the_start() -> None:
    start = only_chance()
    start[WORDS], start[-1] = 0.7, -3.0
    fitted = fit_choice(planted(1.5, questions=200), start)
    assert fitted[WORDS] == 0.7
    assert fitted[-1] == -3.0


def test_few_questions_move_a_weight_less_than_many() -> None:
    few, many = (fit_choice(planted(1.5, questions=n), only_chance())[COUNTS] for n in (5, 1500))
    assert 0 < few < many


def test_questions_that_tell_nothing_leave_everything_as_it_was() -> None:
    numbers = np.random.default_rng(0).normal(size=(3, len(CHOICE)))
    nothing = [
        (numbers, np.zeros(3, dtype=bool)),
        (numbers, np.ones(3, dtype=bool)),
        (np.zeros((0, len(CHOICE))), np.zeros(0, dtype=bool)),
    ]
    for examples in ([], nothing):
        assert fit_choice(examples, starting_choice()).tolist() == starting_choice().tolist()


def test_the_labelled_plan_alone_is_right_and_none_where_the_schema_cannot_say_it(
    answerer: Answerer, lesson_source: Source
) -> None:
    question = next(q for q in lesson_source.questions if q.text == "what grows in clay")
    chosen = answerer.chosen(question.text)
    assert question.plan is not None
    right = right_options(chosen, question)
    assert [canonical(chosen.options[i].plan) for i in np.flatnonzero(right)] == [canonical(question.plan)]
    cannot = right_options(chosen, Question(question.text, None))
    assert cannot.tolist() == [one.ending.none for one in chosen.options]
    assert right_options(Chosen((), np.zeros((0, len(CHOICE)))), question).shape == (0,)
