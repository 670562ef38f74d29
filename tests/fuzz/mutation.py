"""Damage: a valid file in, a file that may be anything out."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable
from random import Random

from fuzz.samples import Sample

GZIP = b"\x1f\x8b"
NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]
WORDS = ["nan", "inf", "-1", "1e999", "0" * 400, "", "\0", "\udcff", "\t", "\n", *"\", {'():;[]"]


def flipped(content: bytearray, random: Random, other: bytes) -> None:
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)


def overwritten(content: bytearray, random: Random, other: bytes) -> None:
    at, size = random.randrange(len(content)), random.choice((1, 2, 4, 8, 32, 256))
    content[at : at + size] = random.randbytes(size)


def numbered(content: bytearray, random: Random, other: bytes) -> None:
    """A number that a length or a place could be, where one could stand."""
    size, at = random.choice((1, 2, 4, 8)), random.randrange(len(content))
    value = random.choice(NUMBERS) % (1 << 8 * size)
    content[at : at + size] = value.to_bytes(size, random.choice(("little", "big")))


def cut(content: bytearray, random: Random, other: bytes) -> None:
    del content[random.randrange(len(content)) :]


def shortened(content: bytearray, random: Random, other: bytes) -> None:
    at = random.randrange(len(content))
    del content[at : at + random.choice((1, 2, 8, 64, 1024))]


def repeated(content: bytearray, random: Random, other: bytes) -> None:
    at, size = random.randrange(len(content)), random.choice((1, 8, 64, 512))
    content[at:at] = content[at : at + size] * random.choice((1, 2, 50))


def spliced(content: bytearray, random: Random, other: bytes) -> None:
    at, start = random.randrange(len(content)), random.randrange(len(other))
    content[at : at + 64] = other[start : start + random.choice((8, 64, 512))]


def worded(content: bytearray, random: Random, other: bytes) -> None:
    word = random.choice(WORDS).encode("utf-8", "surrogatepass")
    at = random.randrange(len(content))
    content[at : at + random.choice((0, 1, 3))] = word


MUTATIONS: list[Callable[[bytearray, Random, bytes], None]] = [
    flipped,
    overwritten,
    numbered,
    cut,
    shortened,
    repeated,
    spliced,
]


def mutated(sample: Sample, others: list[Sample], random: Random) -> bytes:
    """The bytes of a sample after a few mutations; those of an archive or of packed parts are damaged inside as well."""
    if sample.is_zip and random.random() < 0.6:
        return _inside_zip(sample.content, others, random)
    content = bytearray(sample.content)
    if content.startswith(GZIP) and random.random() < 0.6:
        return gzip.compress(bytes(_damaged(bytearray(gzip.decompress(content)), True, others, random)), mtime=0)
    if random.random() < 0.3:
        content = _inside_zlib(content, others, random)
    return bytes(_damaged(content, sample.is_text, others, random))


def _damaged(content: bytearray, is_text: bool, others: list[Sample], random: Random) -> bytearray:
    ways = [*MUTATIONS, worded, worded, worded] if is_text else MUTATIONS
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if content:
            random.choice(ways)(content, random, random.choice(others).content)
    return content


def _inside_zip(content: bytes, others: list[Sample], random: Random) -> bytes:
    """The archive with one of its members damaged, and its sums made to fit again."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    victim = random.choice(list(members))
    members[victim] = bytes(_damaged(bytearray(members[victim]), random.random() < 0.3, others, random))
    with zipfile.ZipFile(out, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


def _inside_zlib(content: bytearray, others: list[Sample], random: Random) -> bytearray:
    """The file with one of its packed parts (MATLAB's, HDF5's) unpacked, damaged and packed again, if it has any."""
    starts = [found.start() for found in re.finditer(rb"x[\x01\x5e\x9c\xda]", content)]
    for at in random.sample(starts, len(starts)):
        unpack = zlib.decompressobj()
        try:
            inner = unpack.decompress(bytes(content[at:]), 1 << 20)
        except zlib.error:
            continue
        size = len(content) - at - len(unpack.unused_data)
        content[at : at + size] = zlib.compress(bytes(_damaged(bytearray(inner), False, others, random)))
        break
    return content
