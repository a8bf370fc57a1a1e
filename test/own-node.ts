import { existsSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"

/** The folder of the machine's own Node, which may be as old as 20; the pinned one's where there is no other. */
export const ownNodeFolder =
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .find((folder) => !folder.includes("node_modules") && existsSync(join(folder, "node"))) ?? dirname(process.execPath)

/** The machine's own Node and the pinned one, or the one that is both. */
export const nodes = [...new Set([join(ownNodeFolder, "node"), process.execPath])]
