import { isObject } from "@svc/common/json-object"
import { readAtMost } from "@svc/common/read-at-most"
import * as jose from "jose"
import { KeysUnavailableError } from "./errors.ts"
import { type PublicJwk, publicJwk } from "./sign.ts"

/** A verifier's source of keys. */
export type KeySource = {
  /** The key set: the same object until it changes, undefined until it has been loaded once. */
  readonly current: () => object | undefined
  /** A key of the set, loaded again if it lacks this id. Throws KeysUnavailableError if none has been loaded yet. */
  readonly find: (kid: string) => Promise<jose.CryptoKey | undefined>
}

type KeySet = { readonly keys: PublicJwk[] }

/**
 * The Ed25519 keys of a JWK or a JWK set. A key without an id gets its thumbprint. Throws an Error if there are none.
 * @param onMalformed called for a key that can't be read
 */
const readSet = async (value: unknown, onMalformed: (index: number) => void): Promise<KeySet> => {
  const entries: readonly unknown[] = isObject(value) && Array.isArray(value["keys"]) ? value["keys"] : [value]
  const keys = new Map<string, PublicJwk>()
  for (const [index, entry] of entries.entries()) {
    const jwk: jose.JWK | undefined = isObject(entry) ? { ...entry } : undefined
    // The set may contain other kinds of keys. They are ignored.
    if (jwk?.kty !== "OKP" || jwk.crv !== "Ed25519" || (jwk.use ?? "sig") !== "sig") continue
    try {
      const bare = await publicJwk(jwk)
      await jose.importJWK({ ...bare })
      const kid = typeof jwk.kid === "string" ? jwk.kid : bare.kid
      keys.set(kid, { ...bare, kid })
    } catch {
      onMalformed(index)
    }
  }
  if (keys.size === 0) throw new Error("no Ed25519 public key")
  return { keys: [...keys.values()] }
}

const findIn = async (set: (header: jose.JWSHeaderParameters) => Promise<jose.CryptoKey>, kid: string) => {
  try {
    return await set({ alg: "EdDSA", kid })
  } catch (error) {
    if (error instanceof jose.errors.JWKSNoMatchingKey) return undefined
    throw error
  }
}

/** Reads keys from a setting: an SPKI PEM, a JWK or a JWK set. Throws an Error if there are none, or a private one. */
export const staticKeys = async (text: string): Promise<KeySource> => {
  if (/PRIVATE KEY|"d"\s*:/.test(text)) {
    throw new Error(
      "holds the private signing key, and whoever takes it from here makes tokens: set the public part alone",
    )
  }
  let set: KeySet
  try {
    const trimmed = text.trim()
    const value: unknown = trimmed.startsWith("-----BEGIN")
      ? await jose.exportJWK(await jose.importSPKI(trimmed, "EdDSA", { extractable: true }))
      : JSON.parse(trimmed)
    set = await readSet(value, () => {
      throw new Error("malformed")
    })
  } catch {
    throw new Error("the public key must be an Ed25519 key: an SPKI PEM, a JWK, or a JWK set")
  }
  const local = jose.createLocalJWKSet(set)
  return { current: () => set, find: (kid) => findIn(local, kid) }
}

const freshMs = 300_000
const timeoutMs = 3000
const refetchMs = 10_000
const firstRetryMs = 1000
const longestRetryMs = 60_000
const maxBytes = 65_536

/** The part of a fetch that is used: undici's own and the global one have different types. */
type Fetch = (
  ...request: Parameters<jose.FetchImplementation>
) => Promise<{ readonly status: number; readonly body: AsyncIterable<Uint8Array> | null }>

/** The message of a failed fetch, with its cause: "fetch failed" alone says nothing. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  if (!(cause instanceof Error)) return message
  return `${message}: ${cause.message || ("code" in cause ? String(cause.code) : cause.name)}`
}

/**
 * Loads keys from the URL of a JWK set: at once, then every 5 minutes; after a failure in 1 s, and in twice as long after each
 * further one, up to a minute. The last valid set stays in use. An unknown id causes a fetch and waits for it: at most every
 * 10 s, or every second until the first success. A malformed key is omitted.
 * @param now a monotonic clock, in milliseconds
 * @param observe runs each fetch, for telemetry; a fetch without a usable set rejects
 * @param onProblem called with the reason why a key was omitted or a fetch failed, unless an unknown id caused it
 */
export const remoteKeys = ({
  url,
  fetch,
  now,
  observe = (load) => load(),
  onProblem = () => {},
}: {
  readonly url: string
  readonly fetch: Fetch
  readonly now: () => number
  readonly observe?: (load: () => Promise<void>) => Promise<void>
  readonly onProblem?: (reason: string) => void
}): KeySource => {
  let text: string | undefined
  let fetched: KeySet | undefined
  let current: KeySet | undefined
  let triedAt = -Infinity
  let running: Promise<void> | undefined

  const fetchSet: jose.FetchImplementation = async (href, options) => {
    const response = await fetch(href, options)
    const { status } = response
    if (status !== 200) throw Object.assign(new Error(`status ${status}`), { status })
    const body = (await readAtMost(response, maxBytes, "the key set is larger than 64 KiB")).toString("utf8")
    if (body !== text) {
      fetched = await readSet(JSON.parse(body), (index) => onProblem(`the key at keys[${index}] is malformed`))
      text = body
    }
    return Response.json(fetched)
  }
  // When to fetch is decided here: jose would drop the set after a time, and fetch for each unknown id while the URL is down.
  const remote = jose.createRemoteJWKSet(new URL(url), {
    [jose.customFetch]: fetchSet,
    headers: { "cache-control": "no-cache" },
    timeoutDuration: timeoutMs,
    cooldownDuration: Infinity,
    cacheMaxAge: Infinity,
  })

  const load = async (): Promise<void> => {
    triedAt = now()
    try {
      await observe(() => remote.reload())
      current = fetched
    } finally {
      running = undefined
    }
  }
  const refresh = (): Promise<void> => (running ??= load())
  const keepFresh = async (failures = 0): Promise<void> => {
    const next = await refresh().then(
      () => ({ failures: 0, ms: freshMs }),
      (error: unknown) => {
        onProblem(reasonOf(error))
        return { failures: failures + 1, ms: Math.min(firstRetryMs * 2 ** failures, longestRetryMs) }
      },
    )
    setTimeout(() => void keepFresh(next.failures), next.ms).unref()
  }
  void keepFresh()

  return {
    current: () => current,
    find: async (kid) => {
      const isKnown = current?.keys.some((key) => key.kid === kid) ?? false
      const pauseMs = current === undefined ? firstRetryMs : refetchMs
      if (!isKnown && (running !== undefined || now() - triedAt >= pauseMs)) await refresh().catch(() => {})
      if (current === undefined) throw new KeysUnavailableError("no verification key could be fetched yet")
      return findIn(remote, kid)
    },
  }
}
