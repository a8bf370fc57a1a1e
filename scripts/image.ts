// Builds a service's image, svc/<app>:<version>, with docker, podman or buildah, whichever works on this machine.
// Usage: node scripts/image.ts <app>, the name of a folder in apps. SVC_IMAGE_ENGINE and SVC_IMAGE_BASE set
// another program and another base image.
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { type Engine, buildArguments, chooseEngine, registrySettings, worksHere } from "../infra/image-engine.ts"

const root = join(import.meta.dirname, "..")
const app = process.argv[2] ?? ""
const manifest = join(root, "apps", app, "package.json")
if (!/^[a-z][a-z0-9-]*$/.test(app) || !existsSync(manifest)) {
  console.error(`image: there is no apps/${app}; usage: node scripts/image.ts <app>`)
  process.exit(2)
}

const text = (command: string, args: string[]): string =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim()

const localBase = (): string => text(join(root, "infra/base-image.sh"), []).split("\n").at(-1) ?? ""

/** For buildah the base image is built here from Debian packages, which also installs buildah if it is missing. */
const engineAndBase = (): { engine: Engine; base: string | undefined } => {
  const base = process.env["SVC_IMAGE_BASE"] || undefined
  const named = process.env["SVC_IMAGE_ENGINE"] || undefined
  const found = chooseEngine(worksHere, named)
  if (found !== undefined && (found.command !== "buildah" || base !== undefined)) return { engine: found, base }
  if (named !== undefined && named !== "buildah") throw new Error(`${named} does not work here (SVC_IMAGE_ENGINE)`)
  const made = base ?? localBase()
  const engine = found ?? chooseEngine(worksHere, "buildah")
  if (engine === undefined) throw new Error("neither docker, podman nor buildah works here")
  return { engine, base: made }
}

const settingsFolder = mkdtempSync(join(tmpdir(), "svc-image-"))
try {
  const { engine, base } = engineAndBase()
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string }
  const npmrc = join(settingsFolder, "npmrc")
  const configFiles = ["globalconfig", "userconfig"].map((key) => text("npm", ["config", "get", key]))
  const configs = configFiles.filter((path) => existsSync(path)).map((path) => readFileSync(path, "utf8"))
  writeFileSync(npmrc, registrySettings(configs), { mode: 0o600 })
  const revision = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).stdout?.trim() || undefined
  const args = buildArguments(engine, {
    app,
    base,
    certificates: process.env["NODE_EXTRA_CA_CERTS"] || process.env["SSL_CERT_FILE"] || undefined,
    npmrc,
    revision,
    version,
  })
  console.log(`${engine.command} builds svc/${app}:${version}`)
  const env = { ...process.env, ...engine.env }
  process.exitCode = spawnSync(engine.command, args, { cwd: root, env, stdio: "inherit" }).status ?? 1
} catch (error) {
  console.error(`image: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  rmSync(settingsFolder, { recursive: true, force: true })
}
