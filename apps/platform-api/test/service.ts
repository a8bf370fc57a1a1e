import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { processRuntime } from "@svc/program"
import { type ResponseChecker, responseChecker, createTestDatabase } from "@svc/testing"
import { describe, expect, onTestFinished, vi } from "vitest"
import { beforeTests } from "../../../test/start-service.ts"
import type { Database } from "../src/db/database.ts"
import { openServerDatabase } from "../src/db/server/server.ts"
import { type Publication, publish } from "../src/operator/publish.ts"
import { parseAst } from "../src/registry/ast/parse-ast.ts"
import { startService } from "../src/service.ts"
import { smallAst } from "./registry/small-ast.ts"

// The committed document, which a test compares with the served one: its schemas are compiled once for all services.
const document: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "../openapi.json"), "utf8"))
const check: ResponseChecker = responseChecker(document)

export { beforeTests }

export const databaseKinds = ["postgres", "embedded"] as const
export type DatabaseKind = (typeof databaseKinds)[number]

export const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-platform-"))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

type Call = {
  readonly key?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** The client's address, as a trusted proxy tells it. */
  readonly from?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is, in place of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
}

type Answer = {
  readonly status: number
  readonly headers: Headers
  // Tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly code: string | null
}

export type TestService = Awaited<ReturnType<typeof startTestService>>

/** Makes a call again while the database is late, as the response says: on a busy machine a lock can take longer than a statement may. */
export const untilServed = async <Served extends { readonly status: number }>(
  ask: () => Promise<Served>,
  attempts = 5,
): Promise<Served> => {
  const answer = await ask()
  return answer.status === 503 && attempts > 1 ? untilServed(ask, attempts - 1) : answer
}

/** The real service on a port of its own, with a database of its own unless one is given. */
export const startTestService = async (kind: DatabaseKind, env: Readonly<Record<string, string>> = {}) => {
  const { folder, remove } = temporaryFolder()
  const server = kind === "postgres" && env["DATABASE_URL"] === undefined ? await createTestDatabase() : undefined
  const clock = { offsetMs: 0 }
  const runtime = processRuntime({
    PORT: "0",
    SVC_API_URL: "http://localhost:4003",
    SVC_DATA_DIR: folder,
    SVC_LOG_LEVEL: "silent",
    SVC_SIGNUPS_PER_HOUR: "100000",
    SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
    ...(server === undefined ? {} : { DATABASE_URL: server.url }),
    ...env,
  })
  const service = await startService({
    ...runtime,
    wallClock: () => Date.now() + clock.offsetMs,
    now: () => performance.now() + clock.offsetMs,
  })
  const url = `http://127.0.0.1:${service.port}`

  /** Asks the service, and checks that the answer is one that its OpenAPI document describes. */
  const call = async (method: string, path: string, { key, body, from, headers, raw }: Call = {}): Promise<Answer> => {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(from === undefined ? {} : { "x-forwarded-for": from }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    })
    const described = !["HEAD", "OPTIONS"].includes(method) && response.status !== 405 && path !== "/nowhere"
    if (described) await check(method, path, response)
    const text = await response.text()
    const json = response.headers.get("content-type")?.startsWith("application/json") === true && text !== ""
    return {
      status: response.status,
      headers: response.headers,
      body: json ? JSON.parse(text) : text,
      code: response.headers.get("x-error-code"),
    }
  }

  /** The code of the error that a call is answered with, or null. */
  const code = async (...given: Parameters<typeof call>) => (await call(...given)).code

  return {
    url,
    /** For another service at the same database; empty for an embedded one. */
    databaseUrl: env["DATABASE_URL"] ?? server?.url ?? "",
    call,
    code,
    /** Why a key doesn't work: the error's code, or null if it does. */
    faultOf: (key: string) => code("GET", "/api/agents/me", { key }),
    /** The pages from this one on that Link leads through. */
    pages: async (first: string, given?: Call): Promise<readonly Answer[]> => {
      const all: Answer[] = []
      for (let path: string | undefined = first; path !== undefined;) {
        const page = await call("GET", path, given)
        all.push(page)
        path = /^<([^>]+)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1]
      }
      return all
    },
    signUp: async (from?: string): Promise<{ readonly slug: string; readonly key: string; readonly id: number }> => {
      const { status, body } = await untilServed(() => call("POST", "/api/agents/signup", { from }))
      if (status !== 201) throw new Error(`sign-up answered ${status}`)
      return { slug: body.slug, key: body.api_key, id: body.key_id }
    },
    mint: async (key: string, body?: object) => (await call("POST", "/api/agents/me/keys", { key, body })).body,
    publishable: async (key: string, origins: readonly string[], path = "/api/agents/me/keys"): Promise<string> =>
      (await call("POST", `${path}/publishable`, { key, body: { origin_allowlist: origins } })).body.key,
    database: () => service.database.within(60_000),
    /** How many of the server's sessions wait for a lock. */
    lockWaits: async (): Promise<number> => {
      const waiting = "select 1 from pg_locks where not granted and $1"
      return (await service.database.within(60_000).query(waiting, [true])).length
    },
    clock,
    close: async () => {
      await service.close()
      await server?.stop()
      remove()
    },
  }
}

/** Tests on a server's database and on the embedded one, which runs the same SQL: `pnpm test` leaves the second one out. */
export const onBothDatabases = (name: string, tests: (kind: DatabaseKind) => void): void => {
  for (const kind of databaseKinds)
    describe(`${name} on ${kind}`, { tags: kind === "embedded" ? ["long"] : [] }, () => {
      tests(kind)
    })
}

/** A service for all tests of a file or a block. */
export const testService = (
  kind: DatabaseKind,
  env: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>) = {},
): TestService =>
  beforeTests(
    () => startTestService(kind, typeof env === "function" ? env() : env),
    ({ close }) => close(),
  )

/** A service until the end of the test that starts it. */
export const serviceInTest = async (...given: Parameters<typeof startTestService>): Promise<TestService> => {
  const service = await startTestService(...given)
  onTestFinished(service.close)
  return service
}

/** Publishes a public stack as an operator does, or its next version. */
export const publishStack = (
  service: Pick<TestService, "database">,
  name: string,
  ast: unknown = smallAst(),
  more: Partial<Omit<Publication, "name" | "ast">> = {},
) => {
  const usual = { description: null, visibility: "public", relay: false, browserSend: false } as const
  const stack = { ...usual, name, websocketUrl: `wss://streams.example/${name}`, ast: parseAst(ast), ...more }
  return publish(service.database(), stack, new Date())
}

/** Waits until a path answers with this status: a publication takes a moment to arrive. */
export const reached = (service: TestService, path: string, status = 200) =>
  vi.waitFor(async () => expect((await service.call("GET", path)).status).toBe(status), 60_000)

/** A server's database, opened beside its services for the time of the work. */
export const besides = async <T>(url: string, work: (database: Database) => Promise<T>): Promise<T> => {
  const database = openServerDatabase({ url, statementMs: 0, connections: 1, now: () => performance.now() })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
