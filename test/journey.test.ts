import { expect, test } from "vitest"

import { makeOwner } from "./journey/owner.ts"
import { journey } from "./journey/journey.ts"
import { testInstance } from "./start-service.ts"

const instance = testInstance(undefined, makeOwner)

test("from one URL an agent gets a confirmed transfer, a rotated key and live records, with real clients", async () => {
  const taken: string[] = []
  const shown: string[] = []
  await journey(instance, async ({ does }, run) => {
    try {
      return await run((line) => shown.push(line))
    } catch (error) {
      throw new Error(`${does}\n${instance.log().slice(-3000)}`, { cause: error })
    } finally {
      taken.push(does)
    }
  })
  expect(taken).toHaveLength(20)
  // What people see of it is safe to show.
  expect(shown.join("\n")).not.toMatch(/svc_[aps]k_[0-9A-Za-z]{38}|eyJ[\w-]+\.[\w-]+\.[\w-]+/)
})
