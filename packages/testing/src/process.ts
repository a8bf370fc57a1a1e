import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"

export type TestProcess = {
  readonly pid: number
  /** Everything the program wrote so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves once stdout and stderr together match; rejects when the program ends before that. */
  readonly waitFor: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Resolves with the exit code, or the name of the signal that ended the program. */
  readonly exited: Promise<number | NodeJS.Signals | null>
}

/** The heap that Node takes in a container of 512 MiB, as the services are shipped. */
export const containerHeap = ["--max-old-space-size=256", "--max-semi-space-size=4"]

const running = new Set<ChildProcess>()
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

/**
 * Starts a program with nothing in its environment but PATH, the place of compiled code and what is given, so that no
 * setting of the machine leaks into a test. It ends with this process at the latest, where that exits by itself or by an error.
 */
export const startProcess = (
  command: string,
  args: readonly string[],
  {
    env = {},
    cwd,
    mute = false,
  }: {
    readonly env?: Readonly<Record<string, string>>
    readonly cwd?: string
    /** Throws stdout away: under load the log's reader would take part of the machine from what is measured. */
    readonly mute?: boolean
  } = {},
): TestProcess => {
  const child = spawn(command, args, {
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ["ignore", mute ? "ignore" : "pipe", "pipe"],
  })
  running.add(child)
  child.once("exit", () => running.delete(child))
  const written = { stdout: "", stderr: "" }
  let onOutput: (() => void)[] = []
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      written[name] += text
      for (const check of onOutput) check()
    })
  }
  const exited = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => resolve(signal ?? code))
  })
  return {
    pid: child.pid ?? -1,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const match = pattern.exec(written.stdout + written.stderr)
          if (match === null) return
          onOutput = onOutput.filter((other) => other !== check)
          resolve(match)
        }
        onOutput.push(check)
        check()
        exited.then(
          (code) =>
            reject(new Error(`ended (${String(code)}) before ${String(pattern)}:\n${written.stdout}${written.stderr}`)),
          reject,
        )
      }),
    kill: (signal) => {
      child.kill(signal)
    },
    exited,
  }
}

/** Processor time of a process so far, in microseconds: a tick is a hundredth of a second. */
export const processorTime = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}
