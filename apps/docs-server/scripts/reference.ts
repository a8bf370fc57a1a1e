// Writes the reference pages, which a test compares with the OpenAPI documents that they are made from.
import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { referenceFolder, referencePages } from "./reference/pages.ts"

await rm(referenceFolder, { recursive: true, force: true })
for (const [file, text] of await referencePages()) {
  await mkdir(dirname(join(referenceFolder, file)), { recursive: true })
  await writeFile(join(referenceFolder, file), text)
}
