import { EventEmitter, once } from "node:events"
import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { testFolder } from "../../../test/start-service.ts"
import { folderState, watchFolder } from "../src/corpus/watch.ts"

let parent: string
let dir: string
let stop: () => void
let reads: number
let read: () => Promise<unknown>
beforeEach(async () => {
  parent = await testFolder()
  dir = join(parent, "pages")
  await mkdir(join(dir, "guides"), { recursive: true })
  await writeFile(join(dir, "a.md"), "a")
  const events = new EventEmitter()
  reads = 0
  const report = async (): Promise<void> => void events.emit("read", ++reads)
  stop = watchFolder(dir, await folderState(dir), report, () => performance.now())
  read = () => once(events, "read")
})
afterEach(() => stop())

test("a new page, an edit of the same length, a renamed page and a deleted page are each noticed", async () => {
  for (const change of [
    () => writeFile(join(dir, "guides/b.md"), "b"),
    () => writeFile(join(dir, "guides/b.md"), "c"),
    () => rename(join(dir, "guides/b.md"), join(dir, "guides/d.md")),
    () => rm(join(dir, "guides/d.md")),
  ]) {
    const changed = read()
    await change()
    await changed
  }
  expect(reads).toBeGreaterThanOrEqual(4)
})

test("a change between reading and watching the pages isn't missed", async () => {
  const before = await folderState(dir)
  await writeFile(join(dir, "a.md"), "edited")
  const state = await new Promise<string>((resolve) => {
    const report = async (): Promise<void> => {
      stopOther()
      resolve(await folderState(dir))
    }
    const stopOther = watchFolder(dir, before, report, () => performance.now())
  })
  expect(state).not.toBe(before)
})

test("changes are still noticed after the folder was moved and moved back, or replaced", async () => {
  const away = join(parent, "away")
  await rename(dir, away)
  await rename(away, dir)
  let changed = read()
  await writeFile(join(dir, "a.md"), "edited")
  await changed

  changed = read()
  await rename(dir, away)
  await changed
  changed = read()
  await mkdir(dir)
  await writeFile(join(dir, "a.md"), "another folder's")
  await changed
  changed = read()
  await rm(dir, { recursive: true })
  await rename(away, dir)
  await changed
  expect(reads).toBeGreaterThanOrEqual(4)
})

test("files that aren't pages are ignored", async () => {
  const before = await folderState(dir)
  await mkdir(join(dir, "node_modules"))
  await writeFile(join(dir, "node_modules/a.md"), "a")
  await writeFile(join(dir, ".a.md.swp"), "a")
  await writeFile(join(dir, "a.txt"), "a")
  expect(await folderState(dir)).toBe(before)
})
