import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { referenceFolder, referencePages } from "./reference/pages.ts"

/** Writes the reference pages anew, from the committed OpenAPI documents. */
export const writeReference = async (): Promise<void> => {
  const pages = await referencePages()
  await rm(referenceFolder, { recursive: true, force: true })
  for (const [file, text] of pages) {
    await mkdir(dirname(join(referenceFolder, file)), { recursive: true })
    await writeFile(join(referenceFolder, file), text)
  }
}
