"""The bytes of files: valid parts from which tests make damaged and hostile ones."""

import io
import json
import struct
import zipfile
import zlib

import numpy as np

MAT73 = b"MATLAB 7.3 MAT-file".ljust(116) + struct.pack("<QHH", 0, 0x0200, 0x4D49)  # in a user block of an HDF5 file


def write(path, content):
    path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content, encoding="utf-8")
    return path


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npy_header(shape=(6, 3), descr="<f8", text=None):
    text = (text or repr({"descr": descr, "fortran_order": False, "shape": shape})).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def zeros(megabytes):
    """Zeros as deflate packs them, made as fast as they are unpacked: a piece ends where no other refers to it."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packed.compress(bytes(1 << 20)) + packed.flush(zlib.Z_FULL_FLUSH)
    return piece * megabytes + zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def safetensors(header, content=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content


def tensor_entry(dtype="F64", shape=(6, 3), offsets=(0, 144)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}
