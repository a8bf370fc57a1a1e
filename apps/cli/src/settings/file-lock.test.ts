import { mkdir, readdir, rename, utimes, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { folderOfFile } from "../../../../test/folder-of-file.ts"
import { lockFile } from "./file-lock.ts"

const folder = folderOfFile()
let deaths = 0
/** The name of a holder that is gone: no process has this id, which is above the largest that Linux and macOS give. */
const gone = (): string => `2147483646@${encodeURIComponent(hostname())}@${deaths++}`

test("only one process holds the lock at a time, even if others wait or holders die", async () => {
  for (let round = 0; round < 5; round++) {
    const path = join(folder, `${round}.lock`)
    await mkdir(path)
    await writeFile(join(path, gone()), "")
    let inside = 0
    const hold = async (dies: boolean): Promise<void> => {
      const lock = await lockFile(path)
      expect([++inside, await lock.isHeld()]).toEqual([1, true])
      inside--
      if (!dies) return lock.release()
      const [own = ""] = await readdir(path)
      await rename(join(path, own), join(path, gone()))
    }
    await Promise.all(Array.from({ length: 12 }, (_, i) => hold(i % 3 === 0)))
  }
  // Locks of the dead alone are left.
  const left = await readdir(folder, { recursive: true })
  expect(left.filter((name) => name.includes(`${process.pid}@`))).toEqual([])
})

test("a holder that is idle for too long loses the lock, and can detect that", async () => {
  const path = join(folder, "slow.lock")
  const slow = await lockFile(path)
  const [own = ""] = await readdir(path)
  await utimes(join(path, own), 0, 0)
  const next = await lockFile(path)
  expect([await slow.isHeld(), await next.isHeld()]).toEqual([false, true])
  await slow.release()
  expect(await next.isHeld()).toBe(true)
})
