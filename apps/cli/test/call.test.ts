import { spawnSync } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { freePort } from "@svc/testing"
import { expect, test } from "vitest"
import manifest from "../package.json" with { type: "json" }
import { commands } from "../src/commands.ts"
import { serve } from "./server.ts"
import { expectError, json, makeTool, runProgram } from "./tool.ts"

const tool = await makeTool()

test("--version prints only the version; --help, help and no argument list every command on standard output", async () => {
  expect(await tool.svc(["--version"])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" })
  const { stdout, code, stderr } = await tool.svc(["--help"])
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  for (const { name } of commands) expect(stdout).toMatch(new RegExp(`^  ${name}[ \n]`, "m"))
  for (const args of [["help"], []]) expect(await tool.svc(args)).toEqual({ code: 0, stderr: "", stdout })
})

test.each([
  [["--json"], "A command is missing"],
  [["expore", "--json"], "Did you mean svc explore"],
  [["foo", "--json"], "Unknown command: svc foo. Next"],
  [["auth", "--json"], "svc auth signup"],
  [["auth", "whoami", "--json"], "svc auth status"],
  [["explore", "--jsno", "--json"], "Did you mean --json"],
  [["explore", "a", "b", "c", "--json"], "Too many"],
  [["docs", "fetch", "--json"], "Missing required argument 'SLUG'"],
  [["keys", "mint", "--name", "--json"], "--name needs a value"],
  [["keys", "mint", "--name", "a", "--name", "b", "--json"], "given twice"],
  [["keys", "publishable", "--json"], "--origin ORIGIN is missing"],
  [["explore", "--json", "--api-url", "ftp://x"], "--api-url takes"],
  [["explore", "--json", "--force"], "Unknown option '--force'"],
  [["explore", "--json", "--force=no"], "Unknown option '--force=no'"],
  [["auth", "signup", "--json", "--force=no"], "--force takes no value."],
  [["keys", "mint", "--json", "--expires-in-days", "0"], "--expires-in-days takes a whole number, 1 to 3650."],
  [["docs", "search", "key", "--json", "--limit", "21"], "--limit takes a whole number, 1 to 20."],
  [["docs", "fetch", "keys", "--json", "--max-tokens", "0"], "--max-tokens takes a whole number of at least 1."],
  [["completion", "tcsh", "--json"], "bash, zsh, fish"],
])("%j is a usage error: exit code 2, one JSON document, and a pointer to the help", async (args, text) => {
  const ended = await tool.svc(args)
  expect(Object.keys(expectError(ended, "usage", text)).toSorted()).toEqual(["code", "error"])
  expect(ended.stdout).toMatch(/[^.][.?)] Next: svc .*--help/)
  expect(ended.stderr).toContain(text)
  if (args.length === 1) return
  expect(await tool.svc(args.filter((word) => !word.startsWith("--json")))).toMatchObject({ code: 2, stdout: "" })
})

test("an unavailable service fails with `unreachable`, its URL and what to check", async () => {
  const port = await freePort()
  for (const [args, url] of [
    [["explore"], `http://127.0.0.1:${port}`],
    [["explore"], `http://localhost:${port}`],
    [["explore"], "http://no-such-host.invalid"],
    [["auth", "signup"], `http://127.0.0.1:${port}`],
    [["docs", "search", "x"], `http://127.0.0.1:${port}`],
    [["init"], `http://127.0.0.1:${port}`],
  ] as const) {
    const ended = await tool.svc([...args, "--json", "--api-url", url, "--docs-url", url])
    expect(ended.code).toBe(1)
    const error = expect.stringMatching(new RegExp(`${url.replaceAll(".", "\\.")} can't be reached: .*(_URL)$`))
    expect(json(ended)).toEqual({ code: "unreachable", error })
  }
})

test("a response that isn't JSON, or an error without a code, fails with its status and URL", async () => {
  for (const [status, body, next] of [
    [200, "<html>", "Check that this is the URL"],
    // A proxy in front of the service.
    [502, "Bad gateway", "Try again in 42 s, or check that this is the URL"],
    [500, { message: "x" }, "Try again in 42 s, or check that this is the URL"],
    [404, { message: "x" }, "Check that this is the URL"],
    [200, { a: 1 }, "Check that this is the URL"],
  ] as const) {
    const server = await serve(() => ({ status, body, headers: { "retry-after": "42" } }))
    const ended = await tool.svc(["explore", "--json", "--api-url", server.url])
    expectError(ended, "unexpected-answer", server.url)
    expect(ended.stdout).toContain(next)
  }
})

const fault = { path: "expires_in_days", reason: "must be an integer from 1 to 3650" }

test.each([
  [429, "rate-limit-exceeded", { error: "Too many." }, "Too many. Try again in 42 s"],
  [
    500,
    "internal-error",
    { error: "It failed.", request_id: "r2" },
    "It failed. (request r2) Next: svc auth signup --help",
  ],
  [400, "brand-new", { error: "Something new.", hint: "Do this." }, "Something new. Do this."],
  [
    400,
    "said",
    { error: `A number ${fault.reason}.`, details: fault },
    `A number ${fault.reason}. Next: svc auth signup --help`,
  ],
  [
    400,
    "invalid-request",
    { error: "It is not valid.", details: fault },
    `It is not valid: ${fault.path} ${fault.reason}. Next: svc auth signup --help`,
  ],
])("the API's %i %s is printed with its message and next step", async (status, code, body, error) => {
  const server = await serve(() => ({ status, headers: { "retry-after": "42" }, body: { code, ...body } }))
  const ended = await tool.svc(["auth", "signup", "--json", "--api-url", server.url])
  expect(json(ended)).toEqual({ code, error })
})

test("the result and the exit code stay right if a reader closes standard error or output", async () => {
  const server = await serve(() => ({ headers: { "x-auth-ignored": "invalid-api-key" }, body: [] }))
  const args = ["explore", "--json", "--api-url", server.url]
  expect(await tool.svcProcess(args, { unread: "stderr" })).toMatchObject({ code: 0, stdout: '{"registry":[]}\n' })
  expect((await tool.svcProcess(args, { unread: "stdout" })).code).toBe(0)
  expect((await tool.svcProcess(["nope", "--json"], { unread: "stdout" })).code).toBe(2)
  expect(await tool.svcProcess(["nope", "--json"], { unread: "stderr" })).toMatchObject({
    code: 2,
    stdout: expect.stringContaining("usage"),
  })
})

test("without an absolute XDG_CONFIG_HOME the files are in ~/.config; without a home folder no file is read", async () => {
  const server = await serve(() => ({ body: [] }))
  await mkdir(join(tool.home, ".config/svc"), { recursive: true })
  await writeFile(
    join(tool.home, ".config/svc/config.json"),
    JSON.stringify({ contexts: { one: { api_url: server.url } }, current: "one" }),
  )
  for (const folder of ["", "relative"]) {
    expect((await tool.svc(["explore"], { env: { XDG_CONFIG_HOME: folder } })).code).toBe(0)
  }
  expect(server.received.length).toBe(2)
  const cwd = join(tool.home, "work")
  for (const folder of [".config/svc", "relative/.config/svc"]) {
    await mkdir(join(cwd, folder), { recursive: true })
    await writeFile(join(cwd, folder, "credentials.json"), "not the user's")
  }
  for (const HOME of ["", "relative", "/dev/null"]) {
    const env = { HOME, XDG_CONFIG_HOME: "", SVC_API_URL: server.url }
    expect(await tool.svcProcess(["explore"], { cwd, env })).toMatchObject({ code: 0, stderr: "" })
  }
})

test("commands, subcommands, options and names of stacks are completed, in bash by its script", async () => {
  const registry = await serve(() => ({ body: ["mining", "mints", "transfers", "mi$(id)"].map((name) => ({ name })) }))
  const { stdout: script } = await tool.svc(["completion", "bash"])
  const env = { SVC_API_URL: registry.url, XDG_CONFIG_HOME: join(tool.home, "none") }
  const complete = async (typed: string): Promise<string> =>
    (await tool.svc(["__complete", ...typed.split(" ")], { env })).stdout.trim().replaceAll("\n", " ")
  for (const [typed, found] of [
    ["ex", "explore"],
    ["keys ", "list mint publishable rotate disable enable revoke"],
    ["keys mint --s", "--save"],
    ["explore ore --js", "--json"],
    ["completion ", "bash zsh fish"],
    ["--v", "--version"],
    ["watch mi", "mining mints"],
    ["lock mining t", "transfers"],
    ["send --id a --stack ", "mining mints transfers"],
    ["send --id ", ""],
  ] as const)
    expect(await complete(typed), typed).toBe(found)
  const line = 'COMP_WORDS=("svc" "lock" "mining" "m"); COMP_CWORD=3; _svc'
  const program = `svc() { "${process.execPath}" "${await tool.file()}" "$@"; }\n${script}\n${line}; echo "\${COMPREPLY[*]}"`
  const inBash = await runProgram("bash", ["--norc", "-c", program], { env })
  expect(inBash).toEqual({ code: 0, stdout: "mining mints\n", stderr: "" })
  expect(registry.received.every(({ target }) => target === "/api/registry?limit=100")).toBe(true)
  await registry.close()
  expect(await complete("watch mi")).toBe("")
  expect(json(await tool.svc(["completion", "bash", "--json"]))).toEqual({ shell: "bash", script: script.trimEnd() })
})

const typing = {
  // Completion needs a terminal in zsh: these are its commands as they are outside one.
  zsh: (line: string) => `_files() { print -l -- \${words[-1]}*(N) }
compadd() { shift; (( $# )) && print -l -- "$@" }
words=(\${(s: :)"$(echo ${line})"}); CURRENT=$#words; _svc`,
  fish: (line: string) => `complete -C "${line}"`,
}
const installed = (["zsh", "fish"] as const).filter((shell) => spawnSync(shell, ["--version"]).error === undefined)
test.each(installed)("the %s completion offers files where no word fits", async (shell) => {
  const { stdout: script } = await tool.svc(["completion", shell])
  const cwd = join(tool.home, shell)
  await mkdir(join(cwd, "bin"), { recursive: true })
  await writeFile(join(cwd, "tx.b64"), "")
  await writeFile(join(cwd, "bin/svc"), `#!/bin/sh\nexec "${process.execPath}" "${await tool.file()}" "$@"`, {
    mode: 0o755,
  })
  const env = { PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` }
  const complete = (line: string) =>
    runProgram(shell, ["-c", `${shell === "zsh" ? "compdef() {}" : ""}\n${script}\n${typing[shell](line)}`], {
      cwd,
      env,
    })
  expect(await complete("svc send t")).toMatchObject({ stdout: "tx.b64\n" })
  expect(await complete("svc keys mi")).toMatchObject({ stdout: "mint\n" })
})
