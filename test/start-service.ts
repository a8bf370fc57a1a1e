import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Instance, startInstance } from "../scripts/running/instance.ts"
import { createTestDatabase, freePort, startProcess, startReceiver } from "@svc/testing"
import { afterAll, beforeAll, expect, onTestFinished } from "vitest"

/** Stands for what is made before all tests of a file or a block, and ended after them. */
export const beforeTests = <T extends object>(make: () => Promise<T>, end?: (made: T) => unknown): T => {
  let made: T | undefined
  beforeAll(async () => {
    made = await make()
  })
  afterAll(() => made && end?.(made))
  const get = (_: T, name: string): unknown => Reflect.get(made ?? expect.fail(`no ${name} before the tests`), name)
  return new Proxy({} as T, { get })
}

/** All services for all tests of a file or a block. */
export const testInstance = (...given: Parameters<typeof startInstance>): Instance =>
  beforeTests(
    () => startInstance(...given),
    ({ stop }) => stop(),
  )

/** A folder that is there until the test is over. */
export const testFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "svc-test-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A receiver that is there until the test is over. */
export const testReceiver = async () => {
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  return receiver
}

/** A process that ends with the test at the latest. */
export const testProcess = (...given: Parameters<typeof startProcess>) => {
  const child = startProcess(...given)
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await child.exited
  })
  return child
}

/** Settings of a platform with a database and a data folder of its own, until the test is over. */
export const platformSettings = async () => {
  const database = await createTestDatabase()
  onTestFinished(database.stop)
  return { DATABASE_URL: database.url, SVC_DATA_DIR: await testFolder() }
}

/** A service as a process of its own on a free port, until the test is over. */
export const startService = async (
  app: "docs-server" | "relay" | "platform-api",
  env: Readonly<Record<string, string>> = {},
) => {
  const port = await freePort()
  const child = testProcess(process.execPath, ["src/main.ts"], {
    cwd: join(import.meta.dirname, "../apps", app),
    env: { PORT: String(port), ...env },
  })
  await child.waitFor(/"listening"/)
  /** Stops it as an operator does; resolves to its exit code. */
  const stop = () => {
    child.kill("SIGTERM")
    return child.exited
  }
  return { child, port, url: `http://127.0.0.1:${port}`, stop }
}
