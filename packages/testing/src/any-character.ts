import fc from "fast-check"

const surrogates = { first: 0xd800, count: 0x800 }

/** For `fc.string`: any code point but lone surrogates. Its own unit "binary" is the same, but takes over a second to make. */
export const anyCharacter = fc
  .nat(0x10_ffff - surrogates.count)
  .map((code) => String.fromCodePoint(code < surrogates.first ? code : code + surrogates.count))
