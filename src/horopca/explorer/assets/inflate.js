// RFC 1951, for browsers without DecompressionStream.

const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
  258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const OFFSETS = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
  6145, 8193, 12289, 16385, 24577];
const OFFSET_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** How many codes there are of each length, and the symbols in the order of their codes. */
function codeTable(lengths) {
  const count = new Uint16Array(16), start = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
  for (const l of lengths) count[l]++;
  count[0] = 0;
  for (let l = 1; l < 16; l++) start[l] = start[l - 1] + count[l - 1];
  lengths.forEach((l, symbol) => { if (l) symbols[start[l]++] = symbol; });
  return { count, symbols };
}

/** The bytes in a zlib stream, `size` of them. */
function inflate(bytes, size) {
  const out = new Uint8Array(size);
  let at = 2, held = 0, have = 0, length = 0; // two bytes of zlib's header

  function bits(n) {
    while (have < n) { held |= bytes[at++] << have; have += 8; }
    const value = held & ((1 << n) - 1);
    held >>>= n;
    have -= n;
    return value;
  }

  function symbol({ count, symbols }) {
    let code = 0, first = 0, index = 0;
    for (let l = 1; l < 16; l++) {
      code |= bits(1);
      if (code - first < count[l]) return symbols[index + code - first];
      index += count[l];
      first = (first + count[l]) << 1;
      code <<= 1;
    }
    throw new Error("The data in this page are damaged.");
  }

  function stored() {
    held = have = 0;
    const n = bytes[at] | (bytes[at + 1] << 8);
    out.set(bytes.subarray(at + 4, at + 4 + n), length);
    at += 4 + n;
    length += n;
  }

  function tables() {
    const literals = bits(5) + 257, offsets = bits(5) + 1, n = bits(4) + 4, first = new Array(19).fill(0);
    for (let i = 0; i < n; i++) first[CODE_ORDER[i]] = bits(3);
    const code = codeTable(first), lengths = [];
    while (lengths.length < literals + offsets) {
      const s = symbol(code);
      if (s < 16) lengths.push(s);
      else {
        const value = s === 16 ? lengths[lengths.length - 1] : 0;
        for (let k = s === 16 ? 3 + bits(2) : s === 17 ? 3 + bits(3) : 11 + bits(7); k > 0; k--) lengths.push(value);
      }
    }
    return [codeTable(lengths.slice(0, literals)), codeTable(lengths.slice(literals))];
  }

  function block(literals, offsets) {
    for (;;) {
      const s = symbol(literals);
      if (s === 256) return;
      if (s < 256) { out[length++] = s; continue; }
      let n = LENGTHS[s - 257] + bits(LENGTH_BITS[s - 257]);
      const d = symbol(offsets), back = OFFSETS[d] + bits(OFFSET_BITS[d]);
      for (; n > 0; n--, length++) out[length] = out[length - back];
    }
  }

  const fixed = () => [
    codeTable(Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8))),
    codeTable(new Array(30).fill(5)),
  ];
  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) stored();
    else block(...(kind === 1 ? fixed() : tables()));
  }
  return out;
}
