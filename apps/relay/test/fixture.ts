import { metrics } from "@opentelemetry/api"
import { serve, type TrustedNetwork } from "@svc/http"
import { createLocalLimits } from "@svc/limits"
import {
  createVerifier,
  generateSigningKey,
  publicJwks,
  readSigningKeys,
  type SessionClaims,
  signSessionToken,
  staticKeys,
} from "@svc/session-token"
import { responseChecker } from "@svc/testing"
import { expect, onTestFinished } from "vitest"
import document from "../openapi.json" with { type: "json" }
import { beforeTests } from "../../../test/start-service.ts"
import { type FakeRpc, type Script, startFakeRpc } from "./fake-rpc.ts"
import { createAdmission } from "../src/admission.ts"
import { createApp } from "../src/app.ts"
import { createLoopbackAuthPlugin, createSignedSessionAuthPlugin, type HttpAuthPlugin } from "../src/auth.ts"
import { type Config, readConfig } from "../src/config.ts"
import { createMetering } from "../src/usage/metering.ts"
import { createMetrics, type Metrics } from "../src/metrics.ts"
import type { Chain } from "../src/chain.ts"
import { commonHeaders, unreadableResponse } from "../src/answers.ts"
import { routes } from "../src/routes/table.ts"
import { openUpstreams } from "../src/upstream/upstreams.ts"
import type { Usage } from "../src/usage/usage.ts"

const version = "1.0.0"
const publicUrl = "http://localhost:4002"
const check = responseChecker(document)

const prefix = "/transactions/v1/"

/** The last part of every route's path, so a test of all routes needs no names. */
export const routeNames = routes.map(({ path }) => path.slice(prefix.length))

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Each test knows the shape of its response.
  readonly body: any // oxlint-disable-line typescript/no-explicit-any
}

/** The headers of every response of the relay. */
const expectHeaders = (headers: Headers, status: number): void => {
  expect(headers.get("x-request-id")).toMatch(/^[\w.-]{8,64}$/)
  expect(headers.get("x-svc-upstream-attempted")).toMatch(/^(true|false)$/)
  expect(headers.get("cache-control")).toBe("no-store")
  expect(headers.get("x-content-type-options")).toBe("nosniff")
  expect(headers.get("access-control-allow-origin")).toBe("*")
  if (status >= 400) expect(headers.get("x-error-code")).not.toBeNull()
  if (status === 429 || status === 503) expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
}

export type RelayOptions = {
  readonly env?: Readonly<Record<string, string>>
  readonly auth?: HttpAuthPlugin
  readonly usage?: Usage
  readonly metrics?: Metrics
  readonly now?: () => number
  readonly trusted?: readonly TrustedNetwork[]
  readonly lines?: unknown[]
  readonly chain?: () => Promise<Chain | undefined>
}

/** A relay on a real socket, unprotected by default. Every response is checked against the document. */
export const startRelay = async (upstreamUrl: string, options: RelayOptions = {}) => {
  const now = options.now ?? (() => performance.now())
  const lines = options.lines ?? []
  const write = (...line: unknown[]) => void lines.push(line)
  const config: Config = await readConfig({
    SVC_TRANSACTIONS_ENABLED: "true",
    SVC_TRANSACTION_RPC_URL: upstreamUrl,
    ...options.env,
  })
  const { readFallbackUrls: fallbacks, sendUrl: send } = config
  const upstreams = openUpstreams({ first: upstreamUrl, fallbacks, send }, now, { warn: write })
  const requests = {
    log: { debug: write, info: write, warn: write, error: write },
    now,
    randomId: () => crypto.randomUUID(),
  }
  const onUnreadable = unreadableResponse("http://localhost:4001")
  const trustedProxies = options.trusted ?? []
  const common = { onUnreadable, trustedProxies, headers: commonHeaders }
  const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 5000, requests, ...common })
  const app = createApp({
    log: { error: write },
    version,
    publicUrl,
    docsUrl: "http://localhost:4001",
    draining: server.draining,
    keysKnown: () => true,
    onUnprotected: undefined,
    transactions: config.enabled
      ? {
          config,
          auth: options.auth ?? createLoopbackAuthPlugin(),
          admission: createAdmission(config, createLocalLimits({ now })),
          limitsMode: () => "local",
          chain: options.chain ?? (async () => undefined),
          ...upstreams,
          metering: createMetering({
            metrics: options.metrics ?? createMetrics(metrics.getMeter("none")),
            usage: options.usage,
            now,
            randomId: () => crypto.randomUUID(),
            wallClock: () => 1_700_000_000_000,
          }),
        }
      : undefined,
  })
  server.handle(app.fetch)
  const url = `http://127.0.0.1:${server.port}`

  const request = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(url + path, init)
    const { status, headers } = response
    expectHeaders(headers, status)
    const operations = new Map(Object.entries<object>(document.paths)).get(path) ?? {}
    const described = (init.method ?? "GET").toLowerCase() in operations && status !== 405
    const text = await (described ? (await check(init.method ?? "GET", path, response)).text() : response.text())
    const body: unknown = text === "" ? undefined : JSON.parse(text)
    if (status >= 400) {
      expect(body).toMatchObject({ code: headers.get("x-error-code"), requestId: headers.get("x-request-id") })
      const states = path === "/transactions/v1/send" ? [expect.stringMatching(/^(not_submitted|unknown)$/)] : []
      expect(Object.entries(body ?? {}).flatMap(([key, state]) => (key === "submissionState" ? [state] : []))).toEqual(
        states,
      )
      const isCalledSend = path === "/transactions/v1/send" && headers.get("x-svc-upstream-attempted") === "true"
      if (isCalledSend)
        expect(body).toMatchObject({ signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/) })
    }
    return { status, headers, text, body }
  }

  return {
    url,
    port: server.port,
    lines,
    app,
    request,
    /** Posts to a route by the last part of its path. */
    post: (route: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
      request(prefix + route, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    drain: () => server.close(),
    close: async (): Promise<void> => {
      await server.close()
      await app.idle()
      await upstreams.close()
    },
  }
}

/** The same, closed at the end of the test. */
export const testRelay = async (...options: Parameters<typeof startRelay>) => {
  const relay = await startRelay(...options)
  onTestFinished(relay.close)
  return relay
}

export type Relay = Awaited<ReturnType<typeof startRelay>>

/** A provider until the end of the test. */
export const testRpc = async (...options: Parameters<typeof startFakeRpc>) => {
  const rpc = await startFakeRpc(...options)
  onTestFinished(rpc.close)
  return rpc
}

/** A provider for all tests of a file or a block. */
export const fileRpc = (script?: Script) =>
  beforeTests(
    async () => {
      const rpc = await startFakeRpc()
      if (script !== undefined) rpc.script(script)
      return rpc
    },
    ({ close }) => close(),
  )

/** A relay in front of it, as long. */
export const fileRelay = (rpc: FakeRpc, options: RelayOptions = {}) =>
  beforeTests(
    () => startRelay(rpc.url, options),
    ({ close }) => close(),
  )

/** A platform for a test: it signs tokens, and makes the plugin with its key. */
export const startIssuer = async (wallClock: () => number = () => 1_800_000_000_000) => {
  const keys = await readSigningKeys(await generateSigningKey())
  const source = await staticKeys(JSON.stringify(publicJwks(keys)))
  const issuer = "svc-platform"
  const verifier = createVerifier({ keys: source, issuer, audiences: ["transfers"], now: wallClock })
  const token = async (claims: Partial<SessionClaims> = {}): Promise<string> => {
    const all = {
      iss: issuer,
      sub: "agent:alice",
      aud: "transfers",
      jti: crypto.randomUUID(),
      scope: "transaction:inspect transaction:send",
      key_class: "secret" as const,
      metering_key: "key:1",
      ...claims,
    }
    return (await signSessionToken(keys, all, Math.floor(wallClock() / 1000))).token
  }
  return {
    keys,
    plugin: createSignedSessionAuthPlugin(verifier),
    token,
    bearer: async (claims: Partial<SessionClaims> = {}) => ({ authorization: `Bearer ${await token(claims)}` }),
  }
}
