"""The role of each name in a question, from the words around it.

"Other than X" and "besides X" exclude X; "does Y treat X" asks whether X is among what is reached. Which words say so
is learned from every labelled question with more than one name, whatever its schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..ranking.pool import COMBINES, Pool

ROLES = ("start", "bare", "excluded", "taken")
"""What a plan does with a name: ``start`` follows edges from it, ``bare`` compares the name itself with what is reached
from others, ``excluded`` takes the name itself away, and ``taken`` takes away what is reached from it."""
AROUND = 3


@dataclass(frozen=True)
class RoleWeights:
    """Log-linear weights of roles: ``grams`` has sorted n-gram hashes, ``table`` the weights, shape (roles, grams)."""

    grams: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))
    table: np.ndarray = field(default_factory=lambda: np.zeros((len(ROLES), 0), dtype=np.float32))


def context_of(masked: Sequence[str], place: int, names: Sequence[int]) -> set[str]:
    """Features of a name's role: the words around it, and whether it is the first name, the last, or an inner one.

    Args:
        masked: the question's words, each name masked as one.
        place: the name's place among them.
        names: the places of all names.
    """
    before = [masked[i] for i in range(max(0, place - AROUND), place)][::-1]
    after = [masked[i] for i in range(place + 1, min(len(masked), place + 1 + AROUND))]
    found = {""} | {f"<{' '.join(before[:n][::-1])}" for n in range(1, len(before) + 1)}
    found |= {f">{' '.join(after[:n])}" for n in range(1, len(after) + 1)}
    found |= {f"~{word}" for word in (*before, *after)} | {f"^{masked[0]}"}
    order = sorted(names)
    return found | {f"#{'first' if place == order[0] else 'last' if place == order[-1] else 'inner'}"}


def roles_told(pool: Pool, told: np.ndarray, bare: np.ndarray) -> np.ndarray:
    """The log-probability of the roles that its names have in each candidate, shape (n,).

    Args:
        told: log-probability of each role for each mention, shape (mentions, roles).
        bare: whether no edge is followed from the names of each group, shape (groups, n).
    """
    difference = pool.combine == COMBINES.index("difference")
    total = np.zeros(len(pool))
    for number, group in enumerate(pool.groups):
        for place, mention in enumerate(group.places):
            later = number > 0 or (pool.separate and place > 0)
            taken = difference & later
            role = np.where(bare[number], np.where(taken, 2, 1), np.where(taken, 3, 0))
            total += told[mention][role]
    return total
