import { chmod } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { build, type Plugin } from "esbuild"

/** The folder of the app. */
export const app = fileURLToPath(new URL("..", import.meta.url))

/** Loads node:crypto at its first use: it costs every start as much as all other modules of Node that the tool imports. */
const lateCrypto: Plugin = {
  name: "late-crypto",
  setup: (plugins) => {
    plugins.onResolve({ filter: /^node:crypto$/ }, ({ path }) => ({ path, namespace: "late" }))
    plugins.onLoad({ filter: /.*/, namespace: "late" }, () => ({
      contents: ["createHash", "createHmac", "generateKeyPairSync", "hash", "randomUUID", "sign"]
        .map((name) => `export const ${name} = (...given) => require("crypto").${name}(...given)`)
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
    plugins: [lateCrypto],
    logLevel: "warning",
  })
  await chmod(outfile, 0o755)
}
