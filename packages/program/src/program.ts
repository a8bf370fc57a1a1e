import { type Check, runDoctor } from "./doctor.ts"

/** A service's program, as its command line has it. */
export type Program = {
  readonly service: string
  readonly version: string
  /** What follows the program's name. */
  readonly args: readonly string[]
  /** Serves until the process is stopped. */
  readonly serve: () => Promise<void>
  /** The checks of `doctor`. Throws ConfigError. */
  readonly checks: () => Promise<Readonly<Record<string, Check>>>
  /** The first words of further commands, and what runs one. */
  readonly operate?: { readonly commands: readonly string[]; readonly run: () => Promise<void> }
}

const help = ({ service, version, operate }: Program): string =>
  [
    `${service} ${version}`,
    "",
    "Without arguments the service runs until SIGTERM. Settings come from the environment: infra/env has all of them.",
    "",
    "  doctor [--json]  checks the settings and everything that the service needs, without serving",
    ...(operate?.commands ?? []).map((command) => `  ${command}`),
    "  --version        prints the version",
    "  --help           prints this",
    "",
  ].join("\n")

/**
 * Does what the arguments say, and sets the exit code: 0, 1 for a failure, 2 for arguments that aren't known.
 * @example
 * ```ts
 * await runProgram({ service: "relay", version, args, serve: () => runService(start), checks })
 * ```
 */
export const runProgram = async (program: Program): Promise<void> => {
  const { service, version, args, operate } = program
  const [first, ...rest] = args
  const write = (text: string): void => void process.stdout.write(text)
  if (first === undefined) return program.serve()
  if (first === "doctor") {
    process.exitCode = await runDoctor({ ...program, args: rest, write })
  } else if (first === "--help" || first === "-h" || first === "help") write(help(program))
  else if (first === "--version") write(`${version}\n`)
  else if (operate !== undefined) await operate.run()
  else {
    process.stderr.write(`${service} doesn't know the argument ${JSON.stringify(first)}; --help lists what it knows.\n`)
    process.exitCode = 2
  }
}
