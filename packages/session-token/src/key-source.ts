import { isObject } from "@svc/common/json-object"
import { readAtMost } from "@svc/common/read-at-most"
import { type CryptoKey, exportJWK, importJWK, importSPKI, type JWK } from "jose"
import { KeysUnavailableError } from "./errors.ts"
import { publicJwk } from "./sign.ts"

/** Verification keys by their id. */
export type KeySet = ReadonlyMap<string, CryptoKey>

/** A verifier's source of keys. */
export type KeySource = {
  /** The keys: the same object until they change, undefined until they have been loaded once. */
  readonly current: () => KeySet | undefined
  /** The keys, loaded again if the current ones lack this id. Throws KeysUnavailableError if none have been loaded yet. */
  readonly knowing: (kid: string) => Promise<KeySet>
}

const listed = (value: unknown): readonly unknown[] =>
  isObject(value) && Array.isArray(value["keys"]) ? value["keys"] : [value]

/** @param onMalformed called for a key that can't be read */
const importSet = async (value: unknown, onMalformed: (index: number) => void): Promise<KeySet> => {
  const set = new Map<string, CryptoKey>()
  for (const [index, entry] of listed(value).entries()) {
    const jwk: JWK | undefined = isObject(entry) ? { ...entry } : undefined
    // The set may contain other kinds of keys. They are ignored.
    if (jwk?.kty !== "OKP" || jwk.crv !== "Ed25519" || (jwk.use ?? "sig") !== "sig") continue
    try {
      const bare = await publicJwk(jwk)
      const key = await importJWK({ kty: bare.kty, crv: bare.crv, x: bare.x }, "EdDSA")
      if (!(key instanceof Uint8Array)) set.set(typeof jwk.kid === "string" ? jwk.kid : bare.kid, key)
    } catch {
      onMalformed(index)
    }
  }
  if (set.size === 0) throw new Error("no Ed25519 public key")
  return set
}

/** Reads keys from a setting: an SPKI PEM, a JWK or a JWK set. Throws an Error if there are none. */
export const staticKeys = async (text: string): Promise<KeySource> => {
  let set: KeySet
  try {
    const trimmed = text.trim()
    const value: unknown = trimmed.startsWith("-----BEGIN")
      ? await exportJWK(await importSPKI(trimmed, "EdDSA", { extractable: true }))
      : JSON.parse(trimmed)
    set = await importSet(value, () => {
      throw new Error("malformed")
    })
  } catch {
    throw new Error("the public key must be an Ed25519 key: an SPKI PEM, a JWK, or a JWK set")
  }
  return { current: () => set, knowing: async () => set }
}

const freshMs = 300_000
const timeoutMs = 3000
const refetchMs = 10_000
const firstRetryMs = 1_000
const maxBytes = 65_536

/**
 * Loads keys from the URL of a JWK set: at once, then every 5 minutes; every second until the first success, and every 10 s
 * while the URL fails. The last valid set stays in use. An unknown id causes a fetch, at most every 10 s, and waits for it.
 * A malformed key is omitted.
 * @param now a monotonic clock, in milliseconds
 * @param observe runs each fetch, for telemetry; a fetch without a usable set rejects
 * @param onProblem called with the reason why a fetch failed or a key was omitted
 */
export const remoteKeys = ({
  url,
  fetch,
  now,
  observe = (load) => load(),
  onProblem = () => {},
}: {
  readonly url: string
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly now: () => number
  readonly observe?: (load: () => Promise<void>) => Promise<void>
  readonly onProblem?: (reason: string) => void
}): KeySource => {
  let set: KeySet | undefined
  let text: string | undefined
  let triedAt = -Infinity
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const fetchText = async (): Promise<string> => {
    const response = await fetch(url, {
      headers: { accept: "application/json", "cache-control": "no-cache" },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { status } = response
    if (!response.ok) throw Object.assign(new Error(`status ${status}`), { status })
    return (await readAtMost(response, maxBytes, "the key set is larger than 64 KiB")).toString("utf8")
  }

  /** Resolves to the time until the next fetch. */
  const load = async (): Promise<number> => {
    triedAt = now()
    try {
      await observe(async () => {
        const fetched = await fetchText()
        if (fetched === text) return
        set = await importSet(JSON.parse(fetched), (index) => onProblem(`the key at keys[${index}] is malformed`))
        text = fetched
      })
      return freshMs
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error))
      return set === undefined ? firstRetryMs : refetchMs
    }
  }

  const loadAndWait = async (): Promise<void> => {
    const waitMs = await load()
    running = undefined
    clearTimeout(timer)
    timer = setTimeout(() => void refresh(), waitMs).unref()
  }
  const refresh = (): Promise<void> => (running ??= loadAndWait())
  void refresh()

  return {
    current: () => set,
    knowing: async (kid) => {
      const pauseMs = set === undefined ? firstRetryMs : refetchMs
      if (set?.has(kid) !== true && (running !== undefined || now() - triedAt >= pauseMs)) await refresh()
      if (set === undefined) throw new KeysUnavailableError("no verification key could be fetched yet")
      return set
    },
  }
}
