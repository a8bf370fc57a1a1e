import { strict as assert } from "node:assert"
import { createRelay } from "@svc/client"
import { sessionLifetimeSeconds } from "@svc/session-token"
import type { Agent } from "./arrive.ts"
import type { Traveller } from "./journey.ts"
import * as shape from "./shapes.ts"
import type { Sent } from "./transfer.ts"

const tokenMs = sessionLifetimeSeconds * 1000
/** A verifier's clock may be off by this much. */
const leewayMs = 5000

/** A new key for the old one, and what becomes of the old one and of what was made with it. */
export const rotate = async (
  { instance, svc, take, show }: Traveller,
  { slug, firstKey, stackUrl }: Agent,
  { token }: Sent,
): Promise<string> => {
  const { apiUrl, relayUrl } = instance
  const session = { token: async () => token }
  const relay = createRelay({ relayUrl, session })

  const secondKey = await take(
    {
      does: "The agent rotates its key",
      proves: "the new key takes its place in the file before the old one goes, and the screen shows neither",
    },
    async () => {
      await svc.keep("old-key", `${firstKey}\n`)
      const minted = await svc.run("svc keys mint --name second --save")
      assert.equal(minted.code, 0, minted.stderr)
      const keys = shape.keys.parse(await svc.json("svc keys list --json"))
      for (const { id, name, current } of keys) show(`key ${id} "${name}"${current ? ", in use" : ""}`)
      assert.deepEqual(
        keys.map(({ name, current }) => [name, current]),
        [
          ["signup", false],
          ["second", true],
        ],
      )
      const [old] = keys
      const revoked = shape.revoked.parse(await svc.json(`svc keys revoke ${old?.id} --json`))
      assert.deepEqual([revoked.revoked, revoked.remaining_secret_keys], [true, 1])
      const kept = shape.credentials.parse(JSON.parse(await svc.read("config/svc/credentials.json")))[apiUrl]
      assert.ok(kept !== undefined && kept.api_key !== firstKey)
      assert.ok(!(minted.stdout + minted.stderr).includes(kept.api_key))
      return kept.api_key
    },
  )

  await take(
    {
      does: "The old key is tried everywhere",
      proves: "a revoked key is dead from the next request on, and the new one works",
    },
    async () => {
      const withOldKey = `SVC_API_URL=${apiUrl} SVC_API_KEY="$(cat ../old-key)" svc`
      for (const command of [
        "svc auth login --json < ../old-key",
        `${withOldKey} auth status --json`,
        `${withOldKey} keys mint --json`,
        `${withOldKey} session ${stackUrl} --json`,
      ]) {
        assert.equal(await svc.errorCode(command), "invalid-api-key")
        show("-> invalid-api-key")
      }
      const headers = { authorization: `Bearer ${firstKey}` }
      const registry = await fetch(`${apiUrl}/api/registry`, { headers })
      assert.deepEqual([registry.status, registry.headers.get("x-auth-ignored")], [200, "invalid-api-key"])
      show("the public registry answers as it answers anybody, with X-Auth-Ignored: invalid-api-key")
      assert.equal(shape.identity.parse(await svc.json("svc auth status --json")).slug, slug)
    },
  )

  await take(
    {
      does: "The token minted with the old key is tried, now and after its life",
      proves: "a token lives out its time, as the pages say, and is refused after it",
    },
    async () => {
      const { content } = shape.page.parse(await svc.json("svc docs fetch keys --json"))
      const [promise] =
        new RegExp(
          `Session tokens that the key minted stay valid[^.]*at most ${sessionLifetimeSeconds / 60} minutes\\.`,
        ).exec(content.replaceAll(/\s+/g, " ")) ?? []
      assert.ok(promise !== undefined, "the page on keys no longer says what becomes of tokens")
      show(`the page on keys: "${promise.trim()}"`)
      const { blockHeight } = await relay.blockHeight()
      show(`now: block-height -> ${blockHeight}`)
      const later = createRelay({ relayUrl: await instance.startRelayAhead(tokenMs + leewayMs + 1000), session })
      await assert.rejects(later.blockHeight(), { name: "SvcError", status: 401, code: "token-expired" })
      show("a relay whose clock is a token's life ahead: block-height -> 401 token-expired")
    },
  )
  return secondKey
}
