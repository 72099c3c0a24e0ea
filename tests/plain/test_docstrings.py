"""What is read out of a docstring."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.workflow.plain.docstrings import Documentation, read_docstring

GOOGLE = """Lend a book.

    It must be brought back.

    Args:
        title (str): the title,
            as it is printed
        copies: how many: one, as a rule
        **extra: whatever else

    Returns:
        A sentence.

    Raises:
        ValueError: if there is none

    Examples:
        - lend me a book
        "I want to borrow a novel"
    """

NUMPY = """Lend a book.

    It must be brought back.

    Parameters
    ----------
    title : str
        the title,
        as it is printed
    copies, extra : int, optional
        how many

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    lend me a book
    I want to borrow a novel
    """

FIELDS = """Lend a book.

    It must be brought back.

    :param str title: the title,
        as it is printed
    :param copies: how many
    :type copies: int
    :returns: a sentence
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, FIELDS])
def test_each_style_gives_the_description_and_the_parameters(text: str) -> None:
    read = read_docstring(text)
    assert read.description == "Lend a book.\n\nIt must be brought back."
    assert read.summary == "Lend a book."
    assert read.parameters["title"] == "the title, as it is printed"
    assert read.parameters["copies"].startswith("how many")


def test_names_are_read_without_types_and_stars() -> None:
    assert read_docstring(GOOGLE).parameters.keys() == {"title", "copies", "extra"}
    assert read_docstring(NUMPY).parameters.keys() == {"title", "copies", "extra"}
    assert read_docstring(FIELDS).parameters.keys() == {"title", "copies"}
    assert read_docstring(GOOGLE).parameters["copies"] == "how many: one, as a rule"


@pytest.mark.parametrize("text", [GOOGLE, NUMPY])
def test_examples_are_sentences_that_mean_the_command(text: str) -> None:
    assert read_docstring(text).examples == ("lend me a book", "I want to borrow a novel")


def test_a_doctest_is_no_sentence() -> None:
    text = "Add.\n\nExamples:\n    >>> add(1, 2)\n    3\n\n    add two numbers\n"
    assert read_docstring(text).examples == ("add two numbers",)


def test_text_after_a_section_of_googles_belongs_to_the_description() -> None:
    assert read_docstring("Add.\n\nArgs:\n    a: one\nMind the gap.").description == "Add.\n\nMind the gap."


def test_a_word_that_only_looks_like_a_section_stays() -> None:
    assert read_docstring("Add.\n\nNote that: it adds.").description == "Add.\n\nNote that: it adds."
    assert read_docstring("Examples").description == "Examples"


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_docstring_says_nothing(text: str | None) -> None:
    assert read_docstring(text) == Documentation()


@given(st.text(alphabet=st.sampled_from("ab:*-= \n\t>Args:Examples:Parameters\n---\n:param x"), max_size=200))
def test_no_text_is_too_strange_to_read(text: str) -> None:
    read = read_docstring(text)
    assert all(name.isidentifier() for name in read.parameters)
    assert all(example.strip() == example and example for example in read.examples)


_WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=6).map(" ".join)
_DESCRIBED = st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,7}", fullmatch=True), _WORDS, min_size=1, max_size=4)


@given(summary=_WORDS, described=_DESCRIBED)
def test_the_three_styles_say_the_same(summary: str, described: dict[str, str]) -> None:
    google = f"{summary}.\n\nArgs:\n" + "".join(f"    {name}: {text}\n" for name, text in described.items())
    numpy = f"{summary}.\n\nParameters\n----------\n" + "".join(f"{n} : int\n    {t}\n" for n, t in described.items())
    fields = f"{summary}.\n\n" + "".join(f":param {name}: {text}\n" for name, text in described.items())
    wanted = Documentation(f"{summary}.", described)
    assert read_docstring(google) == read_docstring(numpy) == read_docstring(fields) == wanted
