import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect } from "vitest"
import { bundle } from "../scripts/bundle.ts"

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type CallOptions = {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly cwd?: string
  /** The output that nobody reads. */
  readonly unread?: "stdout" | "stderr"
}

export type Tool = {
  /** A folder of this test's own; the settings folder is in it. */
  readonly home: string
  /** The bundled tool. */
  readonly file: string
  /** Runs the bundled tool with nothing of the machine's settings. */
  readonly svc: (args: readonly string[], options?: CallOptions) => Promise<Ended>
}

/** Runs a program to its end. */
export const runProgram = (
  command: string,
  args: readonly string[],
  { env = {}, stdin = "", cwd, unread }: CallOptions = {},
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

/** The tool as users have it, one bundled file in a process of its own, until the file's tests are done. */
export const makeTool = async (): Promise<Tool> => {
  const home = await mkdtemp(join(tmpdir(), "svc-cli-"))
  afterAll(() => rm(home, { recursive: true, force: true }))
  const file = join(home, "svc.mjs")
  await bundle(file)
  return {
    home,
    file,
    svc: (args, { env = {}, ...options } = {}) =>
      runProgram(process.execPath, [file, ...args], {
        cwd: home,
        ...options,
        env: { HOME: home, XDG_CONFIG_HOME: join(home, "config"), ...env },
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

/** Expects a command with --json to fail with this code and text. Returns the document. */
export const expectError = (ended: Ended, code: string, text: string | RegExp = ""): Record<string, unknown> => {
  const document: Record<string, unknown> = Object(json(ended))
  const error = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text)
  expect({ exit: ended.code, ...document }).toMatchObject({ exit: code === "usage" ? 2 : 1, code, error })
  return document
}
