import { createTestDatabase } from "@svc/testing"
import { expect, test } from "vitest"
import { loadStacks } from "./large-database.ts"
import { publishStack, startTestService } from "./service.ts"

test("a registry of more stacks than are read at once is there whole after a start, and after a publication", async () => {
  const server = await createTestDatabase()
  const first = await startTestService("postgres", { DATABASE_URL: server.url })
  await publishStack(first, "many")
  await loadStacks(server.url, 130)
  const second = await startTestService("postgres", { DATABASE_URL: server.url })
  const names = async () => {
    const pages = await Promise.all(
      [0, 100].map((offset) => second.call("GET", `/api/registry?limit=100&offset=${offset}`)),
    )
    return pages.flatMap(({ body }) => body.map((each: { name: string }) => each.name))
  }
  expect(await names()).toEqual(["many", ...Array.from({ length: 129 }, (_, i) => `many-${i + 1}`)].toSorted())
  await publishStack(second, "one-more")
  await expect.poll(names).toContain("one-more")
  expect(await names()).toHaveLength(131)
  await second.close()
  await first.close()
  await server.stop()
})
