import { readFileSync, globSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

test("only the file that reports changes to readers writes stacks", () => {
  const source = join(import.meta.dirname, "../../src")
  const writes = /\b(insert|update|delete)\(stacks\)|\b(insert into|update|delete from) stacks\b/
  const files = globSync("**/*.ts", { cwd: source }).filter((file) =>
    writes.test(readFileSync(join(source, file), "utf8")),
  )
  expect(files).toEqual(["registry/publication.ts"])
})
