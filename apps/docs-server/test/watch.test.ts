import { EventEmitter, once } from "node:events"
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { watchFolder, type WatchOptions } from "../src/watch.ts"

let parent: string
let dir: string
let stop: (() => void) | undefined
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "svc-watch-"))
  dir = join(parent, "pages")
  await mkdir(dir)
  await writeFile(join(dir, "a.md"), "a")
})
afterEach(async () => {
  stop?.()
  await rm(parent, { recursive: true })
})

const watchPages = (options: Partial<WatchOptions> = {}) => {
  const events = new EventEmitter()
  const troubles: string[] = []
  stop = watchFolder(dir, async () => void events.emit("read"), {
    onTrouble: (reason) => troubles.push(reason),
    lookMs: 20,
    ...options,
  })
  return { read: () => once(events, "read"), troubles }
}

test("a folder that is moved away and put back, or replaced, is read again, and what changes in it afterwards too", async () => {
  const { read, troubles } = watchPages()
  const away = join(parent, "away")
  await rename(dir, away)
  await mkdir(dir)
  await read()
  const replaced = read()
  await rm(dir, { recursive: true })
  await rename(away, dir)
  await replaced
  const edited = read()
  await writeFile(join(dir, "a.md"), "b")
  await edited
  expect(troubles).toEqual([])
})

const noSpace = () =>
  Object.assign(new Error("ENOSPC: System limit for number of file watchers reached"), { code: "ENOSPC" })

test.each([
  [
    "at once",
    () => {
      throw noSpace()
    },
  ],
  [
    "later, for a folder inside",
    () => {
      const watcher = Object.assign(new EventEmitter(), { close: () => {} })
      setImmediate(() => watcher.emit("error", noSpace()))
      return watcher
    },
  ],
])(
  "where the system has no watchers left (%s) it is told once, and changes are found all the same",
  async (_, open) => {
    const { read, troubles } = watchPages({ open })
    for (const text of ["longer", "longer still"]) {
      const changed = read()
      // The first look may come after the change: until one is seen, it is made again.
      let written = ""
      const writing = setInterval(() => void writeFile(join(dir, "a.md"), (written += text)), 300)
      await changed
      clearInterval(writing)
    }
    expect(troubles).toEqual([expect.stringMatching(/^ENOSPC.*compared every 20 ms/)])
  },
)
