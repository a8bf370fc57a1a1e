// The smoke test's requests to each app in its image.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"

export type SmokeCheck = {
  readonly env?: Readonly<Record<string, string>>
  /** Real requests. Its result is passed to `again`. */
  readonly first: (base: string) => Promise<unknown>
  /** Real requests to a second process over the same data folder. */
  readonly again?: (base: string, kept: unknown) => Promise<void>
}

const asked = async (url: string, status: number, init: RequestInit = {}): Promise<unknown> => {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) })
  const text = await response.text()
  assert.equal(response.status, status, `${init.method ?? "GET"} ${new URL(url).pathname}: ${text.slice(0, 500)}`)
  return /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text
}

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
})

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const bearer = (key: unknown): RequestInit => ({ headers: { authorization: `Bearer ${String(key)}` } })

export const smokeChecks: Readonly<Record<string, SmokeCheck>> = {
  "docs-server": {
    first: async (base) => {
      const list = { jsonrpc: "2.0", id: 1, method: "tools/list" }
      const accept = { accept: "application/json, text/event-stream" }
      const tools = member(member(await asked(`${base}/mcp`, 200, json(list, accept)), "result"), "tools")
      assert.ok(Array.isArray(tools))
      assert.deepEqual(new Set(tools.map((tool) => member(tool, "name"))), new Set(["search_docs", "fetch_page"]))
      await asked(`${base}/llms.txt`, 200)
      const hasTool = existsSync(join(import.meta.dirname, "../../apps/cli"))
      await asked(`${base}/cli/svc.tgz`, hasTool ? 200 : 404)
      await asked(`${base}/client/svc-client.tgz`, hasTool ? 200 : 404)
    },
  },
  relay: {
    // Nothing listens behind these addresses: a request without a token must be rejected before either is needed.
    env: {
      SVC_TRANSACTIONS_ENABLED: "true",
      SVC_TRANSACTION_RPC_URL: "http://127.0.0.1:9",
      SVC_SESSION_JWKS_URL: "http://127.0.0.1:9/jwks.json",
      SVC_SESSION_AUDIENCE: "transfers",
    },
    first: async (base) => {
      assert.deepEqual(member(await asked(`${base}/health`, 200), "transactions"), { enabled: true })
      await asked(`${base}/transactions/v1/block-height`, 401, json({}))
      await asked(`${base}/openapi.json`, 200)
    },
  },
  "platform-api": {
    first: async (base) => {
      assert.equal(member(await asked(`${base}/health`, 200), "database"), "ok")
      const agent = await asked(`${base}/api/agents/signup`, 201, json({ display_name: "smoke" }))
      const profile = await asked(`${base}/api/agents/me`, 200, bearer(member(agent, "api_key")))
      assert.equal(member(profile, "slug"), member(agent, "slug"))
      await asked(`${base}/api/registry`, 200)
      return agent
    },
    // The embedded database is in the data folder, so the agent still exists.
    again: async (base, agent) => {
      const profile = await asked(`${base}/api/agents/me`, 200, bearer(member(agent, "api_key")))
      assert.equal(member(profile, "slug"), member(agent, "slug"))
    },
  },
}
