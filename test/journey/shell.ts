import { mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { startProcess, type TestProcess } from "@svc/testing"

export type Ended = { readonly code: number | NodeJS.Signals | null; readonly stdout: string; readonly stderr: string }

export type Shell = {
  /** Runs one command line to its end; `shown` hears of it first. */
  readonly run: (command: string) => Promise<Ended>
  /** The JSON that a command line prints; throws when it fails. */
  readonly json: (command: string) => Promise<unknown>
  /** The code of a command line's error; throws when it does not fail. */
  readonly errorCode: (command: string) => Promise<unknown>
  /** Starts a command line that goes on until it is interrupted. */
  readonly start: (command: string) => TestProcess
  readonly read: (path: string) => Promise<string>
  readonly write: (path: string, text: string) => Promise<void>
  /** Writes a file that only its owner can read. */
  readonly keep: (path: string, text: string) => Promise<void>
  readonly home: string
}

/**
 * A home of its own for an agent: a project folder where its commands run, and npm's settings such that nothing can come
 * from a package registry.
 * @param tools the home whose installed tools it uses, unless its own
 */
export const createShell = async (
  home: string,
  shown: (command: string) => void,
  tools: string = home,
): Promise<Shell> => {
  const project = join(home, "project")
  await mkdir(project, { recursive: true })
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    PATH: [join(tools, "npm/bin"), dirname(process.execPath), process.env["PATH"]].join(":"),
    npm_config_prefix: join(home, "npm"),
    npm_config_cache: join(home, "npm-cache"),
    npm_config_registry: "http://127.0.0.1:9/",
    npm_config_fetch_retries: "0",
    npm_config_update_notifier: "false",
    npm_config_fund: "false",
    npm_config_audit: "false",
    npm_config_yes: "true",
  }
  const start = (command: string, shell = command): TestProcess => {
    shown(command)
    return startProcess("sh", ["-c", shell], { cwd: project, env })
  }
  const run = async (command: string): Promise<Ended> => {
    const child = start(command)
    const code = await child.exited
    return { code, stdout: child.stdout(), stderr: child.stderr() }
  }
  const jsonAfter = async (command: string, wanted: number): Promise<unknown> => {
    const { code, stdout, stderr } = await run(command)
    if (code !== wanted) throw new Error(`${command}\nended with ${String(code)}, not ${wanted}:\n${stderr}`)
    return JSON.parse(stdout)
  }
  return {
    run,
    // A signal has to reach the program, not its shell.
    start: (command) => start(command, `exec ${command}`),
    json: (command) => jsonAfter(command, 0),
    errorCode: async (command) => Object(await jsonAfter(command, 1)).code,
    read: (path) => readFile(join(home, path), "utf8"),
    write: (path, text) => writeFile(join(home, path), text),
    keep: (path, text) => writeFile(join(home, path), text, { mode: 0o600 }),
    home,
  }
}
