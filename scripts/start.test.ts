// The real start script with the test's own services: small programs in the folders of the real ones.
import { once } from "node:events"
import { cp, mkdir, writeFile } from "node:fs/promises"
import { createServer, connect } from "node:net"
import { dirname, join } from "node:path"

import { type TestProcess, freePort } from "@svc/testing"
import { beforeEach, expect, test } from "vitest"
import { testFolder, testProcess } from "../test/start-service.ts"

const serving = `
import { createServer } from "node:http"
let signals = 0
const server = createServer((_, answer) => answer.end("ok")).listen(Number(process.env.PORT), "127.0.0.1")
console.log(JSON.stringify({ level: "info", msg: "listening", pid: process.pid }))
`
const obedient = `${serving}
process.on("SIGTERM", () => {
  console.log("signal number " + ++signals)
  server.close(() => setImmediate(() => process.exit(0)))
  server.closeAllConnections()
})`
const stubborn = `${serving}process.on("SIGTERM", () => console.log("not now"))`
const failing = `console.error("SVC_EXAMPLE must be a number"); process.exit(1)`

let root: string
let env: Record<string, string>
beforeEach(async () => {
  root = await testFolder()
  await cp(import.meta.dirname, join(root, "scripts"), { recursive: true })
  for (const file of ["infra/services.ts", "packages/common/src/foreign-text.ts"])
    await cp(join(import.meta.dirname, "..", file), join(root, file))
  env = { SVC_DOCS_PORT: String(await freePort()), SVC_RELAY_PORT: String(await freePort()) }
})

/** Starts the script with programs in place of the apps. */
const start = async (apps: Readonly<Record<string, string>>): Promise<TestProcess> => {
  for (const [app, source] of Object.entries(apps)) {
    const main = join(root, "apps", app, "src/main.ts")
    await mkdir(dirname(main), { recursive: true })
    await writeFile(main, source)
  }
  // setsid gives the script its own process group, as a terminal does.
  return testProcess("setsid", [process.execPath, "scripts/start.ts"], { cwd: root, env })
}

const listens = async (port: string | undefined): Promise<boolean> => {
  const socket = connect(Number(port), "127.0.0.1")
  try {
    await once(socket, "connect")
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

test("addresses are printed once every service is healthy; Ctrl-C sends each service one signal and leaves none", async () => {
  const script = await start({ "docs-server": obedient, relay: obedient })
  await script.waitFor(/Ctrl-C stops them all/)
  expect(script.stdout()).toContain(`http://localhost:${env["SVC_DOCS_PORT"]}`)
  expect(script.stdout()).toMatch(/^docs  \| INFO  listening pid=\d+$/m)
  process.kill(-script.pid, "SIGINT")
  expect(await script.exited).toBe(0)
  expect(script.stdout()).toContain("docs  | signal number 1")
  expect(script.stdout()).toContain("relay | signal number 1")
  expect(script.stdout()).not.toContain("signal number 2")
  expect(await listens(env["SVC_DOCS_PORT"])).toBe(false)
})

test.each(["SIGTERM", "SIGHUP"] as const)("%s stops everything as Ctrl-C does", async (signal) => {
  const script = await start({ relay: obedient })
  await script.waitFor(/All services are up/)
  script.kill(signal)
  expect(await script.exited).toBe(0)
  expect(script.stdout()).toContain("signal number 1")
})

test("services stop by themselves if the script is killed without warning", async () => {
  const script = await start({ relay: obedient })
  await script.waitFor(/All services are up/)
  script.kill("SIGKILL")
  // Nothing reports when the service has stopped, because its channel to the script was cut.
  await expect.poll(() => listens(env["SVC_RELAY_PORT"])).toBe(false)
})

test("a second signal kills a service that doesn't stop", async () => {
  const script = await start({ relay: stubborn })
  await script.waitFor(/All services are up/)
  script.kill("SIGINT")
  await script.waitFor(/not now/)
  script.kill("SIGINT")
  expect(await script.exited).toBe(1)
  expect(await listens(env["SVC_RELAY_PORT"])).toBe(false)
})

test("a service that fails to start shows why and stops the others", async () => {
  const script = await start({ "docs-server": obedient, relay: failing })
  expect(await script.exited).toBe(1)
  expect(script.stdout()).toContain("relay | SVC_EXAMPLE must be a number")
  expect(script.stdout()).toContain("relay ended (exit code 1)")
  expect(script.stdout()).not.toContain("All services are up")
  expect(await listens(env["SVC_DOCS_PORT"])).toBe(false)
})

test("the relay starts once the platform, whose keys it reads, is ready", async () => {
  env["SVC_API_PORT"] = String(await freePort())
  const late = `${obedient}
let probes = 0
server.prependListener("request", (_, answer) => {
  if (++probes < 3) answer.statusCode = 503
  else console.log("ready now")
})`
  const script = await start({ "platform-api": late, relay: obedient })
  await script.waitFor(/All services are up/)
  expect(script.stdout()).toMatch(/^platform \| ready now$[^]*^relay    \| INFO  listening/m)
  script.kill("SIGINT")
  expect(await script.exited).toBe(0)
})

test("--help lists the settings for ports, and starts nothing", async () => {
  for (const [arg, code] of [
    ["--help", 0],
    ["--port=1", 2],
  ] as const) {
    const asked = testProcess(process.execPath, [join(import.meta.dirname, "start.ts"), arg], { env })
    expect(await asked.exited).toBe(code)
    expect(asked.stdout()).toMatch(/SVC_DOCS_PORT +docs, by default 4001/)
  }
})

test("a port in use stops the start before anything runs, and names the variable to set", async () => {
  const other = createServer().listen(Number(env["SVC_RELAY_PORT"]), "127.0.0.1")
  await once(other, "listening")
  const script = await start({ relay: obedient })
  expect(await script.exited).toBe(1)
  expect(script.stderr()).toContain("SVC_RELAY_PORT")
  expect(script.stdout()).toBe("")
  other.close()
})
