// Bundles the tool into dist/svc.mjs and dist/parts, and packs it as dist/svc.tgz.
import { join } from "node:path"
import { pack } from "@svc/client/pack"
import manifest from "../package.json" with { type: "json" }
import { app, bundle } from "./bundle.ts"

const { version, description, license, engines } = manifest
await pack({
  folder: app,
  name: "svc",
  manifest: {
    version,
    description,
    license,
    type: "module",
    bin: { svc: "svc.mjs" },
    engines,
    files: ["svc.mjs", "parts"],
  },
  fill: (folder) => bundle(join(folder, "svc.mjs")),
  loose: ["parts", "svc.mjs"],
})
