import { type CryptoKey, exportJWK, importJWK, importSPKI, type JWK } from "jose"
import { KeysUnavailableError } from "./errors.ts"
import { publicJwk } from "./sign.ts"

type KeySet = ReadonlyMap<string, CryptoKey>

/** Where a verifier has its keys from. */
export type KeySource = {
  /** The key of this id, undefined when there is none. Throws KeysUnavailableError when no key was ever had. */
  readonly find: (kid: string) => Promise<CryptoKey | undefined>
  /** Another value whenever the keys have changed or may be out of date: what was verified before counts no more. */
  readonly generation: () => number
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const importSet = async (value: unknown): Promise<KeySet> => {
  const listed = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"] : [value]
  const set = new Map<string, CryptoKey>()
  for (const entry of listed) {
    const jwk: JWK | undefined = isRecord(entry) ? { ...entry } : undefined
    // Other kinds of keys may stand in the same set; they verify nothing here.
    if (jwk?.kty !== "OKP" || jwk.crv !== "Ed25519" || (jwk.use ?? "sig") !== "sig") continue
    const bare = await publicJwk(jwk)
    const key = await importJWK({ kty: bare.kty, crv: bare.crv, x: bare.x }, "EdDSA")
    if (!(key instanceof Uint8Array)) set.set(typeof jwk.kid === "string" ? jwk.kid : bare.kid, key)
  }
  if (set.size === 0) throw new Error("no Ed25519 public key")
  return set
}

/** Keys from a setting: an SPKI PEM, a JWK or a JWK set. Throws an Error when it holds none. */
export const staticKeys = async (text: string): Promise<KeySource> => {
  let set: KeySet
  try {
    const trimmed = text.trim()
    const value: unknown = trimmed.startsWith("-----BEGIN")
      ? await exportJWK(await importSPKI(trimmed, "EdDSA", { extractable: true }))
      : JSON.parse(trimmed)
    set = await importSet(value)
  } catch {
    throw new Error("the public key must be an Ed25519 key: an SPKI PEM, a JWK, or a JWK set")
  }
  return { find: async (kid) => set.get(kid), generation: () => 0 }
}

const freshMs = 300_000
const timeoutMs = 3000
const refetchMs = 10_000
const firstRetryMs = 1_000
const maxBytes = 65_536

/**
 * Keys from a JWK set's URL: kept 5 minutes, fetched one at a time under a time limit, refetched for an unknown id at most
 * every 10 s; while the URL is down the last good set is used.
 * @param now a monotonic clock, in milliseconds
 * @param onFailure told why a fetch failed
 */
export const remoteKeys = ({
  url,
  fetch,
  now,
  onFailure = () => {},
}: {
  readonly url: string
  readonly fetch: typeof globalThis.fetch
  readonly now: () => number
  readonly onFailure?: (reason: string) => void
}): KeySource => {
  let set: KeySet | undefined
  let fingerprint = ""
  let generation = 0
  let fetchedAt = -Infinity
  let triedAt = -Infinity
  let running: Promise<void> | undefined

  const load = async (): Promise<void> => {
    triedAt = now()
    try {
      const response = await fetch(url, {
        headers: { accept: "application/json", "cache-control": "no-cache" },
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (!response.ok) throw new Error(`status ${response.status}`)
      const text = await readText(response)
      set = await importSet(JSON.parse(text))
      if (text !== fingerprint) generation++
      fingerprint = text
      fetchedAt = now()
    } catch (error) {
      onFailure(error instanceof Error ? error.message : String(error))
    }
  }
  const refresh = (): Promise<void> => (running ??= load().finally(() => (running = undefined)))
  const stale = () => now() - fetchedAt >= freshMs

  return {
    find: async (kid) => {
      if (set === undefined) {
        if (now() - triedAt >= firstRetryMs || running !== undefined) await refresh()
        if (set === undefined) throw new KeysUnavailableError("no verification key could be fetched yet")
      } else if ((stale() || !set.has(kid)) && (now() - triedAt >= refetchMs || running !== undefined)) await refresh()
      return set.get(kid)
    },
    // Half a step ahead while stale: what is cached is then asked for again, and that asking refreshes the set.
    generation: () => (stale() && now() - triedAt >= refetchMs ? generation + 0.5 : generation),
  }
}

const readText = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new Error("the key set is larger than 64 KiB")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}
