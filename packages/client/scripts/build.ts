// Bundles the library into one ESM file, writes its types beside it and packs both as dist/svc-client.tgz.
import { pack } from "../../../scripts/pack.ts"
import manifest from "../package.json" with { type: "json" }
import { bundle, library, types } from "./bundle.ts"

const { version, description, license, engines } = manifest
await pack({
  folder: library,
  name: "svc-client",
  manifest: {
    version,
    description,
    license,
    type: "module",
    sideEffects: false,
    exports: { ".": { types: "./types/index.d.ts", default: "./svc-client.js" } },
    engines,
    peerDependencies: { "@solana/kit": ">=2" },
    peerDependenciesMeta: { "@solana/kit": { optional: true } },
    files: ["svc-client.js", "types"],
  },
  fill: async (folder) => {
    await bundle(folder)
    await types(folder)
  },
})
