import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import fc from "fast-check"
import { expect, test } from "vitest"
import { folderOfFile } from "../../../../test/folder-of-file.ts"
import { changeCredentials, credentialsFile, readCredentials } from "./credentials.ts"
import { CliError } from "../errors.ts"
import { inputFrom } from "../input.ts"
import { nowhere, readTextFile } from "./files.ts"

const folder = folderOfFile()

test("any file is read as keys by URL, or as one error that quotes nothing of the file", async () => {
  const secret = "svc_ak_secret"
  const content = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((text) => `{"https://a.example": ${text}, "${secret}": 1}`),
  )
  await fc.assert(
    fc.asyncProperty(content, async (text) => {
      await writeFile(credentialsFile(folder), text)
      try {
        for (const { api_key } of Object.values(await readCredentials(folder))) expect(api_key).not.toBe("")
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        expect(error.code).toBe("credentials-unreadable")
        expect(error.message).not.toContain(secret)
      }
    }),
  )
})

test("keys, other files and a key on the standard input may have a byte order mark, also of UTF-16", async () => {
  const keys = { "https://a.example": { api_key: "k", slug: "s", display_name: "n" } }
  const encodings = [
    (text: string) => Buffer.from(text),
    (text: string) => Buffer.from(text, "utf16le"),
    (text: string) => Buffer.from(text, "utf16le").swap16(),
  ]
  for (const encoded of encodings) {
    const file = credentialsFile(folder)
    await writeFile(file, encoded(`\ufeff${JSON.stringify(keys)}`))
    expect([await readCredentials(folder), await readTextFile(file)]).toEqual([keys, JSON.stringify(keys)])
    const bytes = encoded("\ufeff\r\nkey\r\nmore\r\n")
    expect(await inputFrom(Readable.from([bytes.subarray(0, 5), bytes.subarray(5)])).readLine()).toBe("key")
  }
})

test("saved keys are read back for any URL and name, and no other file remains", async () => {
  const text = fc.string({ minLength: 1 })
  const credential = fc.record({ api_key: text, slug: text, display_name: text })
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.oneof(fc.webUrl(), fc.string()), credential), async (credentials) => {
      await writeFile(credentialsFile(folder), "{}")
      await changeCredentials(folder, ({ save }) => save(credentials))
      expect({ ...(await readCredentials(folder)) }).toEqual({ ...credentials })
      expect(await readdir(folder)).toEqual(["credentials.json"])
    }),
    { numRuns: 10 },
  )
})

test("a symbolic link is kept and its target gets the keys; without a home folder nothing is read or saved", async () => {
  const dotfiles = join(folder, "dotfiles")
  await mkdir(dotfiles)
  const target = join(dotfiles, "keys.json")
  await rm(credentialsFile(folder))
  await symlink(target, credentialsFile(folder))
  const credentials = { "https://a.example": { api_key: "k" } }
  await changeCredentials(folder, ({ save }) => save(credentials))
  expect([JSON.parse(await readFile(target, "utf8")), await readdir(dotfiles)]).toEqual([credentials, ["keys.json"]])
  expect({ ...(await readCredentials(nowhere)) }).toEqual({})
  const saving = changeCredentials(nowhere, ({ save }) => save(credentials))
  await expect(saving).rejects.toMatchObject({ code: "no-home-folder" })
})
