import { chmod } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { basename, dirname, join } from "node:path"
import { build, type Plugin } from "esbuild"

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

const stubs: Readonly<Record<string, string>> = {
  // The SDK's validator of JSON Schema, which a server needs only for questions to the user.
  "@modelcontextprotocol/server/_shims":
    'import process from "node:process"\nexport { process }\nexport class DefaultJsonSchemaValidator {}',
  // Messages in other languages than English.
  "../locales/index.js": "export {}",
}

/** Leaves out parts of libraries that the tool doesn't use. */
const unusedParts: Plugin = {
  name: "unused-parts",
  setup: (plugins) => {
    plugins.onResolve({ filter: /_shims$|locales\/index\.js$/ }, ({ path }) =>
      path in stubs ? { path, namespace: "stub" } : undefined,
    )
    plugins.onLoad({ filter: /.*/, namespace: "stub" }, ({ path }) => ({ contents: stubs[path] ?? "" }))
  },
}

/** Bundles the tool into a file, and the parts that it loads later beside it. It needs nothing but Node 20 or newer. */
export const bundle = async (outfile: string): Promise<void> => {
  await build({
    entryPoints: { [basename(outfile, ".mjs")]: join(app, "src/main.ts") },
    outdir: dirname(outfile),
    outExtension: { ".js": ".mjs" },
    chunkNames: "parts/[name]-[hash]",
    splitting: true,
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
    plugins: [lateModules, unusedParts],
    logLevel: "warning",
  })
  await chmod(outfile, 0o755)
}
