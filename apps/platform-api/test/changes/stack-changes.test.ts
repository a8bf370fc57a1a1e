import { readFileSync, globSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { changesBetween, type Shown } from "../../src/registry/stack-changes.ts"

const stack: Shown = {
  name: "one",
  line: "spec:1",
  version: 2,
  visibility: "private",
  viewers: [1],
  deprecated: null,
  message: "words",
}
const breaking = { verdict: "breaking", bump: "major" } as const
const kinds = (...given: Parameters<typeof changesBetween>) => changesBetween(...given).map(({ kind }) => kind)

test("each kind follows from what readers had and what they have now", () => {
  expect(changesBetween(undefined, stack, undefined, breaking)).toMatchObject([
    { kind: "published", version: 2, previousVersion: null, verdict: "none", message: "words" },
  ])
  expect(changesBetween({ ...stack, version: 1 }, stack, 1, breaking)).toMatchObject([
    { kind: "published", previousVersion: 1, ...breaking },
  ])
  expect(changesBetween({ ...stack, version: 3 }, stack, 3, breaking)).toMatchObject([
    { kind: "rolled-back", previousVersion: 3, ...breaking },
  ])
  expect(changesBetween(undefined, stack, 2)).toMatchObject([{ kind: "restored", verdict: "none" }])
  expect(changesBetween(stack, undefined, 2)).toMatchObject([{ kind: "withdrawn", version: 2, ...breaking }])
  const note = JSON.stringify({ message: "leave", since: "2026-11-20", successor: "two" })
  expect(changesBetween(stack, { ...stack, deprecated: note }, 2)).toMatchObject([
    { kind: "deprecated", message: "leave", successor: "two" },
  ])
  expect(kinds({ ...stack, deprecated: note }, stack, 2)).toEqual(["undeprecated"])
  expect(kinds(stack, { ...stack }, 2)).toEqual([])
})

test("a change of who can read it concerns only those whose view changed", () => {
  const shared = { ...stack, viewers: [1, 2] }
  const open = { ...stack, visibility: "public" } as const
  expect(changesBetween(stack, shared, 2)).toMatchObject([
    { kind: "published", viewers: [1, 2], exceptVisibility: "private", exceptViewers: [1] },
  ])
  expect(changesBetween(shared, stack, 2)).toMatchObject([
    { kind: "withdrawn", viewers: [1, 2], exceptVisibility: "private", exceptViewers: [1] },
  ])
  expect(kinds(stack, { ...stack, viewers: [2] }, 2)).toEqual(["published", "withdrawn"])
  expect(kinds(stack, open, 2)).toEqual(["published"])
  expect(kinds(open, { ...shared, version: 3 }, 2)).toEqual(["published", "withdrawn"])
})

test("only the file that tells readers of changes writes stacks", () => {
  const source = join(import.meta.dirname, "../../src")
  const writes = /\b(insert|update|delete)\(stacks\)|\b(insert into|update|delete from) stacks\b/
  const files = globSync("**/*.ts", { cwd: source }).filter((file) =>
    writes.test(readFileSync(join(source, file), "utf8")),
  )
  expect(files).toEqual(["registry/publication.ts"])
})
