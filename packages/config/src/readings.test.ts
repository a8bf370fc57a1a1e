import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { folderOfFile } from "../../../test/folder-of-file.ts"
import { ConfigError, readBoth, textOrFile } from "./index.ts"

const folder = folderOfFile()
const file = join(folder, "text")
writeFileSync(file, "from the file")

const upper = (text: string) => Promise.resolve(text.toUpperCase())

test.each([
  [{}, undefined],
  [{ KEY: " ", KEY_FILE: "" }, undefined],
  [{ KEY: " text " }, "TEXT"],
  [{ KEY_FILE: ` ${file} ` }, "FROM THE FILE"],
  [{ KEY: "text", KEY_FILE: file }, "TEXT"],
])("of %j a text is read as %j", async (env, read) => {
  expect(await textOrFile(env, "KEY", upper)).toBe(read)
})

test("an unreadable text is reported with its variable", async () => {
  const fail = () => Promise.reject(new Error("must be better"))
  const problems = (env: Record<string, string>) =>
    textOrFile(env, "KEY", fail).catch((error: unknown) => error instanceof ConfigError && error.problems)
  expect(await problems({ KEY: "a" })).toEqual(["KEY: must be better"])
  expect(await problems({ KEY_FILE: file })).toEqual(["KEY_FILE: must be better"])
  expect(await problems({ KEY_FILE: join(folder, "none") })).toEqual(["KEY_FILE: the file can't be read (ENOENT)"])
  expect(await problems({ KEY_FILE: folder })).toEqual(["KEY_FILE: the file can't be read (EISDIR)"])
})

test("the problems of two readings are reported together; another error is passed on", async () => {
  const refuse = (problem: string) => () => Promise.reject(new ConfigError([problem]))
  expect(await readBoth(() => 1, upper.bind(undefined, "b"))).toEqual([1, "B"])
  await expect(readBoth(refuse("a"), refuse("b"))).rejects.toMatchObject({ problems: ["a", "b"] })
  await expect(readBoth(() => 1, refuse("b"))).rejects.toMatchObject({ problems: ["b"] })
  await expect(readBoth(refuse("a"), () => Promise.reject(new TypeError("bug")))).rejects.toThrow(TypeError)
})
