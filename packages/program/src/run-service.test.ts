import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { startProcess } from "@svc/testing"
import { expect, test } from "vitest"
import { testFolder } from "../../../test/start-service.ts"

const program = (start: string): string => `
  import { createLogger, runService } from ${JSON.stringify(import.meta.resolve("./index.ts"))}
  const log = await createLogger({ level: "info", pretty: false, service: "probe" })
  import { once } from "node:events"
  const hold = () => new Promise((resolve) => setTimeout(resolve, 60_000))
  setInterval(() => {}, 1000)
  await runService("probe", async (onOpen) => { ${start} })`

const run = (start: string) => startProcess(process.execPath, ["--input-type=module", "-e", program(start)])

test.each(["SIGTERM", "SIGHUP"] as const)(
  "%s stops in order with exit code 0, and the last log lines are written",
  async (signal) => {
    const child = run(`log.info("up"); return { log, close: async () => { log.info("drained") } }`)
    await child.waitFor(/"up"/)
    child.kill(signal)
    expect(await child.exited).toBe(0)
    const lines: unknown[] = child
      .stdout()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { level: "info", service: "probe", msg: "up" },
      { msg: "stopping", signal },
      { msg: "drained" },
      { msg: "stopped" },
    ])
  },
)

test.each([
  ["has closed", ""],
  // Looking at standard output makes its pipe one that doesn't block.
  ["has stopped reading", `process.stdout.isTTY; for (let i = 0; i < 300; i++) log.info("x".repeat(5000));`],
])("a service whose log's reader %s still stops", async (kind, lines) => {
  const source = `${program(`${lines} return { log, close: async () => {} }`)}; process.stderr.write("ready")`
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    timeout: 10_000,
    killSignal: "SIGKILL",
  })
  if (kind === "has closed") child.stdout.destroy()
  await once(child.stderr, "data")
  child.kill("SIGTERM")
  expect(await once(child, "exit")).toEqual([0, null])
})

test("a second signal stops at once", async () => {
  const child = run(
    `log.info("up"); return { log, close: async () => { process.stderr.write("closing"); await hold() } }`,
  )
  await child.waitFor(/"up"/)
  child.kill("SIGINT")
  await child.waitFor(/closing/)
  child.kill("SIGTERM")
  expect(await child.exited).toBe(1)
})

test("a signal ends a start that hangs in a pipe without a writer", async () => {
  const folder = await testFolder()
  const pipe = join(folder, "pipe")
  execFileSync("mkfifo", [pipe])
  const read = `(await import("node:fs/promises")).readFile(${JSON.stringify(pipe)})`
  const child = run(`log.info("up"); log.flush(); await ${read}`)
  await child.waitFor(/"up"/)
  child.kill("SIGTERM")
  expect(await child.exited).toBe("SIGTERM")
})

test.each(["await hold()", `await once(process, "SIGTERM"); throw new Error("stopped")`])(
  "a signal stops in order what serves before its start ends: %s",
  async (rest) => {
    const child = run(
      `onOpen({ log, close: async () => { log.info("drained") } }); log.info("up"); log.flush(); ${rest}`,
    )
    await child.waitFor(/"up"/)
    child.kill("SIGTERM")
    expect(await child.exited).toBe(0)
  },
)

test("a signal during a busy start isn't lost", async () => {
  const child = run(`process.kill(process.pid, "SIGTERM"); return { log, close: async () => {} }`)
  expect(await child.exited).toBe(0)
})

test("a start that fails prints the reason as one JSON line on stderr, and exits with 1", async () => {
  const child = run(`throw new Error("PORT: must be an integer")`)
  expect(await child.exited).toBe(1)
  expect(JSON.parse(child.stderr())).toEqual({
    level: "error",
    time: expect.any(String) as string,
    service: "probe",
    reason: "PORT: must be an integer",
    next: expect.stringContaining("doctor") as string,
    msg: "the start failed",
  })
})
