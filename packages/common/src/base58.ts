const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
// Three digits per place: multiplied by 256 plus a carry, this still fits V8's small integers.
const base = 58 ** 3

/** Whether a text consists of base58 characters. */
export const isBase58Text = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]+$/.test(text)

/** The number of bytes that a base58 text encodes. Takes quadratic time, so limit the text's length first. */
export const base58Size = (text: string): number => {
  let value = 0n
  for (const digit of text) value = value * 58n + BigInt(alphabet.indexOf(digit))
  const zeros = text.length - text.replace(/^1+/, "").length
  return zeros + (value === 0n ? 0 : Math.ceil(value.toString(16).length / 2))
}

/** Encodes bytes as base58 (Bitcoin's alphabet). Used on every send, and much faster than the Solana library's codec. */
export const base58 = (bytes: ArrayLike<number>): string => {
  const places = new Int32Array(Math.ceil(bytes.length / 2) + 1)
  let used = 0
  for (let at = 0; at < bytes.length; at++) {
    let carry = bytes[at] ?? 0
    for (let i = 0; i < used || carry > 0; i++) {
      carry += (places[i] ?? 0) * 256
      places[i] = carry % base
      carry = (carry / base) | 0
      if (i >= used) used = i + 1
    }
  }
  let text = ""
  for (let i = 0; i < used; i++) {
    const place = places[i] ?? 0
    text =
      alphabet.charAt((place / 3364) | 0) +
      alphabet.charAt(((place / 58) | 0) % 58) +
      alphabet.charAt(place % 58) +
      text
  }
  // The highest place may have leading zeros. Each leading zero byte is one digit.
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++
  return "1".repeat(zeros) + text.replace(/^1+/, "")
}
