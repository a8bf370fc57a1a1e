// What `svc watch` shows of a stream, and what `svc stream check` says of good and bad stream servers.
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { createPlatform } from "@svc/client"
import { startLocalStream } from "@svc/local-stream"
import { generateSigningKey, publicJwks, readSigningKeys, signSessionToken } from "@svc/session-token"
import { processRuntime } from "../packages/program/src/index.ts"
import { postJson, startProcess } from "@svc/testing"
import { beforeAll, expect, onTestFinished, test, vi } from "vitest"
import { z } from "zod"

import { serve } from "../apps/cli/test/server.ts"
import { makeTool } from "../apps/cli/test/tool.ts"
import { type Breakage, startBrokenStream } from "./broken-stream.ts"
import { testInstance } from "./start-service.ts"
import { createWallet } from "@svc/testing/wallet"

const line = z.object({ op: z.string(), key: z.string(), record: z.unknown() })
const report = z.object({
  passed: z.int(),
  skipped: z.int(),
  rules: z.array(z.object({ rule: z.string(), result: z.string(), reason: z.string().optional() })),
})

const instance = testInstance()
let key: string
let url: string
beforeAll(async () => {
  url = `${instance.streamUrl}/transfers`
  key = (await createPlatform({ apiUrl: instance.apiUrl }).signUp()).api_key
  // Each is a transfer of the faucet's.
  const wallet = await createWallet(instance.chainUrl)
  for (let turn = 0; turn < 3; turn++) await wallet.fund(1_000_000_000n)
  await vi.waitFor(
    async () => {
      const health = await (await fetch(`${instance.streamUrl.replace("ws", "http")}/health`)).text()
      if (!health.includes('"SolTransfer":3')) throw new Error(health)
    },
    { timeout: 10_000, interval: 100 },
  )
})

const file = join(import.meta.dirname, "../apps/cli/dist/svc.mjs")
const tool = await makeTool()
const svc = (args: readonly string[], apiUrl = instance.apiUrl) =>
  tool.svc(args, { env: { SVC_API_URL: apiUrl, SVC_API_KEY: key } })
const check = async (target: string, options: readonly string[] = [], apiUrl = instance.apiUrl) => {
  const args = ["stream", "check", target, "--stack", "transfers", "--json", ...options]
  const { code, stdout, stderr } = await svc(args, apiUrl)
  expect(stderr).toBe("")
  const { rules, ...counts } = report.parse(JSON.parse(stdout))
  return { code, ...counts, failed: rules.filter(({ result }) => result === "fail") }
}

test("svc watch --once prints the snapshot of the stack's first view, one object per line, and ends", async () => {
  const { code, stdout } = await svc(["watch", "transfers", "--once"])
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((text) => line.parse(JSON.parse(text)))
  expect([code, lines.map(({ op }) => op)]).toEqual([0, ["snapshot", "snapshot", "snapshot"]])
  const slots = lines.map(({ record }) =>
    BigInt(z.object({ context: z.object({ slot: z.string() }) }).parse(record).context.slot),
  )
  expect(slots).toEqual([...slots].sort((a, b) => Number(b - a)))
  const [newest] = lines
  expect(
    await svc(["watch", "transfers", "SolTransfer/state", "--key", newest?.key ?? "", "--once", "--json"]),
  ).toMatchObject({
    code: 0,
    stdout: `${JSON.stringify(newest)}\n`,
  })
  expect((await svc(["watch", "transfers", "--take", "1", "--once"])).stdout).toBe(`${JSON.stringify(newest)}\n`)
  expect(await svc(["watch", "name-service", "--once"])).toEqual({
    code: 0,
    stdout: "",
    stderr: "name-service NameRecord/recent has no records now.\n",
  })
})

test("svc watch says what is wrong, and what to do", async () => {
  const told = async (...args: string[]) => {
    const { code, stderr } = await svc(["watch", ...args])
    return [code, stderr.trimEnd()]
  }
  expect(await told("no-such-stack")).toEqual([1, expect.stringMatching(/Next: svc explore .*\(stack-not-found\)$/)])
  expect(await told("transfers", "Nothing/list")).toEqual([
    1,
    expect.stringMatching(/Nearest: Wallet\/list.* Next: svc watch transfers Wallet\/list \(view-not-found\)$/),
  ])
  expect(await told("transfers", "Wallet/state")).toEqual([
    1,
    expect.stringMatching(/^svc: .*[^.]\. Next: .*--key KEY \(key-required\)$/),
  ])
  expect(await told("transfers", "--take", "0")).toEqual([2, expect.stringMatching(/\(usage\)$/)])
})

test("svc watch ends after its reader closes the pipe", async () => {
  const bash = startProcess(
    "bash",
    ["-c", `set -o pipefail; "$0" "$1" watch transfers | head -1`, process.execPath, file],
    {
      env: { SVC_API_URL: instance.apiUrl, SVC_API_KEY: key },
    },
  )
  await bash.waitFor(/"op":"snapshot"/)
  // A closed pipe shows after the first line that doesn't get through: the line after that ends the command.
  const wallet = await createWallet(instance.chainUrl)
  const ended = bash.exited.then(() => true)
  for (let isOver = false; !isOver;) {
    await wallet.fund(1_000_000_000n)
    isOver = await Promise.race([ended, delay(500, false)])
  }
  expect(await bash.exited).toBe(0)
})

test("the local stream follows every rule of the protocol", async () => {
  expect(await check(url)).toMatchObject({ code: 0, passed: 26, skipped: 1, failed: [] })
})

/** Tokens of the real claims whose life the test sets, for a stream of the test's own. */
const startShortLivedPlatform = async () => {
  const keys = await readSigningKeys(await generateSigningKey())
  let minted = 0
  const { url: apiUrl } = await serve(async ({ method, target, body: sent }) => {
    if (target === "/.well-known/jwks.json") return { body: publicJwks(keys) }
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const own = await fetch(`${instance.apiUrl}${target}`, {
      method,
      headers,
      ...(method === "POST" && { body: sent }),
    })
    const body: unknown = await own.json()
    const session = z.object({ token: z.string() }).safeParse(body)
    if (!session.success) return { status: own.status, body }
    const claims = JSON.parse(Buffer.from(session.data.token.split(".")[1] ?? "", "base64url").toString())
    // The fifth is the one whose end is waited for.
    const life = ++minted === 5 ? 2 : 60
    const { token } = await signSessionToken(keys, claims, Math.floor(Date.now() / 1000) - 300 + life)
    return { body: { ...Object(body), token } }
  })
  const settings = { PORT: "0", SVC_LOG_LEVEL: "silent", SVC_API_URL: apiUrl, RPC_URL: instance.chainUrl }
  const stream = await startLocalStream(processRuntime(settings))
  onTestFinished(stream.close)
  // Until the registry is loaded, it rejects every connection.
  const health = async () => (await fetch(`http://127.0.0.1:${stream.port}/health`)).status
  await expect.poll(health).toBe(200)
  return { apiUrl, url: `ws://127.0.0.1:${stream.port}/transfers` }
}

test("with --wait it sees the connection end with the token", async () => {
  const short = await startShortLivedPlatform()
  expect(await check(short.url, ["--wait"], short.apiUrl)).toMatchObject({ code: 0, passed: 27, failed: [] })
})

const tokenFor = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${key}` }
  const response = await postJson(`${instance.apiUrl}/ws/sessions`, { websocket_url: url, scope: "read" }, headers)
  return z.object({ token: z.string() }).parse(await response.json()).token
}
const withoutTake = (message: string): string => message.replace(/,"take":1/, "")

const breakages: readonly [string, (token: string) => Breakage, number, RegExp][] = [
  ["lets everybody in", (token) => ({ headers: () => ({ authorization: `Bearer ${token}` }) }), 7, /accepted$/],
  ["rejects without a code", () => ({ refusal: { status: 401, body: "no" } }), 8, /without a code/],
  ["selects no subprotocol", () => ({ selectsNothing: true }), 1, /no subprotocol$/],
  [
    "sends 64-bit integers as numbers",
    () => ({ toClient: (text) => text.replaceAll(/"(slot|lamports)":"(\d+)"/g, '"$1":$2') }),
    5,
    /not a decimal string$/,
  ],
  ["ignores take", () => ({ toServer: withoutTake }), 3, /records came$/],
  [
    "doesn't say whether an error is fatal",
    () => ({ toClient: (text) => text.replace(/,"fatal":false/, "") }),
    3,
    /lacks fatal$/,
  ],
]

test.each(breakages)("a stream server that %s fails", async (_, breakage, least, reason) => {
  const broken = await startBrokenStream(instance.streamUrl, breakage(await tokenFor()))
  onTestFinished(broken.close)
  const { code, failed } = await check(`${broken.url}/transfers`)
  expect(code).toBe(1)
  expect(failed.length, JSON.stringify(failed)).toBeGreaterThanOrEqual(least)
  for (const one of failed) expect(one.reason).toMatch(reason)
})
