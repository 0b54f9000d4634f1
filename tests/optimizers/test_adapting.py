"""Learning how MiniLM is adapted: what rows teach, and, where PyTorch is installed, that they teach it."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from queryplan.data.domain import Domain, load_domain
from queryplan.errors import ConfigError
from queryplan.optimizers import adapting
from queryplan.optimizers.adapting import Example, adapt_minilm, alone_labels, examples_of, typed_labels
from queryplan.program.heads import minilm
from queryplan.program.heads.adapter import Adapter, load_adapter
from queryplan.program.heads.encoders import encoder_named
from queryplan.program.heads.minilm import PLAIN
from queryplan.program.heads.onnx_cut import cut_off

needs_minilm = pytest.mark.skipif(bool(minilm.missing_packages()), reason="the extra `minilm` is not installed")
KINDS = ("query_commits", "query_issues")


class Letters:
    """Tokens of a text for tests: the numbers of its letters."""

    def tokens(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]


@pytest.fixture(scope="module")
def railway(root: Path) -> Domain:
    return load_domain(root / "data/domains/lenders/railway", splits=("train",))


def test_a_row_teaches_what_is_alike_everywhere_and_what_is_its_domains_own(root: Path) -> None:
    rows = load_domain("engineering", splits=("dev",)).rows("dev")
    ours = next(row for row in rows if row.gold and row.gold.source_intents and not row.history)
    labels = alone_labels(ours, "engineering", KINDS)
    assert {"relevance engineering", "complexity", "intent", "needs_decomposition"} < set(labels)
    assert {name for name in labels if name.startswith("kinds")} == {f"kinds engineering {kind}" for kind in KINDS}
    stranger = next(row for row in rows if not row.labels.is_relevant)
    assert alone_labels(stranger, "engineering", KINDS) == {"relevance engineering": "False"}


def test_a_later_turn_teaches_what_it_is_as_typed(railway: Domain) -> None:
    later = next(row for row in railway.rows("train") if row.labels.is_follow_up and row.labels.is_relevant)
    assert typed_labels(later) == {
        "typed is_follow_up": "True",
        "typed complexity": later.labels.complexity,
        "typed intent": later.labels.intent,
        "typed needs_decomposition": "true" if later.labels.needs_decomposition else "false",
    }


def test_conversations_are_held_out_whole(railway: Domain) -> None:
    rows = railway.rows("train")
    made: list[Example] = examples_of(railway, Letters(), held_out=0.3)  # type: ignore[arg-type]
    assert len(made) == len(rows) + sum(bool(row.history) for row in rows)
    out = sum(one.held_out for one in made) / len(made)
    assert 0.15 < out < 0.45
    assert not any(one.held_out for one in examples_of(railway, Letters()))  # type: ignore[arg-type]
    of_rows = [n for row in rows for n in [row.conversation] * (1 + bool(row.history))]
    by_conversation: dict[str, set[bool]] = {}
    for name, one in zip(of_rows, made, strict=True):
        by_conversation.setdefault(name, set()).add(one.held_out)
    assert all(len(which) == 1 for which in by_conversation.values())


def test_a_batch_has_texts_of_about_one_length_and_none_is_lost() -> None:
    examples = [Example(tuple(range(1 + n % 30)), {"t": str(n)}, "d") for n in range(1000)]
    batches = list(adapting._batches(examples, random.Random(0)))
    assert sorted(int(one.labels["t"]) for batch in batches for one in batch) == list(range(1000))
    spread = [max(len(one.tokens) for one in batch) - min(len(one.tokens) for one in batch) for batch in batches]
    assert np.mean(spread) < 4


def test_the_pace_rises_and_falls_and_never_ends() -> None:
    pace = [adapting._pace(step, 1000) for step in range(1000)]
    assert pace[0] < 0.05
    assert 0.9 < max(pace) <= 1
    assert pace[-1] == pytest.approx(0.02)
    assert np.argmax(pace) < 100


def test_without_pytorch_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r"needs PyTorch; run: pip install 'queryplan\[adapt\]'"):
        adapt_minilm(tmp_path / "a.safetensors")
    assert not list(tmp_path.iterdir())


@needs_minilm
def test_before_learning_the_module_gives_the_vectors_of_the_runtime() -> None:
    torch = pytest.importorskip("torch")
    from queryplan.optimizers.sentence_model import LENGTH, Sentences

    plain: Any = encoder_named(PLAIN)
    sentences = Sentences(plain.weights(), rank=2).eval()
    texts = ["why?", "what did she say about the flood of 1931, and who was there"]
    some = [Example(tuple(plain.tokens(text)), {}, "d") for text in texts]
    with torch.no_grad():
        vectors = sentences(*adapting._padded(some)).numpy() / LENGTH
    np.testing.assert_allclose(vectors, plain.encode(texts), atol=1e-4)


@needs_minilm
def test_the_runtime_computes_with_changes_what_the_module_does(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from queryplan.optimizers.sentence_model import LENGTH, Sentences

    plain: Any = encoder_named(PLAIN)
    torch.manual_seed(0)
    sentences = Sentences(plain.weights(), rank=2).eval()
    with torch.no_grad():
        for values in sentences.parameters():
            values += 0.06 * torch.randn_like(values)
    adapter = Adapter(plain.fingerprint(), sentences.changes(), "")
    runtime = pytest.importorskip("onnxruntime")
    changed = minilm.MiniLm(name=PLAIN)
    changed.__dict__["_session"] = runtime.InferenceSession(cut_off(adapter.adapted(plain.weights()), minilm.LAYER))
    texts = ["why?", "what did she say about the flood of 1931, and who was there"]
    some = [Example(tuple(plain.tokens(text)), {}, "d") for text in texts]
    with torch.no_grad():
        vectors = sentences(*adapting._padded(some)).numpy() / LENGTH
    np.testing.assert_allclose(vectors, changed.encode(texts), atol=5e-3)
    assert np.abs(vectors - plain.encode(texts)).max() > 0.05


@needs_minilm
def test_rows_teach_an_adapter_of_the_installed_model(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(adapting, "lending_folders", lambda: [root / "data/domains/lenders/railway"])
    steps: list[tuple[int, int]] = []
    path = tmp_path / "new" / "a.safetensors"
    found = adapt_minilm(path, held_out=0.3, rounds=12, report=lambda done, of: steps.append((done, of)))
    assert found["railway"] > 0.25
    assert steps[-1] == (len(steps), len(steps))
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    adapter = load_adapter(path)
    assert adapter.changes == encoder_named(PLAIN).fingerprint()
    assert all(np.abs(values).max() > 0 for name, values in adapter.tensors.items() if name.endswith(".up"))


@pytest.mark.parametrize(("rounds", "held_out"), [(0, 0.0), (1, 1.0), (1, -0.1)])
def test_arguments_that_make_no_sense_are_refused(tmp_path: Path, rounds: int, held_out: float) -> None:
    pytest.importorskip("torch")
    with pytest.raises(ConfigError, match="at least one round"):
        adapt_minilm(tmp_path / "a.safetensors", rounds=rounds, held_out=held_out)


def test_a_file_that_cannot_be_written_is_said_before_learning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "a.safetensors", tmp_path / "folder"):
        with pytest.raises(ConfigError, match=r"cannot be written \(\w+\); give another --out"):
            adapting._write(path, b"")
    adapting._write(tmp_path / "a", b"")
    assert not (tmp_path / "a").exists()


def test_a_long_text_keeps_its_end() -> None:
    assert adapting._cut(range(5)) == (0, 1, 2, 3, 4)
    assert adapting._cut(range(100)) == (*range(adapting.LONGEST - 1), 99)
