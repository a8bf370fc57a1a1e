import { readFileSync } from "node:fs"
import type { Runtime } from "@svc/program"
import { generateSigningKey } from "@svc/session-token"
import { Command as Program, CommanderError } from "commander"
import type { Queries } from "../db/database.ts"
import { agentStatuses, visibilities } from "../db/schema/index.ts"
import { readAst } from "../registry/ast/parse-ast.ts"
import { changeKey, createUser, createViewerKey, listAudit, setAgentStatus, statusActions } from "./accounts.ts"
import type { Settings } from "../config.ts"
import { backup, restore } from "./backup.ts"
import { CommandError } from "./command-error.ts"
import { findAccounts, listAgents, listDisabledKeys, slugOf } from "./find-accounts.ts"
import { limitOptions, listLimits, readLimit, setLimits } from "./limits.ts"
import { pruneAgents, pruneAudit } from "./prune.ts"
import { approve, deprecate, listStacks, publish, unpublish } from "./publish.ts"

/** What commands work with. */
export type Dependencies = Pick<Runtime, "wallClock" | "randomBytes"> & {
  /** Opens the database. Only commands that need it call this. */
  readonly database: () => Promise<{ readonly queries: Queries; readonly applied: number }>
  readonly settings: () => Settings
}

type Call = Omit<Dependencies, "wallClock"> & {
  /** Empty for a command without an argument. */
  readonly argument: string
  readonly option: (name: string) => string | undefined
  /** The value of a required option. Throws CommandError. */
  readonly need: (option: string) => string
  readonly flag: (option: string) => boolean
  readonly queries: () => Promise<Queries>
  readonly at: Date
}

type Command = {
  /** Its argument, as commander takes it. */
  readonly argument?: string
  /** Options that are required, as commander takes them. */
  readonly needs?: readonly string[]
  /** Other options. */
  readonly takes?: readonly string[]
  readonly run: (call: Call) => Promise<unknown>
}

const required = (value: string | undefined, what: string): string => {
  if (value === undefined || value === "") throw new CommandError("usage", `${what} is required`)
  return value
}

const wholeNumber = (value: string, max: number, code = "usage"): number => {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : 0
  if (number < 1 || number > max) throw new CommandError(code, `the value must be a number from 1 to ${max}`)
  return number
}

const readFile = (path: string): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path))
  } catch {
    throw new CommandError("unreadable-file", "the file can't be read as UTF-8 text: check its path and encoding")
  }
}

const visibilityOf = (word: string) => {
  const found = visibilities.find((one) => one === word)
  if (found === undefined) throw new CommandError("usage", `--visibility must be one of ${visibilities.join(", ")}`)
  return found
}

const keyChange = (verb: "disable" | "enable" | "revoke"): Command => ({
  argument: "<ID>",
  run: async ({ queries, argument, at }) => {
    const id = wholeNumber(argument, 2_147_483_647, "key-not-found")
    return changeKey(await queries(), id, verb, at)
  },
})

const named = (run: (queries: Queries, name: string, at: Date) => Promise<unknown>): Command => ({
  argument: "<NAME>",
  run: async ({ queries, argument: name, at }) => run(await queries(), name, at),
})

/** `agent enable` and its like: a status without a command could never be set. */
const agentCommands = agentStatuses.map((status): readonly [string, Command] => [
  statusActions[status].replace(".", " "),
  {
    argument: "<SLUG>",
    ...(status === "disabled" && { takes: ["--message <M>"] }),
    run: async ({ queries, argument, option, at }) =>
      setAgentStatus(await queries(), slugOf(argument), status, at, option("message")),
  },
])

const commands: Readonly<Record<string, Command>> = {
  migrate: { run: async ({ database }) => ({ applied: (await database()).applied }) },
  backup: { argument: "<FILE>", run: async ({ settings, argument }) => backup(settings(), argument) },
  restore: { argument: "<FILE>", run: async ({ settings, argument }) => restore(settings(), argument) },
  "session-key generate": { run: async () => JSON.parse(await generateSigningKey()) as unknown },
  "stack publish": {
    argument: "<FILE>",
    needs: ["--name <N>", "--websocket-url <U>"],
    takes: [
      "--description <D>",
      `--visibility <${visibilities.join("|")}>`,
      "--relay",
      "--browser-send",
      "--allow-breaking",
    ],
    run: async ({ queries, argument, option, need, flag, at }) => {
      const stack = {
        name: need("name"),
        websocketUrl: need("websocket-url"),
        description: option("description") ?? null,
        visibility: visibilityOf(option("visibility") ?? "public"),
        relay: flag("relay"),
        browserSend: flag("browser-send"),
        allowBreaking: flag("allow-breaking"),
        ast: readAst(readFile(argument)),
      }
      return publish(await queries(), stack, at)
    },
  },
  "stack list": { run: async ({ queries }) => listStacks(await queries()) },
  "stack unpublish": named(unpublish),
  "stack deprecate": {
    argument: "<NAME>",
    takes: ["--message <M>", "--successor <N>", "--clear"],
    run: async ({ queries, argument, option, flag, at }) => {
      const message = () => required(option("message"), "--message (or --clear, which undoes it)")
      const given = flag("clear") ? undefined : { message: message(), successor: option("successor") }
      return deprecate(await queries(), argument, given, at)
    },
  },
  "stack approve": named(approve),
  "agent list": {
    takes: ["--disabled"],
    run: async ({ queries, flag }) => listAgents(await queries(), flag("disabled")),
  },
  "agent find": {
    argument: "<SLUG|USER|KEY-ID|KEY-HINT|NETWORK>",
    run: async ({ queries, argument }) => findAccounts(await queries(), argument),
  },
  ...Object.fromEntries(agentCommands),
  "agent prune": {
    needs: ["--unused-days <N>"],
    takes: ["--dry-run"],
    run: async ({ queries, need, flag, at }) => {
      const unusedDays = wholeNumber(need("unused-days"), 100_000)
      return pruneAgents(await queries(), { unusedDays, at, actor: "operator", dryRun: flag("dry-run") })
    },
  },
  "user create": {
    needs: ["--email <E>"],
    takes: ["--name <N>"],
    run: async ({ queries, need, option, at, randomBytes }) => {
      const user = { email: need("email"), name: option("name") }
      return createUser(await queries(), user, at, randomBytes)
    },
  },
  "viewer-key create": {
    needs: ["--origin <URL>"],
    takes: ["--replace"],
    run: async ({ queries, need, flag, at, randomBytes }) => {
      const given = { origin: need("origin"), replace: flag("replace") }
      return createViewerKey(await queries(), given, at, randomBytes)
    },
  },
  "key list": {
    needs: ["--disabled"],
    run: async ({ queries }) => listDisabledKeys(await queries()),
  },
  "key disable": keyChange("disable"),
  "key enable": keyChange("enable"),
  "key revoke": keyChange("revoke"),
  "limits set": {
    argument: "<agent:SLUG|user:ID|stack:NAME>",
    takes: Object.values(limitOptions).map((option) => `--${option} <N|none>`),
    run: async ({ queries, argument, option, at }) => {
      const change = Object.entries(limitOptions).flatMap(([limit, name]) => {
        const value = option(name)
        return value === undefined ? [] : [[limit, readLimit(name, value)]]
      })
      return setLimits(await queries(), argument, Object.fromEntries(change), at)
    },
  },
  "limits list": { run: async ({ queries }) => listLimits(await queries()) },
  "audit prune": {
    needs: ["--older-days <N>"],
    run: async ({ queries, need, at }) => {
      const olderDays = wholeNumber(need("older-days"), 100_000)
      return pruneAudit(await queries(), olderDays, at)
    },
  },
  "audit list": {
    takes: ["--limit <N>"],
    run: async ({ queries, option }) => {
      const limit = wholeNumber(option("limit") ?? "100", 1_000_000)
      return listAudit(await queries(), limit)
    },
  },
}

const usageOf = (name: string, { argument, needs = [], takes = [] }: Command): string =>
  [name, argument, ...needs, ...takes.map((flags) => `[${flags}]`)].filter(Boolean).join(" ").replaceAll(/[<>]/g, "")

const parse = (args: readonly string[], name: string, command: Command, given: Dependencies): Call => {
  const { argument, needs = [], takes = [] } = command
  const program = new Program(name)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .helpOption(false)
  if (argument !== undefined) program.argument(argument)
  for (const flags of needs) program.requiredOption(flags)
  // Every command takes --json. The output is always JSON.
  for (const flags of ["--json", ...takes]) program.option(flags)
  try {
    program.parse(args, { from: "user" })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    throw new CommandError("usage", `${error.message.replace("error: ", "")}; usage: ${usageOf(name, command)}`)
  }
  const value = (key: string): unknown =>
    program.getOptionValue(key.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()))
  const option = (key: string) => {
    const found = value(key)
    return typeof found === "string" ? found : undefined
  }
  return {
    ...given,
    argument: argument === undefined ? "" : required(program.args[0], argument),
    option,
    need: (key) => required(option(key), `--${key}`),
    flag: (key) => value(key) === true,
    queries: async () => (await given.database()).queries,
    at: new Date(given.wallClock()),
  }
}

/** Every command with what follows it. */
export const commandUsages: readonly string[] = Object.entries(commands).map(([name, command]) =>
  usageOf(name, command),
)

/** Runs one operator command and returns what it prints. Throws CommandError, DocumentFault or DatabaseUnavailable. */
export const runCommand = async (args: readonly string[], dependencies: Dependencies): Promise<unknown> => {
  for (const length of [2, 1]) {
    const name = args.slice(0, length).join(" ")
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command !== undefined) return command.run(parse(args.slice(length), name, command, dependencies))
  }
  throw new CommandError("usage", `unknown command; \`--help\` lists the commands`)
}
