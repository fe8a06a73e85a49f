# SPDX-License-Identifier: BSD-3-Clause
"""Writes archives that unpack to much more than they are.

bomb.py FILE ZEROS FRAMES GIGABYTES: so many Zstandard frames, each a member of so many GB of zeros.
bomb.py FILE CLAIMS META DIGEST: the member "program" claims 2^24 shapes in a few bytes. META is a
file with a right member "meta", DIGEST that of no function (lib/record/functions.h).
"""
import struct
import sys
import subprocess

BLOCK = 128 << 10


def tar_header(name, size):
    field = b"%011o\0" % size if size < 8 << 30 else b"\x80" + size.to_bytes(11, "big")
    header = name.encode().ljust(100, b"\0") + b"0000644\0" + 2 * b"0000000\0"
    header += field + b"00000000000\0"
    header = header.ljust(148, b"\0") + b" " * 8 + b"0"
    header = header.ljust(257, b"\0") + b"ustar\x0000"
    header = header.ljust(512, b"\0")
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def frame_of_zeros(name, size):
    """A raw block with the header of the tar entry, then blocks that repeat one zero."""
    head = tar_header(name, size)
    frame = struct.pack("<IBB", 0xFD2FB528, 0, 0x38)  # a window of 128 KB
    frame += struct.pack("<I", len(head) << 3)[:3] + head
    n = size // BLOCK
    repeat = struct.pack("<I", BLOCK << 3 | 1 << 1)[:3] + b"\0"
    last = struct.pack("<I", BLOCK << 3 | 1 << 1 | 1)[:3] + b"\0"
    return frame + repeat * (n - 1) + last


def number(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def claims(path, meta_file):
    meta = open(meta_file, "rb").read()
    digest = struct.pack("<I", int(sys.argv[4], 0))
    shapes = number(1 << 24) + number(0) + number(0) + number(0) + number(0) + number(0) + number(0)
    program = number(0) + digest + number(0) + shapes + bytes(64)
    pad = lambda b: b + bytes(-len(b) % 512)
    members = (("meta", meta), ("program", program))
    tar = b"".join(tar_header(n, len(b)) + pad(b) for n, b in members) + bytes(1024)
    out = subprocess.run(["zstd", "-q", "-c"], input=tar, stdout=subprocess.PIPE, check=True).stdout
    open(path, "wb").write(out)


def main():
    path, kind = sys.argv[1:3]
    if kind == "CLAIMS":
        claims(path, sys.argv[3])
        return
    with open(path, "wb") as out:
        for i in range(int(sys.argv[3])):
            out.write(frame_of_zeros("program" if i else "meta", int(sys.argv[4]) << 30))


main()
