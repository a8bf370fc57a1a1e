import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createPerson } from "../../scripts/running/operate.ts"

/** Where the owner's key waits for it: beside the data folder, as an operator hands it over. */
export const ownerKeyFile = (folder: string): string => join(folder, "owner-key")

/** What an operator does once for a person, before the services run on the data folder. */
export const makeOwner = async (dataFolder: string): Promise<void> => {
  const file = ownerKeyFile(join(dataFolder, ".."))
  const key = await createPerson({ SVC_DATA_DIR: dataFolder }, "owner@example.org")
  await writeFile(file, `${key}\n`, { mode: 0o600 })
}
