// @module-tag long
import { full } from "@svc/testing"
import { expect, test } from "vitest"
import { field, withFields } from "../registry/small-ast.ts"
import { type TestService, testService } from "../service.ts"
import { newPerson, type Person } from "./person.ts"

const people = full ? 10 : 3
const runsEach = full ? 20 : 4

const env = { SVC_REGISTRY_REQUESTS_PER_MINUTE: "0" }
const one = testService("postgres", env)
const other = testService("postgres", () => ({ DATABASE_URL: one.databaseUrl, ...env }))

const astOf = (number: number) => withFields(Array.from({ length: number }, (_, n) => field(`f${n}`, "u8")))

test("simultaneous publish runs on two replicas finish once, in order per spec; readers see whole versions", async () => {
  const begun: { person: Person; spec: number; name: string; runs: number[] }[] = []
  for (let n = 0; n < people; n++) {
    const person = await newPerson(one)
    const name = `many-${n}`
    begun.push({ person, spec: (await person.newSpec(name)).id, name, runs: [] })
  }
  const reading = new AbortController()
  const read = async (service: TestService): Promise<void> => {
    while (!reading.signal.aborted) {
      const { body } = await service.call("GET", "/api/registry?include=schema&limit=100")
      for (const { version, schema } of body) expect(schema.entities[0].fields).toHaveLength(version)
    }
  }
  const readers = [read(one), read(other)]
  await Promise.all(
    begun.map(async ({ person, spec, runs }) => {
      for (let number = 1; number <= runsEach; number++) runs.push((await person.publish(spec, astOf(number))).id)
    }),
  )
  for (const { person, runs, name } of begun) {
    const ended: string[] = []
    for (const id of runs) {
      const { status, completed_at } = await person.endOfRun(id)
      expect(status).toBe("succeeded")
      ended.push(completed_at)
    }
    expect(ended).toEqual(ended.toSorted())
    const { body } = await other.call("GET", `/api/registry/${name}/versions`)
    expect(body.map(({ version }: { version: number }) => version)).toEqual(Array.from(runs, (_, n) => runsEach - n))
    expect(await person.get("/api/builds?limit=100")).toHaveLength(runsEach)
  }
  reading.abort()
  await Promise.all(readers)
})
