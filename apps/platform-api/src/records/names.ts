// Lower-case Crockford base32: no i, l, o and u, which are read as 1, 1, 0 and v.
const letters = "0123456789abcdefghjkmnpqrstvwxyz"

/** 5 random bits a letter. */
const randomLetters = (randomBytes: (size: number) => Uint8Array, count: number): string =>
  [...randomBytes(count)].map((byte) => letters.charAt(byte % letters.length)).join("")

/** `agt_` and 10 letters: 50 random bits. */
export const makeAgentSlug = (randomBytes: (size: number) => Uint8Array): string =>
  `agt_${randomLetters(randomBytes, 10)}`

/** What an agent may be called in a request: one that nobody has is found out by looking it up. */
export const agentSlugPattern = /^agt_[0-9a-z]{10}$/

/** A part of URLs made from a spec's name, and 6 random characters so that two specs of one name stay apart. */
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

/** Where a spec's stream is served: each branch at a path of its own. */
export const streamUrl = (relayUrl: string, slug: string, branch: string | null): string => {
  const url = new URL(relayUrl)
  const path = branch === null ? slug : `${slug}/${encodeURIComponent(branch)}`
  return `${url.protocol === "https:" ? "wss:" : "ws:"}//${url.host}${url.pathname.replace(/\/$/, "")}/${path}`
}
