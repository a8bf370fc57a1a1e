import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { startProcess } from "@svc/testing"
import { z } from "zod"

const platform = join(import.meta.dirname, "../../apps/platform-api/src/main.ts")
const created = z.object({ api_key: z.string() })

/** Where the owner's key waits for it: beside the data folder, as an operator hands it over. */
export const ownerKeyFile = (folder: string): string => join(folder, "owner-key")

/** What an operator does once for a person, before the services run on the data folder. */
export const makeOwner = async (dataFolder: string): Promise<void> => {
  const made = startProcess(process.execPath, [platform, "user", "create", "--email", "owner@example.org"], {
    env: { SVC_DATA_DIR: dataFolder },
  })
  if ((await made.exited) !== 0) throw new Error(`no owner could be made: ${made.stdout()}${made.stderr()}`)
  const file = ownerKeyFile(join(dataFolder, ".."))
  await writeFile(file, `${created.parse(JSON.parse(made.stdout())).api_key}\n`)
  await chmod(file, 0o600)
}
