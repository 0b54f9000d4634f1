"""Words that questions are made of, whatever they are about, in many languages: asking words, pronouns, prepositions.

A file of ``domains/function-words`` has those of one language, a line for each of the same English words. After a tab
stand the words and phrases of up to four words that are typed for it, the most usual first, between semicolons::

    how many    wie viele; wieviele; wie viel
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..errors import DataError
from .other_words import BETWEEN

FOLDER = Path(__file__).parent / "domains" / "function-words"


def languages_with_function_words(folder: Path = FOLDER) -> tuple[str, ...]:
    """The languages that have a file, as language codes in alphabetical order."""
    return tuple(sorted(file.stem for file in folder.glob("*.tsv")))


def read_function_words(language: str, folder: Path = FOLDER) -> Iterator[tuple[str, list[str]]]:
    """Each English word with what is typed for it in a language, in small letters; nothing where it says it otherwise.

    Raises:
        DataError: the file is missing or cannot be read, or a line has no tab.
    """
    file = folder / f"{language}.tsv"
    try:
        for line in file.read_text(encoding="utf-8").splitlines():
            english, typed = line.split("\t")
            yield english, [one for one in typed.split(BETWEEN) if one]
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise DataError(f"{file.name} of the package cannot be read ({error}); install it again") from error
