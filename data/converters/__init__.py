"""Converters of public labelled sets to folders that ``load_domain`` reads; the data themselves are not shipped.

Each converter says which labels its set has, how each is derived, and which it has not; the folder it writes repeats
that in ``labels.json`` and ``SOURCE.md``.
"""

from __future__ import annotations

from .base import Converter, Summary
from .break_qdmr import BreakQdmr
from .canard import Canard
from .clinc150 import Clinc150
from .hetionet import Hetionet
from .metaqa import MetaQa
from .mtrag import MtRag
from .strategyqa import StrategyQa
from .trec_cast import TrecCast

__all__ = ["CONVERTERS", "Converter", "Summary"]

_ALL: tuple[Converter, ...] = (
    BreakQdmr(),
    Canard(),
    Clinc150(),
    Hetionet(),
    MetaQa(),
    MtRag(),
    StrategyQa(),
    TrecCast(),
)

CONVERTERS: dict[str, Converter] = {converter.name: converter for converter in _ALL}
