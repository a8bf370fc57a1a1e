const letters = "0123456789abcdefghjkmnpqrstvwxyz"

/** A part of URLs made from a spec's name, and 6 random characters so that two specs of one name stay apart. */
export const makeSlug = (name: string, randomBytes: (size: number) => Uint8Array): string => {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 48)
  const end = [...randomBytes(6)].map((byte) => letters.charAt(byte % 32)).join("")
  return `${words === "" ? "spec" : words.replace(/-$/, "")}-${end}`
}

/** Where a spec's stream is served: each branch at a path of its own. */
export const streamUrl = (relayUrl: string, slug: string, branch: string | null): string => {
  const url = new URL(relayUrl)
  const path = branch === null ? slug : `${slug}/${encodeURIComponent(branch)}`
  return `${url.protocol === "https:" ? "wss:" : "ws:"}//${url.host}${url.pathname.replace(/\/$/, "")}/${path}`
}
