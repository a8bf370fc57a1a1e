// Bundles the tool into dist/svc.mjs and packs it as dist/svc.tgz, the same bytes for the same sources.
import { execFile } from "node:child_process"
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import manifest from "../package.json" with { type: "json" }
import { app, bundle } from "./bundle.ts"

const dist = join(app, "dist")
await mkdir(dist, { recursive: true })
// In a folder of its own until it is whole: another build may run beside this one.
const work = await mkdtemp(join(dist, ".build-"))
try {
  const file = join(work, "package/svc.mjs")
  await bundle(file)
  const { version, description, license, engines } = manifest
  const bin = { svc: "svc.mjs" }
  const packed = { name: "svc", version, description, license, type: "module", bin, engines, files: ["svc.mjs"] }
  await writeFile(join(work, "package/package.json"), `${JSON.stringify(packed, undefined, 2)}\n`)
  await copyFile(join(app, "README.md"), join(work, "package/README.md"))
  await copyFile(join(app, "../../LICENSE"), join(work, "package/LICENSE"))
  const options = ["--pack-destination", work, "--ignore-scripts", "--no-update-notifier", "--loglevel", "error"]
  await promisify(execFile)("npm", ["pack", join(work, "package"), ...options], { shell: process.platform === "win32" })
  await rename(join(work, `svc-${version}.tgz`), join(dist, "svc.tgz"))
  await rename(file, join(dist, "svc.mjs"))
} finally {
  await rm(work, { recursive: true, force: true })
}
