import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { ConfigError } from "@svc/config"
import { generateSigningKey, publicJwks, readSigningKeys } from "@svc/session-token"
import { beforeAll, expect, test } from "vitest"
import { testFolder } from "../../../test/start-service.ts"
import { readConfig } from "../src/config.ts"

let publicKey: string
beforeAll(async () => {
  publicKey = JSON.stringify(publicJwks(await readSigningKeys(await generateSigningKey())))
})

const problems = async (env: Record<string, string>): Promise<readonly string[]> => {
  try {
    await readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
const names = async (env: Record<string, string>) => (await problems(env)).map((text) => text.split(":")[0])
const enabled = { SVC_TRANSACTIONS_ENABLED: "true", SVC_TRANSACTION_RPC_URL: "http://127.0.0.1:8899" }

test("without settings, or with only an upstream, the relay is on loopback and its routes are disabled", async () => {
  const off = { host: "127.0.0.1", port: 4002, enabled: false, trustedProxies: [], usage: undefined }
  for (const env of [{}, { RPC_URL: "http://127.0.0.1:8899" }]) expect(await readConfig(env)).toMatchObject(off)
})

test("transactions may be as large as version 1 allows, and no larger", async () => {
  expect((await readConfig({ SVC_TRANSACTION_MAX_BYTES: "4096" })).maxBytes).toBe(4096)
  expect(await names({ SVC_TRANSACTION_MAX_BYTES: "4097" })).toEqual(["SVC_TRANSACTION_MAX_BYTES"])
})

test("the upstream is the first non-empty of the three variables, and never the read one", async () => {
  const urlOf = async (env: Record<string, string>) => (await readConfig({ ...enabled, ...env })).upstreamUrl
  const [a, b, c] = ["http://a.example/?k=1", "http://b.example/", "http://c.example"]
  expect(await urlOf({ SVC_TRANSACTION_RPC_URL: a, CHAIN_RPC_URL: b, RPC_URL: c })).toBe(a)
  expect(await urlOf({ SVC_TRANSACTION_RPC_URL: " ", CHAIN_RPC_URL: b, RPC_URL: c })).toBe(b)
  expect(await urlOf({ SVC_TRANSACTION_RPC_URL: "", CHAIN_RPC_URL: "", RPC_URL: c })).toBe(c)
  const only = { SVC_TRANSACTIONS_ENABLED: "true", SVC_READ_RPC_URL: a }
  expect(await names(only)).toEqual(["SVC_TRANSACTION_RPC_URL"])
})

test("fallbacks are a list of URLs; a duplicate counts once, and an invalid one is reported without its text", async () => {
  const { readFallbackUrls, sendUrl } = await readConfig({
    ...enabled,
    SVC_TRANSACTION_READ_FALLBACK_URLS: "https://a.example/?k=1, https://u:p@b.example/rpc/,https://a.example/?k=1",
    SVC_TRANSACTION_SEND_URL: "https://send.example/v1",
  })
  expect(readFallbackUrls).toEqual(["https://a.example/?k=1", "https://u:p@b.example/rpc/"])
  expect(sendUrl).toBe("https://send.example/v1")
  const [problem = "", ...others] = await problems({
    ...enabled,
    SVC_TRANSACTION_READ_FALLBACK_URLS: "https://a.example, ftp://hunter2@b.example",
  })
  expect(others).toEqual([])
  expect(problem).toMatch(/^SVC_TRANSACTION_READ_FALLBACK_URLS: (?!.*hunter2)/)
})

test("an unprotected relay starts only on loopback and outside production, a disabled one anywhere", async () => {
  for (const HOST of ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
    expect(await names({ ...enabled, HOST })).toEqual([])
  for (const env of [
    { HOST: "0.0.0.0" },
    { HOST: "::" },
    { HOST: "10.0.0.5" },
    { HOST: "relay.example" },
    { NODE_ENV: "production" },
  ]) {
    const [problem = "", ...others] = await problems({ ...enabled, ...env })
    expect(others).toEqual([])
    for (const setting of ["SVC_SESSION_JWKS_URL", "SVC_SESSION_PUBLIC_KEY", "SVC_SESSION_AUDIENCE"]) {
      expect(problem).toContain(setting)
    }
    expect(await names(env)).toEqual([])
    const SVC_SESSION_JWKS_URL = "https://platform.example/.well-known/jwks.json"
    expect(await names({ ...enabled, ...env, SVC_SESSION_JWKS_URL, SVC_SESSION_AUDIENCE: "a, b" })).toEqual([])
  }
})

test("keys need an audience, have one source, and can be in a file", async () => {
  expect(await names({ ...enabled, SVC_SESSION_PUBLIC_KEY: publicKey })).toEqual(["SVC_SESSION_AUDIENCE"])
  const audience = { ...enabled, SVC_SESSION_AUDIENCE: "transfers" }
  const SVC_SESSION_PUBLIC_KEY_FILE = join(await testFolder(), "key.json")
  expect(await names({ ...audience, SVC_SESSION_PUBLIC_KEY_FILE })).toEqual(["SVC_SESSION_PUBLIC_KEY_FILE"])
  await writeFile(SVC_SESSION_PUBLIC_KEY_FILE, publicKey)
  expect((await readConfig({ ...audience, SVC_SESSION_PUBLIC_KEY_FILE })).publicKeys).toBeDefined()
  const both = { ...audience, SVC_SESSION_PUBLIC_KEY_FILE, SVC_SESSION_PUBLIC_KEY: publicKey }
  expect(await problems(both)).toEqual([expect.stringContaining("only one")])
})

test("usage delivery needs an endpoint and a token", async () => {
  const on = { SVC_TRANSACTION_USAGE_ENABLED: "true" }
  expect(await names(on)).toEqual(["SVC_TRANSACTION_USAGE_ENDPOINT", "SVC_TRANSACTION_USAGE_TOKEN"])
  const SVC_TRANSACTION_USAGE_ENDPOINT = "https://usage.example/v1/"
  const { usage } = await readConfig({ ...on, SVC_TRANSACTION_USAGE_ENDPOINT, SVC_TRANSACTION_USAGE_TOKEN: "t" })
  expect(usage).toMatchObject({ endpoint: SVC_TRANSACTION_USAGE_ENDPOINT, capacity: 1000 })
  expect(JSON.stringify(usage)).not.toContain('"t"')
  // The client for HTTP rejects such a header, so no record would arrive.
  for (const token of ["hunter2\nhunter2", "hunter2é", "hunter2\u2026", "hunter2 hunter2"]) {
    const listed = await problems({ ...on, SVC_TRANSACTION_USAGE_ENDPOINT, SVC_TRANSACTION_USAGE_TOKEN: token })
    expect(listed).toEqual([expect.stringMatching(/^SVC_TRANSACTION_USAGE_TOKEN: (?!.*hunter2)/)])
  }
})

test("all problems are listed at once, and no secret is shown", async () => {
  const listed = await problems({
    SVC_TRANSACTIONS_ENABLED: "true",
    PORT: "-1",
    NODE_ENV: "production",
    SVC_TRUSTED_PROXY_CIDRS: "10.0.0.0/40",
    SVC_TRANSACTION_VERIFY: "all",
    SVC_TRANSACTION_SEND_TIMEOUT_MS: "0",
    SVC_TRANSACTION_USAGE_ENABLED: "1",
    SVC_TRANSACTION_USAGE_TOKEN: "hunter2hunter2",
    SVC_SESSION_PUBLIC_KEY: "secret-looking-text",
  })
  expect(listed.map((text) => text.split(":")[0])).toEqual([
    "PORT",
    "SVC_TRUSTED_PROXY_CIDRS",
    "SVC_TRANSACTION_VERIFY",
    "SVC_TRANSACTION_SEND_TIMEOUT_MS",
    "SVC_TRANSACTION_USAGE_ENDPOINT",
    "SVC_TRANSACTION_RPC_URL",
    "SVC_SESSION_AUDIENCE",
    "SVC_SESSION_PUBLIC_KEY",
  ])
  expect(listed.join()).not.toMatch(/hunter2|secret-looking/)
})
