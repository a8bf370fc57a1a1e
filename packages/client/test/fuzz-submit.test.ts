// @module-tag long
import { full, providerLies } from "@svc/testing"
import { expect, test } from "vitest"
import { prove, type Case } from "./proof.ts"

const count = full ? 10_000 : 120

/** What is wrong about what was said of a transaction; undefined when it is the truth. */
const lie = ({ outcome, truth, received, amount }: Case): string | undefined => {
  const once = truth !== null && !truth.failed ? amount : 0n
  if (received !== once) return `received ${received} instead of ${once}`
  if (outcome.state !== "landed") return truth === null ? undefined : `${outcome.state}, but it landed`
  if (truth === null) return "landed, but it did not"
  if (truth.slot !== outcome.slot) return `landed in slot ${outcome.slot}, but it was ${truth.slot}`
  return truth.failed === (outcome.err !== null) ? undefined : "landed with another result"
}

test(`of ${count} submissions over faulty connections and services none lands twice or has a wrong result`, async () => {
  const { seed, cases, ledger, rolledBack, restarts } = await prove(count)
  const lies = cases.flatMap((one) => {
    const wrong = lie(one)
    return wrong === undefined ? [] : [`${one.signature}: ${wrong}`]
  })
  expect(lies, `seed ${seed}`).toEqual([])
  expect(new Set(cases.map(({ signature }) => signature)).size).toBe(count)

  // The trouble was there, and all endings that come of it.
  const endings = new Set(cases.map(({ outcome }) => outcome.state))
  expect(endings).toEqual(new Set(["landed", "not-submitted", "expired"]))
  expect(new Set(ledger.client.map(({ fault }) => fault)).size).toBe(10)
  // All lies but that about simulations, which submit doesn't ask for, and a rate limit. Few submissions don't meet each.
  const kinds = 10 + Object.keys(providerLies).length
  expect(new Set(ledger.upstream.map(({ fault }) => fault)).size).toBeGreaterThanOrEqual(full ? kinds : kinds - 4)
  expect(ledger.client.some(({ statuses }) => statuses.includes(401))).toBe(true)
  expect(rolledBack).toBeGreaterThan(0)
  expect(restarts).toBeGreaterThan(0)
  const sends = ledger.client.filter(({ path }) => path.endsWith("/send"))
  expect(sends.length).toBeGreaterThan(count)
})
