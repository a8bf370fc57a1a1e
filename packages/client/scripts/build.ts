// Bundles the library and its part for Node, writes their types and packs all of it as dist/svc-client.tgz.
import { pack } from "./pack.ts"
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
    // For what doesn't read exports: Parcel, Metro before React Native 0.79, TypeScript's resolution node10.
    main: "./svc-client.js",
    exports: {
      ".": "./svc-client.js",
      "./node": "./node.js",
    },
    engines,
    peerDependencies: { "@solana/kit": ">=2" },
    peerDependenciesMeta: { "@solana/kit": { optional: true } },
    files: ["*.js", "*.d.ts"],
  },
  fill: async (folder) => {
    await bundle(folder)
    await types(folder)
  },
})
