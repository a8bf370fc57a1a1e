import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { startProcess } from "@svc/testing"
import { afterAll, expect } from "vitest"
import { bundle } from "../scripts/bundle.ts"
import { inputFrom } from "../src/input.ts"
import { run } from "../src/run.ts"
import { urlsOf } from "../src/settings/contexts.ts"

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

type Environment = Readonly<Record<string, string>>

type CallOptions = {
  readonly env?: Environment
  readonly stdin?: string
  readonly cwd?: string
}

type SvcOptions = CallOptions & {
  /** Text on the standard output after which the command is interrupted, as by Ctrl-C. */
  readonly until?: string
  /** Called when a command waits until its standard output has been taken, with all that it has written. */
  readonly onTake?: (stdout: string) => void
}

type ProcessOptions = CallOptions & {
  /** The output that nobody reads. */
  readonly unread?: "stdout" | "stderr"
}

export type Tool = {
  /** A folder of this test's own; the settings folder is in it. */
  readonly home: string
  /** Runs the tool with nothing of the machine's settings: all but the process is as users have it. */
  readonly svc: (args: readonly string[], options?: SvcOptions) => Promise<Ended>
  /** The tool as users have it, one bundled file. */
  readonly file: () => Promise<string>
  /** Runs that file in a process of its own, for what only a process shows. */
  readonly svcProcess: (args: readonly string[], options?: ProcessOptions) => Promise<Ended>
  /** Starts that process, which a signal may end. */
  readonly start: (args: readonly string[], env: Environment) => Promise<ReturnType<typeof startProcess>>
  /** Runs it by a script of bash, which calls it as "$0" "$@". */
  readonly inBash: (script: string, args: readonly string[], env: Environment) => Promise<Ended>
}

/** Runs a program to its end. */
export const runProgram = (
  command: string,
  args: readonly string[],
  { env = {}, stdin = "", cwd, unread }: ProcessOptions = {},
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { PATH: process.env["PATH"], ...env }, cwd, stdio: "pipe" })
    const written = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => (written[name] += text))
    }
    if (unread !== undefined) child[unread].destroy()
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, ...written }))
    // A program that reads no input may be gone before it is written.
    child.stdin.on("error", () => {})
    child.stdin.end(stdin)
  })

/** What the documentation server writes beside the tool that it serves. */
const copyIn = async (folder: string) => {
  const text = await readFile(join(folder, "copy.json"), "utf8").catch(() => "")
  return text === "" ? undefined : urlsOf(JSON.parse(text))
}

const outside = process.cwd()
let running = 0
/** Runs in another working directory. The calls of one test that run at once have the same one. */
const inFolder = async <Value>(folder: string, act: () => Promise<Value>): Promise<Value> => {
  running++
  process.chdir(folder)
  try {
    return await act()
  } finally {
    running--
    if (running === 0) process.chdir(outside)
  }
}

/** The tool, and a folder for it, until the file's tests are done. */
export const makeTool = async (): Promise<Tool> => {
  const home = await mkdtemp(join(tmpdir(), "svc-cli-"))
  afterAll(() => rm(home, { recursive: true, force: true }))
  const environment = { HOME: home, XDG_CONFIG_HOME: join(home, "config") }
  let bundling: Promise<string> | undefined
  const file = (): Promise<string> => {
    const made = join(home, "svc.mjs")
    return (bundling ??= bundle(made).then(() => made))
  }
  return {
    home,
    file,
    svc: (args, { env = {}, stdin = "", cwd = home, until, onTake = () => {} } = {}) =>
      inFolder(cwd, async () => {
        const written = { stdout: "", stderr: "" }
        let interrupt = (): void => {}
        const output = (name: keyof typeof written) => ({
          isTTY: false,
          write: (text: string) => {
            written[name] += text
            if (until !== undefined && written.stdout.includes(until)) interrupt()
            return true
          },
          flush: async () => {
            onTake(written.stdout)
            return undefined
          },
        })
        const code = await run({
          argv: args,
          env: { ...environment, ...env },
          copy: await copyIn(home),
          home,
          stdout: output("stdout"),
          stderr: output("stderr"),
          ...inputFrom(Readable.from([Buffer.from(stdin)], { objectMode: false })),
          onInterrupt: (interrupted) => {
            interrupt = interrupted
            return () => {}
          },
        })
        return { code, ...written }
      }),
    svcProcess: async (args, { env = {}, ...options } = {}) =>
      runProgram(process.execPath, [await file(), ...args], {
        cwd: home,
        ...options,
        env: { ...environment, ...env },
      }),
    start: async (args, env) =>
      startProcess(process.execPath, [await file(), ...args], { env: { ...environment, ...env } }),
    inBash: async (script, args, env) =>
      runProgram("bash", ["--norc", "-c", script, process.execPath, await file(), ...args], {
        env: { ...environment, ...env },
      }),
  }
}

/** The JSON document that is the whole standard output. */
export const json = ({ stdout }: Ended): unknown => JSON.parse(stdout)

/** The JSON document of a command that succeeds. */
export const resultOf = (ended: Ended): unknown => {
  expect(ended).toMatchObject({ code: 0 })
  return json(ended)
}

/** Expects a command with --json to fail with this code, text and exit code. Returns the document. */
export const expectError = (
  ended: Ended,
  code: string,
  text: string | RegExp = "",
  exit = code === "usage" ? 2 : 1,
): Record<string, unknown> => {
  const document: Record<string, unknown> = Object(json(ended))
  const error = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text)
  expect({ exit: ended.code, ...document }).toMatchObject({ exit, code, error })
  return document
}
