import { createServer } from "node:http"
import { once } from "node:events"
import postgres from "postgres"
import { startPostgres, type TestPostgres } from "./postgres.ts"

const variable = "SVC_TEST_POSTGRES"

/**
 * Offers all workers of a test run one PostgreSQL server, which starts when the first of them asks for it.
 * @returns what stops it
 */
export const sharePostgres = async (): Promise<() => Promise<void>> => {
  let server: Promise<TestPostgres> | undefined
  const offer = createServer((_, response) => {
    server ??= startPostgres()
    server.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await once(offer.listen(0, "127.0.0.1"), "listening")
  const address = offer.address()
  process.env[variable] = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  return async () => {
    offer.close()
    await (await server)?.stop()
  }
}

let shared: Promise<string> | undefined
let databases = 0

const findShared = async (): Promise<string> => {
  const response = await fetch(process.env[variable] ?? "")
  const text = await response.text()
  if (response.ok) return text
  throw new Error(text)
}

export type TestDatabase = {
  /** Of the superuser. */
  readonly url: string
  /** Ends all connections and deletes the database. */
  readonly stop: () => Promise<void>
}

/**
 * Makes an empty database on the PostgreSQL server that all tests of a run share: a tenth of the cost of a server. A test
 * that stops the server, reads its log or counts its connections starts its own with `startPostgres`.
 */
export const createTestDatabase = async (): Promise<TestDatabase> => {
  const server = await (shared ??= findShared())
  const name = `test_${process.pid}_${(databases += 1)}`
  const run = async (statement: string): Promise<void> => {
    const sql = postgres(server, { max: 1, onnotice: () => {} })
    await sql.unsafe(statement).finally(() => sql.end())
  }
  await run(`create database ${name}`)
  return {
    url: server.replace(/postgres$/, name),
    stop: () => run(`drop database ${name} with (force)`),
  }
}
