"""The table is the one that was distilled, and sentences come out of it as they should."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from greenroom.workflow.routing.table import TABLE, load_table
from greenroom.workflow.routing.wordpiece import LONGEST_WORD, MOST_WORDS, pieces_of, words_in


def test_the_table_is_the_one_that_was_distilled() -> None:
    digest = hashlib.sha256(TABLE.read_bytes()).hexdigest()
    assert digest == "89e26a6220b636910ab920941948cbedbbc8507c5f342e8e42582476f6f08f1d"


def test_the_table_has_a_row_for_every_piece_and_a_scale_for_every_axis() -> None:
    table = load_table()
    assert table.packed.shape == (27558, 128)
    assert table.packed.dtype == np.uint8
    assert table.scale.shape == (256,)
    assert len(table.vocabulary) == 27558
    assert (table.scale > 0).all()


def test_every_stored_number_is_between_minus_seven_and_seven() -> None:
    packed = load_table().packed
    assert min(int((packed & 15).min()), int((packed >> 4).min())) == 1


def test_a_sentence_is_a_vector_of_length_one() -> None:
    assert float(np.linalg.norm(load_table().embed(words_in("cancel my order")))) == pytest.approx(1, abs=1e-5)


def test_a_sentence_of_unknown_words_is_no_vector() -> None:
    assert not load_table().embed(words_in("щщщ 你好")).any()


def test_like_means_like() -> None:
    table = load_table()

    def likeness(one: str, other: str) -> float:
        return float(table.embed(words_in(one)) @ table.embed(words_in(other)))

    assert likeness("buy a laptop", "purchase a computer") > likeness("buy a laptop", "what is the weather") + 0.2


def test_words_are_lower_case_without_accents_or_punctuation() -> None:
    assert words_in("Où est l'Hôtel_de-VILLE?!") == ["ou", "est", "l", "hotel", "de", "ville"]


def test_scripts_without_spaces_give_a_word_per_character() -> None:
    assert words_in("取消order订单") == ["取", "消", "order", "订", "单"]


def test_a_word_is_cut_into_the_longest_known_pieces() -> None:
    vocabulary = {"un": 0, "unhappi": 1, "##ness": 2, "##happi": 3}
    assert pieces_of("unhappiness", vocabulary) == (1, 2)
    assert pieces_of("unhappyness", vocabulary) == ()
    assert pieces_of("", vocabulary) == ()


def test_long_input_is_read_up_to_a_limit() -> None:
    assert len(words_in("word " * 10_000)) == MOST_WORDS
    assert pieces_of("a" * (LONGEST_WORD + 1), {"a": 0, "##a": 1}) == ()
