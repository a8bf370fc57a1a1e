import * as files from "node:fs/promises"
import { createFileStore } from "./journal/file-store.ts"
import type { Store } from "./journal/store.ts"

/**
 * A store in a folder on disk, safe for many processes at once. Only the owner can read its files (mode 0600).
 *
 * @example
 * const journal = createJournal({ relay, store: fileStore("payments") })
 */
export const fileStore = (folder: string): Store => createFileStore(folder, files)
