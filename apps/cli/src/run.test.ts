import { createServer } from "node:http"
import { once } from "node:events"
import { afterAll, beforeAll, expect, test } from "vitest"
import { run } from "./run.ts"
import { settingsFolder } from "./settings/settings.ts"

const stack = { name: "mining", entities: ["Round"], websocket_url: "wss://a.example", description: "d" }
const hostile = 'export const a = "\u001b]0;title\u0007\u009b2J"\n'
const server = createServer(({ url: target = "" }, response) => {
  response.end(target.includes("/types") ? hostile : JSON.stringify([stack]))
})
let url = ""
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : ""}`
})
afterAll(() => {
  server.close()
})

const call = async (command: string[], env: Record<string, string>, isTTY = true) => {
  const written = { stdout: "", stderr: "" }
  const code = await run({
    argv: [...command, "--api-url", url],
    env,
    home: "/nonexistent",
    stdout: { isTTY, write: (text) => (written.stdout += text) !== "" },
    stderr: { isTTY, write: (text) => (written.stderr += text) },
    readLine: () => Promise.reject(new Error("asked")),
    readInput: async () => new Uint8Array(),
    onInterrupt: () => () => {},
  })
  return { code, ...written }
}

const explore = (args: string[], env: Record<string, string>, isTTY = true) => call(["explore", ...args], env, isTTY)

test("types are shown on a terminal without control characters, and reach a pipe as they are", async () => {
  expect((await call(["types", "a", "--at", "1"], {})).stdout).toBe('export const a = "]0;title2J"\n')
  expect((await call(["types", "a", "--at", "1"], {}, false)).stdout).toBe(hostile)
})

test("headings are bold on a terminal, unless NO_COLOR or a dumb terminal says otherwise", async () => {
  const [heading = "", row = ""] = (await explore([], {})).stdout.split("\n")
  expect(heading.startsWith("\u001b[1mSTACK") && heading.endsWith("\u001b[22m")).toBe(true)
  expect(row).toMatch(/^mining/)
  for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
    expect((await explore([], env)).stdout).toMatch(/^STACK.*\nmining/)
  }
  expect((await explore([], { NO_COLOR: "" })).stdout).toContain("\u001b[1m")
  expect((await explore([], {}, false)).stdout).toMatch(/^STACK/)
})

test("progress is drawn on a standard error that is a terminal, and taken away at the end", async () => {
  const { stderr, stdout } = await explore(["--json"], {})
  const text = "Registry: 1 stacks read"
  expect(stderr).toBe(`\r${text}\r${" ".repeat(text.length)}\r`)
  expect(JSON.parse(stdout)).toEqual({ registry: [stack] })
  expect((await explore(["--json"], {}, false)).stderr).toBe("")
})

test("a user without a home folder is told so, and can name a folder", () => {
  expect(() => settingsFolder({}, undefined)).toThrow(expect.objectContaining({ code: "no-home-folder" }))
  expect(settingsFolder({ XDG_CONFIG_HOME: "/kept" }, undefined)).toBe("/kept/svc")
})
