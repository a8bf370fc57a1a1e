import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { type Received, type Reply, serve, startServer } from "./server.ts"
import { json, makeTool } from "./tool.ts"

const api = ({ target }: Received): Reply =>
  target === "/api/agents/signup"
    ? { status: 201, body: { slug: "agt_1", display_name: "a", api_key: "svc_ak_first" } }
    : { body: [] }
const tool = await makeTool()
const first = await startServer(api)
const second = await startServer(api)
const third = await startServer(api)
const folder = join(tool.home, "config/svc")
const nameOf = (url: string): string => new URL(url).host

/** The URLs of a copy whose services are all one server. */
const copyOf = ({ url }: { readonly url: string }) => ({
  api_url: url,
  docs_url: `${url}/docs`,
  relay_url: `${url}/relay`,
  stream_url: url.replace("http", "ws"),
})
/** Makes the tool one that the server's copy handed out. */
const servedBy = (server: { readonly url: string } | undefined) =>
  writeFile(join(tool.home, "copy.json"), server === undefined ? "" : JSON.stringify(copyOf(server)))
const svc = async (words: string, env: Record<string, string> = {}) => {
  const ended = await tool.svc([...words.split(" "), "--json"], { env })
  return { code: ended.code, body: json(ended) }
}
const stored = async (): Promise<unknown> => JSON.parse(await readFile(join(folder, "config.json"), "utf8"))

beforeEach(async () => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const server of [first, second, third]) server.received.length = 0
})

test("the tool calls the copy that served it, and sign-up makes that copy the current context", async () => {
  await servedBy(first)
  await svc("explore")
  expect(first.received.length).toBeGreaterThan(0)
  expect((await svc("auth signup")).body).toMatchObject({ api_url: first.url })
  const contexts = { [nameOf(first.url)]: copyOf(first) }
  expect(await stored()).toEqual({ contexts, current: nameOf(first.url) })
  await servedBy(second)
  expect((await svc("auth signup")).body).toMatchObject({ api_url: second.url })
  expect(await stored()).toMatchObject({ current: nameOf(second.url) })
  // Both are known now, so the current one counts, whatever copy the tool is of.
  await svc(`use ${nameOf(first.url)}`)
  expect((await svc("auth signup --force")).body).toMatchObject({ api_url: first.url })
  expect((await svc("contexts")).body).toEqual([
    { name: nameOf(first.url), current: true, ...copyOf(first), key_hint: expect.stringMatching(/^svc_ak/) },
    { name: nameOf(second.url), current: false, ...copyOf(second), key_hint: expect.stringMatching(/^svc_ak/) },
  ])
})

test("option, environment, --context, current context, the tool's copy: the first that is set wins", async () => {
  await servedBy(third)
  const contexts = { one: copyOf(first), two: copyOf(second) }
  await writeFile(join(folder, "config.json"), JSON.stringify({ contexts, current: "one" }))
  const reached = async (words: string, env: Record<string, string> = {}) => {
    for (const server of [first, second, third]) server.received.length = 0
    await svc(`explore${words}`, env)
    return [first, second, third].flatMap((server, index) => (server.received.length > 0 ? [index + 1] : []))
  }
  expect(await reached("", { SVC_API_URL: "" })).toEqual([1])
  expect(await reached(" --context two")).toEqual([2])
  expect(await reached(" --context two", { SVC_API_URL: third.url })).toEqual([3])
  expect(await reached(` --context two --api-url ${first.url}`, { SVC_API_URL: third.url })).toEqual([1])
  await writeFile(join(folder, "config.json"), JSON.stringify({ contexts }))
  expect(await reached("")).toEqual([3])
  expect((await svc("use one")).body).toEqual({ name: "one", ...copyOf(first) })
  expect(await stored()).toEqual({ contexts: contexts, current: "one" })
})

test("a key is sent only to the API that it was stored for, whatever the context", async () => {
  await servedBy(first)
  await svc("auth signup")
  await servedBy(undefined)
  const contexts = { one: copyOf(first), two: copyOf(second) }
  await writeFile(join(folder, "config.json"), JSON.stringify({ contexts, current: "one" }))
  await svc("explore --context two")
  await svc("keys list --context two")
  await svc("explore")
  const keys = (server: typeof first) => server.received.map(({ headers }) => headers.authorization)
  expect(keys(second).filter((key) => key !== undefined)).toEqual([])
  expect(keys(first).at(-1)).toBe("Bearer svc_ak_first")
  // Without SVC_API_URL a key of the environment belongs to the copy that served the tool.
  await servedBy(second)
  await svc("explore --context one", { SVC_API_KEY: "svc_ak_environment" })
  await svc("explore --context two", { SVC_API_KEY: "svc_ak_environment" })
  expect([keys(first).at(-1), keys(second).at(-1)]).toEqual(["Bearer svc_ak_first", "Bearer svc_ak_environment"])
})

test("logout removes key and context; an unknown context is an error with the nearest name", async () => {
  await servedBy(first)
  await svc("auth signup")
  expect((await svc("auth logout")).code).toBe(0)
  expect([await stored(), (await svc("contexts")).body]).toEqual([{ contexts: {} }, []])
  await servedBy(undefined)
  await writeFile(join(folder, "config.json"), JSON.stringify({ contexts: { production: copyOf(first) } }))
  for (const words of ["explore --context prodution", "use prodution"]) {
    const error = expect.stringMatching(/Did you mean production\?/)
    expect(await svc(words)).toEqual({ code: 1, body: { code: "context-not-found", error } })
  }
})

test("a logout that can't remove the key keeps the context, by which the next one finds the key", async () => {
  await servedBy(first)
  await svc("auth signup")
  await servedBy(undefined)
  const before = await stored()
  const file = join(folder, "credentials.json")
  const keys = await readFile(file, "utf8")
  await writeFile(file, "{")
  expect(await svc("auth logout")).toMatchObject({ code: 1, body: { code: "credentials-unreadable" } })
  expect(await stored()).toEqual(before)
  await writeFile(file, keys)
  expect(await svc("auth logout")).toMatchObject({ code: 0, body: { api_url: first.url } })
  expect([await stored(), await readFile(file, "utf8")]).toEqual([{ contexts: {} }, "{}\n"])
})

test("a program under svc run gets the key and URLs of the copy, and its exit code is returned", async () => {
  await servedBy(first)
  await svc("auth signup")
  const script =
    "console.log(JSON.stringify([process.env.SVC_API_KEY, process.env.SVC_API_URL, process.env.SVC_RELAY_URL])); process.exit(7)"
  const ended = await tool.svcProcess(["run", "--", process.execPath, "-e", script])
  expect([ended.code, json(ended)]).toEqual([7, ["svc_ak_first", first.url, `${first.url}/relay`]])
  const missing = await tool.svc(["run", "--json", "--", "/nonexistent"])
  expect([missing.code, json(missing)]).toMatchObject([1, { code: "program-not-started" }])
})

test("a signal that ends svc run is passed to the program, which decides when to end", async () => {
  await servedBy(first)
  await svc("auth signup")
  const script = "process.on('SIGTERM', () => process.exit(9)); console.log('ready'); setInterval(() => {}, 1000)"
  const child = await tool.start(["run", "--", process.execPath, "-e", script], {})
  await child.waitFor(/ready/)
  child.kill("SIGTERM")
  expect(await child.exited).toBe(9)
})

test("env prints every URL of the copy, its key's owner and the versions, even if no service runs", async () => {
  await servedBy(first)
  const { body } = await svc("env")
  expect(body).toEqual({
    ...copyOf(first),
    account: { status: "missing-credentials" },
    versions: { svc: expect.any(String), api: null, docs: null, relay: null },
  })
})

test("env prints the relay's chain, and the faucet of a local chain", async () => {
  const chain = { genesis_hash: "1".repeat(32), faucet: "http://localhost:8899" }
  const copy = await serve(({ target }) => ({
    body: target === "/relay/health?chain=true" ? { version: "1.0.0", transactions: { enabled: true, chain } } : {},
  }))
  await servedBy(copy)
  expect((await svc("env")).body).toMatchObject({ chain, faucet: `${chain.faucet} (requestAirdrop)` })
  expect((await tool.svc(["env"])).stdout).toMatch(/^chain +own, genesis hash 1{32}$/m)
})

test.each([
  ['{"contexts": 7}', "contexts"],
  ['{"contexts": {"a": {"docs_url": "ftp://a"}}, "current": "a"}', "docs_url"],
  ['{"contexts": {"a": {"api_url": 7}}, "current": "a"}', "api_url"],
  ['{"contexts": {"a": {"api_url": "file:///etc"}}, "current": "a"}', "api_url"],
  ["nonsense", "isn't a JSON object"],
  ["[]", "isn't a JSON object"],
])("a file with %s is an error with its path and what is wrong", async (config, what) => {
  await servedBy(undefined)
  const file = join(folder, "config.json")
  await writeFile(file, config)
  const { code, body } = await svc("explore")
  expect([code, body]).toMatchObject([1, { code: "invalid-config", error: expect.stringContaining(what) }])
  expect(Object(body).error).toContain(file)
})
