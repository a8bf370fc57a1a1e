import { chmod } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { build, type Plugin } from "esbuild"

/** The folder of the app. */
export const app = fileURLToPath(new URL("..", import.meta.url))

/** What the tool uses of modules that cost every start as much as all others of Node's that it imports. */
const late: Readonly<Record<string, readonly string[]>> = {
  "node:crypto": ["createHash", "createHmac", "generateKeyPairSync", "hash", "randomUUID", "sign"],
  "node:http": ["request"],
  "node:https": ["request"],
  "node:zlib": ["crc32", "gunzipSync"],
}

/** Loads these at their first use, by require: an import would also make what their exports load at their own first use. */
const lateModules: Plugin = {
  name: "late-modules",
  setup: (plugins) => {
    plugins.onResolve({ filter: /^node:/ }, ({ path }) => (path in late ? { path, namespace: "late" } : undefined))
    plugins.onLoad({ filter: /.*/, namespace: "late" }, ({ path }) => ({
      contents: (late[path] ?? [])
        .map(
          (name) => `export const ${name} = (...given) => require("${path.slice("node:".length)}").${name}(...given)`,
        )
        .join("\n"),
    }))
  },
}

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
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [lateModules],
    logLevel: "warning",
  })
  await chmod(outfile, 0o755)
}
