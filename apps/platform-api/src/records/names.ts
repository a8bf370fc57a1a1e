// Lower-case Crockford base32, without i, l, o and u.
const letters = "0123456789abcdefghjkmnpqrstvwxyz"

const randomLetters = (randomBytes: (size: number) => Uint8Array, count: number): string =>
  [...randomBytes(count)].map((byte) => letters.charAt(byte % letters.length)).join("")

export const makeAgentSlug = (randomBytes: (size: number) => Uint8Array): string =>
  `agt_${randomLetters(randomBytes, 10)}`

/** A slug in a request. Whether it exists is looked up. */
export const agentSlugPattern = /^agt_[0-9a-z]{10}$/

/** A URL segment from a spec's name and 6 random characters, so that it is unique. */
export const makeSpecSlug = (name: string, randomBytes: (size: number) => Uint8Array): string => {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 48)
  const end = randomLetters(randomBytes, 6)
  return `${words === "" ? "spec" : words.replace(/-$/, "")}-${end}`
}
