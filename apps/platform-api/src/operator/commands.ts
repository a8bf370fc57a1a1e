import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { generateSigningKey } from "@svc/session-token"
import type { Queries } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { stacks } from "../db/schema/index.ts"
import { readAst } from "../registry/ast/read-ast.ts"
import { changeKey, createUser, listAgents, listAudit, setAgentStatus } from "./accounts.ts"
import { CommandError } from "./command-error.ts"
import { limitOptions, listLimits, readLimit, setLimits } from "./limits.ts"
import { pruneAgents, pruneAudit } from "./prune.ts"
import { approve, deprecate, type Publication, publish, unpublish } from "./publish.ts"
import { importRecords } from "../records/import/import-records.ts"

/** What commands work with. */
export type Dependencies = {
  /** Opens the database; called only by commands that need it. */
  readonly database: () => Promise<{ readonly queries: Queries; readonly applied: number }>
  /** Where streams are served. */
  readonly relayUrl: () => string
  /** Wall clock, in milliseconds since 1970. */
  readonly wallClock: () => number
  readonly randomBytes: (size: number) => Uint8Array
}

type Given = {
  readonly words: readonly string[]
  readonly text: (option: string) => string | undefined
  readonly flag: (option: string) => boolean
}

type Command = {
  readonly usage: string
  /** Whether it takes an argument besides its options. */
  readonly argument?: boolean
  readonly options?: Readonly<Record<string, { readonly type: "string" | "boolean" }>>
  readonly run: (given: Given, dependencies: Dependencies) => Promise<unknown>
}

const text = { type: "string" } as const
const boolean = { type: "boolean" } as const

const need = (value: string | undefined, what: string): string => {
  if (value === undefined || value === "") throw new CommandError("usage", `${what} is required`)
  return value
}

const wholeNumber = (value: string, max: number, code: string): number => {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : 0
  if (number < 1 || number > max) throw new CommandError(code, `a number from 1 to ${max} is required`)
  return number
}

const readFile = (path: string): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path))
  } catch {
    throw new CommandError("unreadable-file", "the file can't be read as UTF-8 text")
  }
}

const visibilityOf = (word: string): Publication["visibility"] => {
  if (word === "public" || word === "global" || word === "private") return word
  throw new CommandError("usage", "--visibility is public, global or private")
}

const agentStatus = (status: "active" | "disabled"): Command["run"] => {
  return async ({ words: [slug] }, { database, wallClock }) =>
    setAgentStatus((await database()).queries, need(slug, "SLUG"), status, new Date(wallClock()))
}

const keyChange = (verb: "disable" | "enable" | "revoke"): Command["run"] => {
  return async ({ words: [id] }, { database, wallClock }) => {
    const keyId = wholeNumber(need(id, "ID"), 2_147_483_647, "key-not-found")
    return changeKey((await database()).queries, keyId, verb, new Date(wallClock()))
  }
}

const commands: Readonly<Record<string, Command>> = {
  migrate: {
    usage: "migrate",
    run: async (_, { database }) => ({ applied: (await database()).applied }),
  },
  "session-key generate": {
    usage: "session-key generate",
    run: async () => JSON.parse(await generateSigningKey()) as unknown,
  },
  "stack publish": {
    usage:
      "stack publish <ast.json> --name N --websocket-url U [--description D] [--visibility public|global|private] [--relay] [--browser-send] [--allow-breaking]",
    argument: true,
    options: {
      name: text,
      "websocket-url": text,
      description: text,
      visibility: text,
      relay: boolean,
      "browser-send": boolean,
      "allow-breaking": boolean,
    },
    run: async (given, { database, wallClock }) => {
      const stack = {
        name: need(given.text("name"), "--name"),
        websocketUrl: need(given.text("websocket-url"), "--websocket-url"),
        description: given.text("description") ?? null,
        visibility: visibilityOf(given.text("visibility") ?? "public"),
        relay: given.flag("relay"),
        browserSend: given.flag("browser-send"),
        allowBreaking: given.flag("allow-breaking"),
        ast: readAst(readFile(need(given.words[0], "<ast.json>"))),
      }
      return publish((await database()).queries, stack, new Date(wallClock()))
    },
  },
  "stack list": {
    usage: "stack list",
    run: async (_, { database }) => {
      const rows = await (
        await database()
      ).queries.run((db) =>
        db
          .select({
            name: stacks.name,
            description: stacks.description,
            websocket_url: stacks.websocketUrl,
            visibility: stacks.visibility,
            relay: stacks.relay,
            browser_send: stacks.browserSend,
            version: stacks.version,
            content_hash: stacks.contentHash,
            updated_at: stacks.updatedAt,
          })
          .from(stacks)
          .orderBy(orm.asc(stacks.name)),
      )
      return rows
    },
  },
  "stack unpublish": {
    usage: "stack unpublish NAME",
    argument: true,
    run: async ({ words: [name] }, { database, wallClock }) =>
      unpublish((await database()).queries, need(name, "NAME"), new Date(wallClock())),
  },
  "stack deprecate": {
    usage: "stack deprecate NAME (--message M [--successor N] | --clear)",
    argument: true,
    options: { message: text, successor: text, clear: boolean },
    run: async ({ words: [name], text: option, flag }, { database, wallClock }) => {
      const told = flag("clear")
        ? undefined
        : { message: need(option("message"), "--message"), successor: option("successor") }
      return deprecate((await database()).queries, need(name, "NAME"), told, new Date(wallClock()))
    },
  },
  "stack approve": {
    usage: "stack approve NAME",
    argument: true,
    run: async ({ words: [name] }, { database, wallClock }) =>
      approve((await database()).queries, need(name, "NAME"), new Date(wallClock())),
  },
  "agent list": { usage: "agent list", run: async (_, { database }) => listAgents((await database()).queries) },
  "agent disable": { usage: "agent disable SLUG", argument: true, run: agentStatus("disabled") },
  "agent enable": { usage: "agent enable SLUG", argument: true, run: agentStatus("active") },
  "agent prune": {
    usage: "agent prune --unused-days N [--dry-run]",
    options: { "unused-days": text, "dry-run": boolean },
    run: async (given, { database, wallClock }) => {
      const unusedDays = wholeNumber(need(given.text("unused-days"), "--unused-days"), 100_000, "usage")
      const pruning = { unusedDays, at: new Date(wallClock()), actor: "operator", dryRun: given.flag("dry-run") }
      return pruneAgents((await database()).queries, pruning)
    },
  },
  "user create": {
    usage: "user create --email E [--name N]",
    options: { email: text, name: text },
    run: async (given, { database, wallClock, randomBytes }) => {
      const user = { email: need(given.text("email"), "--email"), name: given.text("name") }
      return createUser((await database()).queries, user, new Date(wallClock()), randomBytes)
    },
  },
  "key disable": { usage: "key disable ID", argument: true, run: keyChange("disable") },
  "key enable": { usage: "key enable ID", argument: true, run: keyChange("enable") },
  "key revoke": { usage: "key revoke ID", argument: true, run: keyChange("revoke") },
  "records import": {
    usage: "records import FILE",
    argument: true,
    run: async ({ words: [file] }, { database, wallClock, randomBytes, relayUrl }) => {
      const document = readFile(need(file, "FILE"))
      const options = { at: new Date(wallClock()), randomBytes, relayUrl: relayUrl() }
      return importRecords((await database()).queries, document, options)
    },
  },
  "limits set": {
    usage: `limits set agent:SLUG|user:ID|stack:NAME ${Object.keys(limitOptions)
      .map((option) => `[--${option} N|none]`)
      .join(" ")}`,
    argument: true,
    options: Object.fromEntries(Object.keys(limitOptions).map((option) => [option, text])),
    run: async (given, { database, wallClock }) => {
      const change = Object.entries(limitOptions).flatMap(([option, limit]) => {
        const value = given.text(option)
        return value === undefined ? [] : [[limit, readLimit(option, value)]]
      })
      const subject = need(given.words[0], "agent:SLUG, user:ID or stack:NAME")
      return setLimits((await database()).queries, subject, Object.fromEntries(change), new Date(wallClock()))
    },
  },
  "limits list": { usage: "limits list", run: async (_, { database }) => listLimits((await database()).queries) },
  "audit prune": {
    usage: "audit prune --older-days N",
    options: { "older-days": text },
    run: async (given, { database, wallClock }) => {
      const olderDays = wholeNumber(need(given.text("older-days"), "--older-days"), 100_000, "usage")
      return pruneAudit((await database()).queries, { olderDays, at: new Date(wallClock()) })
    },
  },
  "audit list": {
    usage: "audit list [--limit N]",
    options: { limit: text },
    run: async (given, { database }) => {
      const limit = wholeNumber(given.text("limit") ?? "100", 1_000_000, "usage")
      return listAudit((await database()).queries, limit)
    },
  },
}

const usage = (problem: string): CommandError =>
  new CommandError(
    "usage",
    `${problem}; the commands are: ${Object.values(commands)
      .map((c) => c.usage)
      .join(", ")}`,
  )

// Every command takes --json, which is how it prints anyway.
const parse = (args: readonly string[], { options = {}, argument = false, usage: line }: Command): Given => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { json: boolean, ...options },
      allowPositionals: true,
      strict: true,
    })
    if (positionals.length > (argument ? 1 : 0)) throw new Error("too many arguments")
    const found: Readonly<Record<string, unknown>> = values
    return {
      words: positionals,
      text: (option) => {
        const value = found[option]
        return typeof value === "string" ? value : undefined
      },
      flag: (option) => found[option] === true,
    }
  } catch (error) {
    throw new CommandError("usage", `${error instanceof Error ? error.message : "bad arguments"}; usage: ${line}`)
  }
}

/** Runs one operator command and gives what it prints. Throws CommandError, DocumentFault or DatabaseUnavailable. */
export const runCommand = (args: readonly string[], dependencies: Dependencies): Promise<unknown> => {
  for (const length of [2, 1]) {
    const name = args.slice(0, length).join(" ")
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command !== undefined) return command.run(parse(args.slice(length), command), dependencies)
  }
  throw usage("unknown command")
}
