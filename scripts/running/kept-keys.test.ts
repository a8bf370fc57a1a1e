// @module-tag long
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { recogniseKey } from "@svc/keys"
import { expect, test } from "vitest"
import { testFolder } from "../../test/start-service.ts"
import { services } from "../../infra/services.ts"
import { makeDeveloper, withViewerKey } from "./kept-keys.ts"
import { planStart } from "./start-plan.ts"

const root = join(import.meta.dirname, "../..")

test("the first start creates a developer's account with a private key; a later start changes nothing", async () => {
  const folder = await testFolder()
  const env = { PATH: process.env["PATH"], SVC_DATA_DIR: folder }
  const file = join(root, (await makeDeveloper(root, env)) ?? "")
  expect(file).toBe(join(folder, "developer.key"))
  const key = await readFile(file, "utf8")
  expect([recogniseKey(key.trim()), (await stat(file)).mode & 0o777]).toEqual(["sk", 0o600])
  await makeDeveloper(root, env)
  expect(await readFile(file, "utf8")).toBe(key)
  // Without the file, the account isn't created again, and the start continues without it.
  await rm(file)
  expect(await makeDeveloper(root, env)).toBeUndefined()
})

test("a data folder of any name can be pasted with the command that reads the key", async () => {
  const folder = join(await testFolder(), "a #b")
  await mkdir(folder)
  await writeFile(join(folder, "developer.key"), "")
  expect(await makeDeveloper(root, { SVC_DATA_DIR: folder })).toMatch(/^'.*a #b\/developer\.key'$/)
})

test.each([{ DATABASE_URL: "postgresql://localhost/a" }, { NODE_ENV: "production" }])(
  "with %j no account is created",
  async (env) => {
    expect(await makeDeveloper(root, env)).toBeUndefined()
  },
)

test("a start keeps the pages' key of the last one, for the same origin", async () => {
  const start = async (port: string): Promise<string> => {
    const env = { PATH: process.env["PATH"], SVC_DATA_DIR: folder, SVC_DOCS_PORT: port }
    const planned = await withViewerKey(planStart(services, env).planned)
    return planned.find(({ service }) => service.name === "docs")?.env["SVC_VIEWER_KEY"] ?? ""
  }
  const folder = await testFolder()
  const first = await start("4001")
  expect(recogniseKey(first)).toBe("pk")
  expect(await start("4001")).toBe(first)
  const elsewhere = await start("4101")
  expect([recogniseKey(elsewhere), elsewhere === first]).toEqual(["pk", false])
})
