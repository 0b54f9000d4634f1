"""The tree of errors that a caller may meet.

::

    QueryPlanError                 everything of ours; one sentence, and what to do next
    ├── UserError                  a wrong command, file, name or setting: exit code 2
    │   ├── DataError              a labelled file, a card or a store that cannot be read
    │   ├── ConfigError            a setting, key or model name
    │   │   └── RefusedError       one that only the endpoint finds wrong, once it is asked
    │   └── WeightsError           model weights that are missing or not the ones expected
    ├── SourcePlanError            the source planner was called without what it plans from
    │   ├── NoIntentsError         without a kind of information that is wanted
    │   └── NoHypothesesError      without a reasoning structure
    ├── ProgramError               a compiled program that cannot be loaded or trusted
    └── LMError                    a language model that did not answer as it must

``planner.plan()`` raises none of them for any input text: it returns a degraded plan instead.
"""

from __future__ import annotations


class QueryPlanError(Exception):
    """Base of every error that queryplan raises on purpose."""


class UserError(QueryPlanError):
    """What the user gave cannot be used; the message says what to change."""


class DataError(UserError):
    """A labelled set, card or store cannot be read."""


class ConfigError(UserError):
    """A setting, key or model name is missing or wrong."""


class RefusedError(ConfigError):
    """An endpoint refused the key, the account or the name of the model."""


class WeightsError(UserError):
    """Model weights are missing or are not the file that was expected."""


class SourcePlanError(QueryPlanError):
    """The source planner was called without what it plans from."""


class NoIntentsError(SourcePlanError):
    """There is no intent to plan for."""


class NoHypothesesError(SourcePlanError):
    """There is no reasoning structure to plan within."""


class ProgramError(QueryPlanError):
    """A compiled program is missing, altered or of another version."""


class LMError(QueryPlanError):
    """A language model is unreachable or did not answer as it must."""
