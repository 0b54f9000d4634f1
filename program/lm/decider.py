"""Decision clients: objects that answer DSPy's decision requests with probabilities.

``TokenProbabilityClient`` asks each question for one token and reads the probabilities of the legal
answer words. ``VerbalClient`` is for endpoints that do not give token probabilities.
"""

from __future__ import annotations

import asyncio
import copy
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any

from dspy import lm15
from dspy.utils.callback import with_callbacks

from ...errors import LMError
from .engine import JournaledLM
from .prompt import ChatPrompt, Option, build, options_of

_SMALLEST = 1e-12

Tokenizer = Callable[[str], list[int]]
State = Mapping[str, Any]
Questions = Mapping[str, Mapping[str, Any]]


_missed: ContextVar[dict[str, str] | None] = ContextVar("queryplan_missed", default=None)


class UnansweredError(LMError):
    """The model gave none of the legal answers to a question."""


Answer = dict[str, Any] | UnansweredError


@contextmanager
def unanswered() -> Iterator[dict[str, str]]:
    """The questions in this block that were not answered although others of their request were, and why.

    In DSPy's prediction all answers to such a question are equally likely.
    """
    missed: dict[str, str] = {}
    token = _missed.set(missed)
    try:
        yield missed
    finally:
        _missed.reset(token)


class _Client(ABC):
    """The base of both clients: one chat request for each question, all of them in flight together.

    ``cache``, ``callbacks``, ``history`` and ``model`` are what DSPy expects of a language model.
    Keys and addresses stay inside the LM, so a saved program never holds them.
    """

    supports_decision_requests = True

    def __init__(
        self,
        lm: JournaledLM,
        *,
        tokenizer: Tokenizer | None = None,
        parallel: int = 8,
        callbacks: Sequence[Any] = (),
    ) -> None:
        """Bind the client to an opened language model.

        Args:
            lm: where the requests go; its journal and its retries are used.
            tokenizer: token ids of a word by the server's own tokenizer, where there is one.
            parallel: questions of one request in flight together.
            callbacks: DSPy callbacks, called for each decision request.
        """
        self._lm = lm
        self._tokenizer = tokenizer
        self._parallel = parallel
        self.model = lm.model
        self.cache = False
        self.callbacks = list(callbacks)
        self.kwargs: dict[str, Any] = {}

    @property
    def history(self) -> list[dict[str, Any]]:
        """DSPy's record of the chat requests behind the decisions."""
        return self._lm.history

    @with_callbacks
    def __call__(self, state: State, questions: Questions) -> dict[str, dict[str, Any]]:
        """One answer for each question.

        Raises:
            LMError: the endpoint failed, or did not answer as it must; an `UnansweredError` where it gave no question
                any of its answers. One that was not answered beside others is noted, see `unanswered`.
        """
        if len(questions) == 1:
            return _answers({name: self._try(build(state, name, q), q) for name, q in questions.items()}, questions)
        with ThreadPoolExecutor(min(self._parallel, len(questions))) as pool:
            futures = {
                # The context carries DSPy's settings, and in them the meters, into the thread.
                name: pool.submit(copy_context().run, self._try, build(state, name, q), q)
                for name, q in questions.items()
            }
            return _answers({name: future.result() for name, future in futures.items()}, questions)

    @with_callbacks
    async def acall(self, state: State, questions: Questions) -> dict[str, dict[str, Any]]:
        """The same, on the running event loop."""
        asked = (self._atry(build(state, name, q), q) for name, q in questions.items())
        return _answers(dict(zip(questions, await asyncio.gather(*asked), strict=True)), questions)

    def _try(self, prompt: ChatPrompt, question: Mapping[str, Any]) -> Answer:
        try:
            return self._ask(prompt, question)
        except UnansweredError as error:
            return error

    async def _atry(self, prompt: ChatPrompt, question: Mapping[str, Any]) -> Answer:
        try:
            return await self._aask(prompt, question)
        except UnansweredError as error:
            return error

    @abstractmethod
    def _ask(self, prompt: ChatPrompt, question: Mapping[str, Any]) -> dict[str, Any]: ...

    @abstractmethod
    async def _aask(self, prompt: ChatPrompt, question: Mapping[str, Any]) -> dict[str, Any]: ...

    def check_answer_words(self, questions: Questions) -> None:
        """Refuse answer words that this client could not tell apart.

        Raises:
            LMError: naming the word.
        """
        for question in questions.values():
            check_distinct(options_of(question))

    def copy(self, **kwargs: Any) -> _Client:
        """A client on the same connection; the LM's settings named in ``kwargs`` change.

        ``rollout_id`` and ``temperature`` do nothing: a probability is the same each time.
        """
        other = copy.copy(self)
        other.callbacks = list(kwargs.pop("callbacks", self.callbacks))
        ignored = {"rollout_id", "temperature", "cache"}
        other._lm = self._lm.copy(**{k: v for k, v in kwargs.items() if k not in ignored})
        return other

    def dump_state(self) -> dict[str, Any]:
        """The model's name; clients are bound in code and never loaded from a file."""
        return {"model": self.model}

    def __deepcopy__(self, memo: dict[int, Any]) -> _Client:
        """The same client: optimizers copy programs, and connections are not copied with them."""
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"


class TokenProbabilityClient(_Client):
    """Decisions from the probabilities of one token.

    Each question is asked for one token at temperature 0. The probabilities of the legal answer
    words are taken from the most likely tokens and divided by their sum; a word that is not among
    them counts as the least likely one that is. Where none is among them, nothing was answered.
    """

    def __init__(self, lm: JournaledLM, *, top: int = 20, **kwargs: Any) -> None:
        """As the base.

        Args:
            top: tokens to list, as many as the endpoint allows: 20 at OpenAI, any number in llama.cpp.
        """
        super().__init__(lm, **kwargs)
        self._top = top

    def check_answer_words(self, questions: Questions) -> None:
        """Refuse answer words that are not one token each, all different.

        Raises:
            LMError: naming the word.
        """
        super().check_answer_words(questions)
        if self._tokenizer is None:
            return
        for question in questions.values():
            check_tokens(options_of(question), self._tokenizer)

    def _ask(self, prompt: ChatPrompt, question: Mapping[str, Any]) -> dict[str, Any]:
        return self._answer(self._lm(self._request(prompt)), question)

    async def _aask(self, prompt: ChatPrompt, question: Mapping[str, Any]) -> dict[str, Any]:
        return self._answer(await self._lm.acall(self._request(prompt)), question)

    def _request(self, prompt: ChatPrompt) -> lm15.Request:
        return chat_request(self.model, prompt, lm15.Config(max_tokens=1, temperature=0.0, logprobs=self._top))

    def _answer(self, response: lm15.Response, question: Mapping[str, Any]) -> dict[str, Any]:
        if not response.logprobs or not response.logprobs[0].top:
            raise LMError(f"{self.model} answered without token probabilities; use a VerbalClient for it.")
        listed = [(t.token, t.logprob) for t in response.logprobs[0].top]
        options = options_of(question)
        probabilities = word_probabilities(listed, options)
        if not probabilities:
            raise _unanswered(self.model, options)
        return answer_for(question, probabilities)


class VerbalClient(_Client):
    """Decisions from a written label, for endpoints without token probabilities.

    The model writes one of the answer words, constrained by a JSON schema where the endpoint can.
    The written label gets ``reliability`` and the others share the rest, since a model's own statement of confidence is
    arbitrary. That number is the same for every question; what the label is worth beside a head's is fitted on ``dev``.
    """

    def __init__(self, lm: JournaledLM, *, reliability: float = 0.9, max_tokens: int = 20, **kwargs: Any) -> None:
        """As the base.

        Args:
            reliability: how often a written label is assumed to be right, between 0 and 1.
            max_tokens: tokens to write, with the JSON around the word.
        """
        super().__init__(lm, **kwargs)
        self._reliability = reliability
        self._max_tokens = max_tokens

    def _ask(self, prompt: ChatPrompt, question: Mapping[str, Any]) -> dict[str, Any]:
        options = options_of(question)
        for request in self._requests(prompt, options):
            label = written_label(response_text(self._lm(request)), options)
            if label is not None:
                return self._answer(label, question, options)
        raise _unanswered(self.model, options)

    async def _aask(self, prompt: ChatPrompt, question: Mapping[str, Any]) -> dict[str, Any]:
        options = options_of(question)
        for request in self._requests(prompt, options):
            label = written_label(response_text(await self._lm.acall(request)), options)
            if label is not None:
                return self._answer(label, question, options)
        raise _unanswered(self.model, options)

    def _requests(self, prompt: ChatPrompt, options: Sequence[Option]) -> Iterable[lm15.Request]:
        """The request, and the one retry that says the legal words once more."""
        words = [o.word for o in options]
        config = lm15.Config(max_tokens=self._max_tokens, temperature=0.0, response_format=self._format(words))
        yield chat_request(self.model, prompt, config)
        reminder = f"{prompt.user}\n\nAnswer with exactly one of: {', '.join(words)}."
        yield chat_request(self.model, prompt._replace(user=reminder), config)

    def _format(self, words: list[str]) -> dict[str, Any] | None:
        if not self._lm.supports_response_schema:
            return None
        schema = {
            "type": "object",
            "properties": {"answer": {"type": "string", "enum": words}},
            "required": ["answer"],
            "additionalProperties": False,
        }
        return {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}

    def _answer(self, label: str, question: Mapping[str, Any], options: Sequence[Option]) -> dict[str, Any]:
        rest = (1 - self._reliability) / max(len(options) - 1, 1)
        return answer_for(question, {o.label: self._reliability if o.label == label else rest for o in options})


def _answers(found: Mapping[str, Answer], questions: Questions) -> dict[str, dict[str, Any]]:
    """The answers, with even probabilities, which are no opinion, for unanswered questions."""
    missed = {name: answer for name, answer in found.items() if isinstance(answer, UnansweredError)}
    if missed and len(missed) == len(found):
        raise next(iter(missed.values()))
    if (noted := _missed.get()) is not None:
        noted.update({name: str(error) for name, error in missed.items()})
    return {name: even_answer(questions[name]) if isinstance(a, UnansweredError) else a for name, a in found.items()}


def even_answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a decision question in which every label is equally likely."""
    options = options_of(question)
    return answer_for(question, {option.label: 1 / len(options) for option in options})


def _unanswered(model: str, options: Sequence[Option]) -> UnansweredError:
    return UnansweredError(f"{model} gave none of the answers {', '.join(o.word for o in options)}.")


def chat_request(model: str, prompt: ChatPrompt, config: lm15.Config) -> lm15.Request:
    """The prompt as a request of DSPy's native engine."""
    turns = [m for user, word in prompt.examples for m in (lm15.Message.user(user), lm15.Message.assistant(word))]
    messages = (*turns, lm15.Message.user(prompt.user))
    return lm15.Request(model=model, messages=messages, system=prompt.system, config=config)


def word_probabilities(listed: Sequence[tuple[str, float]], options: Sequence[Option]) -> dict[str, float]:
    """Probability of each label among the legal ones, from (token, log-probability) pairs.

    Spellings of a word that differ in case or in space around it add up. A word that was not listed
    whole takes the longest token that begins it and no other word; failing that, the smallest
    probability listed, which bounds it from above. Empty where no word is listed, not even its beginning.
    """
    top = max(logprob for _, logprob in listed)
    weights = [(token.strip().casefold(), math.exp(logprob - top)) for token, logprob in listed]
    # OpenAI gives -9999 for what it does not list, whose weight would be 0.
    floor = max(min(weight for _, weight in weights), _SMALLEST)
    words = {o.label: o.word.casefold() for o in options}
    found = {label: _weight(word, weights, words.values()) for label, word in words.items()}
    if not any(found.values()):
        return {}
    found = {label: weight or floor for label, weight in found.items()}
    total = math.fsum(found.values())
    return {label: weight / total for label, weight in found.items()}


def _weight(word: str, weights: Sequence[tuple[str, float]], words: Iterable[str]) -> float:
    whole = math.fsum(w for token, w in weights if token == word)
    if whole > 0:
        return whole
    others = [w for w in words if w != word]
    # One letter begins too many words to mean this one.
    starts = [t for t, _ in weights if len(t) > 1 and word.startswith(t) and not any(o.startswith(t) for o in others)]
    longest = max(starts, key=len, default=None)
    return math.fsum(w for token, w in weights if token == longest)


def answer_for(question: Mapping[str, Any], probabilities: dict[str, float]) -> dict[str, Any]:
    """The answer in the form DSPy decodes, by the question's type."""
    if question["type"] == "noul":
        return {"noul": probabilities["true"]}
    best = max(probabilities, key=lambda label: probabilities[label])
    return {"choice": best, "confidence": probabilities[best], "probabilities": probabilities}


def written_label(text: str, options: Sequence[Option]) -> str | None:
    """The label whose answer word the model wrote, as JSON or plainly; None when it is none of them."""
    try:
        data = json.loads(text)
    except ValueError:
        data = text
    word = data.get("answer") if isinstance(data, dict) else data
    said = str(word).strip().strip(".\"'*` ").casefold()
    return next((o.label for o in options if o.word.casefold() == said), None)


def response_text(response: lm15.Response) -> str:
    """What the model wrote; JSON that the engine parsed is JSON text again."""
    parts = response.message.parts
    return "".join(
        p.text if isinstance(p, lm15.TextPart) else json.dumps(p.value)
        for p in parts
        if isinstance(p, (lm15.TextPart, lm15.DataPart))
    )


def check_distinct(options: Sequence[Option]) -> None:
    """Refuse two answers asked by the same word.

    Raises:
        LMError: naming the word.
    """
    words = [o.word.casefold() for o in options]
    for word in words:
        if words.count(word) > 1:
            raise LMError(f"The answer word {word!r} stands for two labels; give each its own word.")


def check_tokens(options: Sequence[Option], tokenizer: Tokenizer) -> None:
    """Refuse answer words that are not one token each, all different.

    Raises:
        LMError: naming the word.
    """
    seen: dict[int, str] = {}
    for option in options:
        ids = tokenizer(option.word)
        if len(ids) != 1:
            raise LMError(
                f"The answer word {option.word!r} of {option.label!r} is {len(ids)} tokens for this model; "
                "choose a word that is one."
            )
        if ids[0] in seen:
            raise LMError(f"The answer words {seen[ids[0]]!r} and {option.word!r} are the same token; change one.")
        seen[ids[0]] = option.word
