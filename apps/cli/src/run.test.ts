import { stripVTControlCharacters } from "node:util"
import { expect, test } from "vitest"
import { startServer } from "../test/server.ts"
import { styleOf } from "./output/style.ts"
import { table as tableOf } from "./output/table.ts"
import { run } from "./run.ts"

const stack = { name: "mining", entities: ["Round"], websocket_url: "wss://a.example", description: "d" }
const hostile = 'export const a = "\u001b]0;title\u0007\u009b2J"\n'
const server = await startServer(({ target }) => ({ body: target.includes("/types") ? hostile : [stack] }))

const call = async (command: string[], env: Record<string, string>, isTTY = true, columns = 200) => {
  const written = { stdout: "", stderr: "" }
  const code = await run({
    argv: [...command, "--api-url", server.url],
    env,
    copy: undefined,
    home: "/nonexistent",
    stdout: { isTTY, write: (text) => (written.stdout += text) !== "", screen: () => ({ columns, rows: 24 }) },
    stderr: { isTTY, write: (text) => (written.stderr += text) },
    readLine: () => Promise.reject(new Error("asked")),
    readInput: async () => new Uint8Array(),
    onInterrupt: () => () => {},
  })
  return { code, ...written }
}

const explore = (args: string[], env: Record<string, string>, isTTY = true) => call(["explore", ...args], env, isTTY)

test("a terminal gets types without control characters, a pipe gets them unchanged", async () => {
  expect((await call(["types", "a", "--at", "1"], {})).stdout).toBe('export const a = "]0;title2J"\n')
  expect((await call(["types", "a", "--at", "1"], {}, false)).stdout).toBe(hostile)
})

test("tables, help and errors have styles on a terminal, unless the environment decides; documents never do", async () => {
  const calls: readonly (readonly [Record<string, string>, boolean, boolean])[] = [
    [{}, true, true],
    [{}, false, false],
    [{ TERM: "dumb" }, true, false],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
    [{ FORCE_COLOR: "false" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
  ]
  for (const [env, isTTY, expected] of calls) {
    const [help, wrong, table] = await Promise.all(
      [["--help"], ["nope"], ["explore"]].map((words) => call(words, env, isTTY)),
    )
    expect(help?.stdout, "the defaults of another copy").not.toContain("localhost")
    const shown = [help?.stdout, wrong?.stderr].map((text = "") => text.includes("\u001b[3"))
    expect([...shown, table?.stdout.startsWith("\u001b[1mSTACK")], JSON.stringify(env)).toEqual([
      expected,
      expected,
      expected,
    ])
    expect(table?.stdout).toMatch(/\nmining/)
    expect((await explore(["--json"], env, isTTY)).stdout).not.toContain("\u001b")
  }
})

test("no line of a table is wider than the terminal; where blocks are shorter, each row becomes a block", async () => {
  for (const columns of [40, 60, 80]) {
    const { stdout } = await call(["explore"], {}, true, columns)
    for (const line of stdout.split("\n")) expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(columns)
  }
  // A terminal without a size.
  expect(await call(["explore"], {}, true, 0)).toEqual(await call(["explore"], {}, true, 80))
  expect((await call(["explore"], {}, true, 20)).stdout).toMatch(/^STACK +mining\nENTITIES +Round\n/)
  expect(tableOf(["ID", "WORKFLOW", "STATUS"], [], styleOf({ NO_COLOR: "1" }, true, 14))).toBe("ID, WORKFLOW,\nSTATUS")
})

test("progress is drawn only if standard error is a terminal, and removed at the end", async () => {
  const { stderr, stdout } = await explore(["--json"], {})
  const text = "Registry: 1 stacks read"
  expect(stderr).toBe(`\r${text}\r${" ".repeat(text.length)}\r`)
  expect(JSON.parse(stdout)).toEqual({ registry: [stack] })
  expect((await explore(["--json"], {}, false)).stderr).toBe("")
})
