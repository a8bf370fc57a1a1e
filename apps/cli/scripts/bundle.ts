import { chmod } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { build } from "esbuild"

/** The folder of the app. */
export const app = fileURLToPath(new URL("..", import.meta.url))

/** Bundles the tool into one file that needs nothing but Node 20 or newer. */
export const bundle = async (outfile: string): Promise<void> => {
  await build({
    entryPoints: [join(app, "src/main.ts")],
    outfile,
    absWorkingDir: app,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    // ws is CommonJS: it asks for Node's own modules by require.
    banner: {
      js: '#!/usr/bin/env node\nimport { createRequire } from "node:module"\nconst require = createRequire(import.meta.url)',
    },
    external: ["bufferutil", "utf-8-validate"],
    logLevel: "warning",
  })
  await chmod(outfile, 0o755)
}
