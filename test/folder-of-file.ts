import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

/** A folder that is there until all tests of the file are over. */
export const folderOfFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
