// Sets the version of the images, svc-client, the tool and the skill file, and regenerates the files that contain it.
// Usage: pnpm bump 1.2.3
import { join } from "node:path"
import { setVersion } from "./versions.ts"

try {
  setVersion(join(import.meta.dirname, ".."), process.argv[2] ?? "")
  await import("./openapi.ts")
} catch (error) {
  console.error(`bump: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
