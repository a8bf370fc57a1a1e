// A platform's registry and keys, a chain that the test moves, and the local stream between them.
import { readFileSync } from "node:fs"
import { createSession, createStream } from "@svc/client"
import {
  generateSigningKey,
  publicJwks,
  readSigningKeys,
  type NewSessionClaims,
  signSessionToken,
} from "@svc/session-token"
import { processRuntime } from "@svc/program"
import { startReceiver } from "@svc/testing"
import { afterAll, afterEach, expect, vi } from "vitest"
import { WebSocket } from "ws"
import { startLocalStream } from "../src/index.ts"
import { startChain } from "../../local-chain/test/fixture.ts"

/** Called once by a test file: what is handed to the result is closed after each test, the last one first. */
export const createClosing = () => {
  const closers: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
  })
  return <T extends { close: () => unknown }>(one: T): T => {
    closers.push(() => one.close())
    return one
  }
}

export const sampleAst = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../apps/platform-api/stacks/${name}.stack.json`, import.meta.url), "utf8"))

const signingKeys = await readSigningKeys(await generateSigningKey())
export const foreignKeys = await readSigningKeys(await generateSigningKey())

type Claims = Partial<Record<keyof NewSessionClaims, unknown>>

/** A token as the platform mints it, but for what is given; `life` in seconds. */
export const mintToken = async (claims: Claims = {}, { life = 300, keys = signingKeys } = {}): Promise<string> => {
  const usual = {
    iss: "svc-platform",
    sub: "agent:agt_0123456789",
    aud: "transfers",
    jti: crypto.randomUUID(),
    scope: "read",
    key_class: "secret",
    metering_key: "key:7",
  }
  // The lifetime is always 300 s: an earlier beginning makes a shorter rest.
  const begin = Math.floor(Date.now() / 1000) - 300 + life
  return (await signSessionToken(keys, { ...usual, ...claims } as NewSessionClaims, begin)).token
}

/** The parts of the platform API that a stream server and its readers use. */
export const startPlatform = async (stacks: Readonly<Record<string, unknown>>) => {
  const published = new Map(Object.entries(stacks).map(([name, ast]) => [name, { version: 1, ast }]))
  const { url, answer, close } = await startReceiver()
  answer((request, response) => {
    const send = (body: unknown, headers: Record<string, string> = {}) =>
      response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
    const path = new URL(request.url, url).pathname
    if (path === "/.well-known/jwks.json") return send(publicJwks(signingKeys))
    const stack = published.get(/^\/api\/registry\/stacks\/([^/]+)\/ast$/.exec(path)?.[1] ?? "")
    if (stack !== undefined) return send({ ast_payload: stack.ast })
    const list = [...published].map(([name, { version }]) => ({ name, version, content_hash: `${name} ${version}` }))
    const etag = JSON.stringify(JSON.stringify(list))
    if (request.headers["if-none-match"] === etag) return response.writeHead(304).end()
    return send(list, { etag })
  })
  return {
    url,
    close,
    publish: (name: string, ast: unknown) =>
      published.set(name, { version: (published.get(name)?.version ?? 0) + 1, ast }),
    withdraw: (name: string) => published.delete(name),
  }
}

type StreamSettings = { readonly apiUrl: string; readonly rpcUrl: string; readonly env?: Record<string, string> }

export const startStream = async (
  { apiUrl, rpcUrl, env = {} }: StreamSettings,
  bounds?: Parameters<typeof startLocalStream>[1],
) => {
  const variables = { PORT: "0", SVC_LOG_LEVEL: "silent", SVC_API_URL: apiUrl, RPC_URL: rpcUrl, ...env }
  const stream = await startLocalStream(processRuntime(variables), bounds)
  const httpUrl = `http://127.0.0.1:${stream.port}`
  const health = async () => (await (await fetch(`${httpUrl}/health`)).json()) as Record<string, any> // oxlint-disable-line typescript/no-explicit-any
  // Fixtures are started before tests too, where expect.poll can't be used.
  await vi.waitFor(async () => expect((await health())["status"]).toBe("ok"), { timeout: 60_000 })
  return { ...stream, httpUrl, health, url: (stack = "transfers") => `ws://127.0.0.1:${stream.port}/${stack}` }
}

/** A chain and the stream of these sample stacks, until the file's tests are done. */
export const startTogether = async (...names: readonly string[]) => {
  const platform = await startPlatform(Object.fromEntries(names.map((name) => [name, sampleAst(name)])))
  const chain = await startChain()
  const stream = await startStream({ apiUrl: platform.url, rpcUrl: chain.url })
  afterAll(async () => {
    await stream.close()
    await Promise.all([platform.close(), chain.close()])
  })
  return { chain, stream }
}

/** A connection as it stands on the wire. */
export const openRaw = async (
  url: string,
  options: { token?: string; headers?: Record<string, string>; protocols?: string[]; localAddress?: string } = {},
) => {
  const { token, headers = {}, protocols = [], localAddress } = options
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const socket = new WebSocket(url, protocols, { headers: { ...authorization, ...headers }, localAddress })
  const messages: Record<string, any>[] = [] // oxlint-disable-line typescript/no-explicit-any
  let closed: { code: number; reason: string } | undefined
  socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString())))
  socket.on("close", (code, reason) => (closed = { code, reason: String(reason) }))
  const refused = await new Promise<{ status: number; headers: Record<string, unknown>; body: any } | undefined>( // oxlint-disable-line typescript/no-explicit-any
    (resolve, reject) => {
      socket.on("error", reject)
      socket.on("open", () => resolve(undefined))
      socket.on("unexpected-response", (_request, response) => {
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () => {
          const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
        })
      })
    },
  )
  return {
    socket,
    refused,
    messages,
    send: (message: object | string) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    /** The first message that has these members. */
    message: async (wanted: object) => {
      await expect.poll(() => messages).toContainEqual(expect.objectContaining(wanted))
      return messages.find((one) => Object.entries(wanted).every(([name, value]) => one[name] === value)) ?? {}
    },
    closed: async () => {
      await expect.poll(() => closed).toBeDefined()
      return closed
    },
    close: () => socket.terminate(),
  }
}

/** Follows views by the library, with tokens minted here, until each test is over; `records` is always the newest state. */
export const createFollow =
  (closing: ReturnType<typeof createClosing>) =>
  <T>(url: string, view: string) => {
    const mintSession = async () => {
      const token = await mintToken()
      return { token, expires_at: 0, token_type: "Bearer" as const, scope: "read" }
    }
    const session = createSession({ platform: { mintSession }, websocketUrl: url, scope: "read" })
    const stream = createStream({ websocketUrl: url, session })
    const leaving = new AbortController()
    const state = { records: new Map<string, T>() as ReadonlyMap<string, T>, snapshots: 0 }
    const done = (async () => {
      for await (const { records, change } of stream.watch<T>(view, { signal: leaving.signal })) {
        state.records = new Map(records)
        if (change.op === "snapshot") state.snapshots++
      }
    })()
    closing({ close: () => (leaving.abort(), done) })
    return state
  }
