import { enableCompileCache } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { closeDataFolder } from "./data-folder.ts"

const dataFolder = process.env["SVC_DATA_DIR"]?.trim() || fileURLToPath(new URL("../.data", import.meta.url))

// Compiled code is cached in the data folder, which no other user can write to. It makes the start faster and smaller.
// It must be enabled before the program is imported. If the folder isn't usable, the start is only slower.
// `doctor` writes nothing, not even there.
if (!["doctor", "--help", "--version"].includes(process.argv[2] ?? "")) {
  try {
    closeDataFolder(dataFolder)
    enableCompileCache(join(dataFolder, "compile-cache"))
  } catch {}
}

const { run } = await import("./program.ts")
await run(process.argv.slice(2))
