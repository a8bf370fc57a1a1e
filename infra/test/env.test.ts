import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

import { services } from "../services.ts"
import { apps, envEntries, readers, settingNames } from "./settings.ts"

const example = (app: string): string => readFileSync(join(import.meta.dirname, `../env/${app}.env.example`), "utf8")
const uncommented = (text: string): string => text.replaceAll(/^#(?=[A-Z_]+=)/gm, "")

test.each(apps)("the example for %s has every setting of the service once, and no other", async (app) => {
  const names = envEntries(uncommented(example(app))).map(([name]) => name)
  expect(names.toSorted()).toEqual(await settingNames(app))
})

test.each(apps)("%s listens on its port of services.ts unless another is set", async (app) => {
  const port = services.find(({ folder }) => folder === `apps/${app}`)?.defaultPort
  expect(await readers[app]({})).toMatchObject({ port })
})

test("doctor knows the settings that a service reads, and no other", async () => {
  const names = (await Promise.all(apps.map(settingNames))).flat().filter((name) => name.startsWith("SVC_"))
  const known: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../packages/program/settings.json"), "utf8"),
  )
  expect(known).toEqual([...new Set(names)].toSorted())
})

test.each(apps)("what the example for %s comments out is the default", async (app) => {
  const set = Object.fromEntries(envEntries(example(app)))
  const all = Object.fromEntries(envEntries(uncommented(example(app))))
  const keys = { SVC_SESSION_JWKS_URL: "https://api.example.com/.well-known/jwks.json" }
  expect(await readers[app]({ ...all, ...keys })).toEqual(await readers[app]({ ...set, ...keys }))
})
