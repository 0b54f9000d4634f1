"""A second tier of heads for one question, whether a query is ours: they read the whole sentence where others doubt.

Static vectors know words one by one, so "what is a good river cruise company" is near a domain that speaks of rivers.
A model of sentences knows better (``minilm.py``), at two hundred times the price. Nearly all queries are clear without
it. So a second relevance head and two looks (``looks.py``) with its vectors are asked only where the first ones leave a
doubt: they would reject the query and their looks do not agree, or they are less sure than ``DOUBT``.

On ``dev`` and ``calibrate``, with heads from ``train`` and no language model:

============  ====  ================  ====================  ================
domain        rows  looked at closer  strangers rejected    all labels right
============  ====  ================  ====================  ================
podcast       611   0.14              71 -> 92 of 132       0.642 -> 0.676
biomedical    119   0.14              14 -> 19 of 25        0.731 -> 0.756
engineering   95    0.12              9 -> 11 of 21         0.621 -> 0.642
journal       79    0.16              7 -> 7 of 17          0.620 -> 0.633
============  ====  ================  ====================  ================

As many of ours are rejected as before, 3 of 709, and no trap word of 84. Asking about every query gives the podcast
0.673 and the others 0.765, 0.642 and 0.620. MiniLM for the other labels, too, would make 0.691 of the podcast's right,
if it were asked each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .heads import HeadAnswer

RELEVANT = "is_relevant"
LOOKED_CLOSER = "after a closer look at the whole sentence"
DOUBT = 0.8
"""A relevance head that is less sure than this leaves a doubt. Chosen on the table above: from 0.6 on the same podcast
queries are right, and from 0.7 to 0.9 one more of biomedical's each."""
ROWS = 600
"""Support rows of these heads: 0.35 MB. With 1,200 as many queries are right."""


def leaves_doubt(relevance: HeadAnswer | None) -> bool:
    """Whether a closer look at a query is worth its milliseconds."""
    return relevance is not None and (relevance.withheld or relevance.confidence < DOUBT)
