// Tests a built image: it starts as its own user on a read-only root, becomes healthy, responds to real requests, stops on
// SIGTERM with exit code 0, and contains nothing that only development needs. Needs root and an image that buildah built.
// Usage: node infra/test/smoke.ts <app>
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { freePort } from "@svc/testing"

import { chooseEngine, worksHere } from "../image-engine.ts"
import { type Container, type RunningContainer, createContainer } from "./container.ts"
import { services } from "../services.ts"
import { smokeChecks } from "./smoke-checks.ts"

const app = process.argv[2] ?? ""
const root = join(import.meta.dirname, "../..")
const service = services.find(({ folder }) => folder === `apps/${app}`)
if (service === undefined) throw new Error(`there is no service in apps/${app}`)
const { version } = JSON.parse(readFileSync(join(root, service.folder, "package.json"), "utf8")) as { version: string }

const startPatienceMs = 60_000
const stopPatienceMs = 20_000
const largestMegabytes = 60

const healthy = async (container: RunningContainer, url: string): Promise<void> => {
  let ended = false
  void container.exited.then(() => (ended = true))
  const until = performance.now() + startPatienceMs
  for (;;) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
    if (answer?.ok) return
    assert.ok(!ended && performance.now() < until, `not healthy, its output:\n${container.output()}`)
    await delay(100)
  }
}

const stopped = async (container: RunningContainer): Promise<void> => {
  container.signal("SIGTERM")
  const late = delay(stopPatienceMs, "late", { ref: false })
  const code = await Promise.race([container.exited, late])
  assert.equal(code, 0, `the exit code after SIGTERM; its output:\n${container.output()}`)
}

const readOnly = (container: RunningContainer): void => {
  for (const path of ["/probe", "/svc/probe", "/etc/probe"]) {
    const { code, output } = container.exec(["touch", path], "root")
    assert.ok(code !== 0 && /Read-only file system/.test(output), `${path} can be written`)
  }
}

const contents = (container: Container): string => {
  const packages = join(container.files, "svc/node_modules/.pnpm")
  for (const name of ["node-linux-*", "typescript@*", "vitest@*", "turbo@*"]) {
    const found = execFileSync("find", [packages, "-maxdepth", "1", "-name", name], { encoding: "utf8" })
    assert.equal(found, "", "a development dependency is in the image")
  }
  const size = Number(execFileSync("du", ["-sm", join(container.files, "svc")], { encoding: "utf8" }).split("\t")[0])
  assert.ok(size < largestMegabytes, `${size} MB over the base image, more than ${largestMegabytes}`)
  return `${size} MB over the base`
}

const engine = chooseEngine(worksHere, "buildah")
if (engine === undefined) throw new Error("buildah does not work here")
const started = performance.now()
const container = await createContainer(`localhost/svc/${app}:${version}`, engine.env)
const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(1)} s`
const onSignal = (): void => void container.remove().finally(() => process.exit(1))
process.once("SIGINT", onSignal)
process.once("SIGTERM", onSignal)
try {
  const said = contents(container)
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const { env = {}, first, again } = smokeChecks[app] ?? {}
  const settings = { ...env, PORT: String(port) }
  assert.equal(container.settings.User, "node")

  const run = container.run([], settings)
  await healthy(run, `${base}${service.livePath}`)
  console.log(`${app}: ${said}, healthy after ${seconds()}`)
  readOnly(run)
  const [, ...healthCheck] = container.settings.Healthcheck?.Test ?? []
  assert.equal(run.exec(healthCheck, "user").code, 0, "the image's own health check")
  const kept = await first?.(base)
  await stopped(run)

  if (again !== undefined) {
    const second = container.run([], settings)
    await healthy(second, `${base}${service.livePath}`)
    await again(base, kept)
    await stopped(second)
  }
  console.log(`${app}: responded, stopped with exit code 0, ${seconds()} in all`)
} finally {
  await container.remove()
}
