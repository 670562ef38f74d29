"""Damage: a valid file in, a file that may be anything out."""

import gzip
import io
import re
import zipfile
import zlib
from random import Random

from fuzz.samples import Sample

GZIP = b"\x1f\x8b"
NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]
WORDS = ["nan", "inf", "-1", "1e999", "0" * 400, "", "\0", "\udcff", "\t", "\n", *"\", {'():;[]"]
WAYS = ["flip", "overwrite", "number", "cut", "remove", "repeat", "splice"]


def mutated(sample: Sample, others: list[Sample], random: Random) -> bytes:
    """The bytes of a sample after a few mutations; those of an archive or of packed parts are damaged inside as well."""
    content = sample.content
    if sample.is_zip and random.random() < 0.6:
        return _inside_zip(content, others, random)
    if content.startswith(GZIP) and random.random() < 0.6:
        return gzip.compress(_damaged(gzip.decompress(content), True, others, random), mtime=0)
    if random.random() < 0.3:
        content = _inside_zlib(content, others, random)
    return _damaged(content, sample.is_text, others, random)


def _damaged(before: bytes, is_text: bool, others: list[Sample], random: Random) -> bytes:
    content = bytearray(before)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if not content:
            break
        at, size = random.randrange(len(content)), random.choice((1, 2, 4, 8, 32, 256))
        part, new = content[at : at + size], b""
        match random.choice([*WAYS, "word", "word", "word"] if is_text else WAYS):
            case "flip":
                part = content[at : at + 1]
                new = bytes(byte ^ 1 << random.randrange(8) for byte in part)
            case "overwrite":
                new = random.randbytes(size)
            case "number":  # that a length or a place could be, where one could stand
                part = part[:8]
                new = (random.choice(NUMBERS) % (1 << 8 * len(part))).to_bytes(len(part), random.choice(("little", "big")))
            case "cut":
                part = content[at:]
            case "repeat":
                new = bytes(part) * random.choice((2, 3, 50))
            case "splice":
                other = random.choice(others).content
                start = random.randrange(len(other))
                new = other[start : start + random.choice((8, 64, 512))]
            case "word":
                part, new = part[: random.choice((0, 1, 3))], random.choice(WORDS).encode("utf-8", "surrogatepass")
        content[at : at + len(part)] = new
    return bytes(content)


def _inside_zip(content: bytes, others: list[Sample], random: Random) -> bytes:
    """The archive with one of its members damaged, and its sums made to fit again."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    victim = random.choice(list(members))
    members[victim] = _damaged(members[victim], random.random() < 0.3, others, random)
    with zipfile.ZipFile(out, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


def _inside_zlib(content: bytes, others: list[Sample], random: Random) -> bytes:
    """The file with one of its packed parts (MATLAB's, HDF5's) unpacked, damaged and packed again, if it has any."""
    starts = [found.start() for found in re.finditer(rb"x[\x01\x5e\x9c\xda]", content)]
    for at in random.sample(starts, len(starts)):
        unpack = zlib.decompressobj()
        try:
            inner = unpack.decompress(content[at:], 1 << 20)
        except zlib.error:
            continue
        return content[:at] + zlib.compress(_damaged(inner, False, others, random)) + unpack.unused_data
    return content
