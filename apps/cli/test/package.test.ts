import { existsSync } from "node:fs"
import { readdir, readFile, stat, symlink } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, expect, test } from "vitest"
import { folderOfFile } from "../../../test/folder-of-file.ts"
import { app } from "../scripts/bundle.ts"
import manifest from "../package.json" with { type: "json" }
import { runProgram } from "./tool.ts"

const home = folderOfFile()
const tarball = join(app, "dist/svc.tgz")

const build = async (): Promise<Buffer> => {
  expect(await runProgram(process.execPath, ["scripts/build.ts"], { cwd: app, env: { HOME: home } })).toMatchObject({
    code: 0,
  })
  return readFile(tarball)
}

beforeAll(build)

test("the package is small, has no dependencies, and is built reproducibly", async () => {
  const first = await readFile(tarball)
  expect(first.length).toBeLessThan(300_000)
  expect((await build()).equals(first)).toBe(true)
  expect(await runProgram("tar", ["-xzf", tarball, "-C", home])).toMatchObject({ code: 0 })
  expect((await readdir(join(home, "package"))).sort()).toEqual([
    "LICENSE",
    "README.md",
    "package.json",
    "parts",
    "svc.mjs",
  ])
  const packed: unknown = JSON.parse(await readFile(join(home, "package/package.json"), "utf8"))
  expect(packed).toMatchObject({ name: "svc", license: "MIT", bin: { svc: "svc.mjs" }, engines: { node: ">=20" } })
  expect(packed).not.toHaveProperty("dependencies")
  const parts = (await readdir(join(home, "package/parts"))).map((name) => `parts/${name}`)
  for (const file of ["svc.mjs", ...parts]) {
    const bundled = await readFile(join(home, "package", file), "utf8")
    const imported = [...bundled.matchAll(/(?<!")(?:from|import\()\s*"([^"]+)"/g)].map((match) => match[1])
    expect(imported.filter((name) => !/^(?:node:|\.)/.test(name ?? ""))).toEqual([])
  }
  expect((await stat(join(app, "dist/svc.mjs"))).mode & 0o111).toBe(0o111)
})

test("it runs when called through a link, as package managers install it", async () => {
  const link = join(home, "svc")
  await symlink(join(app, "dist/svc.mjs"), link)
  expect(await runProgram(link, ["--version"])).toMatchObject({ code: 0, stdout: `${manifest.version}\n` })
})

test.runIf(existsSync("/dev/full"))("output that can't be written is a failure", async () => {
  const command = ["--norc", "-c", '"$0" --help > /dev/full', join(app, "dist/svc.mjs")]
  expect(await runProgram("bash", command)).toEqual({
    code: 1,
    stdout: "",
    stderr: "svc: The standard output can't be written (ENOSPC).\n",
  })
})
