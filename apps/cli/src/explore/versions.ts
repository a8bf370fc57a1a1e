import { readFile } from "node:fs/promises"
import { type Api, callApi, jsonOf, readPages } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { CliError, systemReason, usageError } from "../errors.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { apiForReading } from "../settings/key.ts"
import { writeOutput } from "../settings/replace-file.ts"
import { pairs, plain, table } from "../output/table.ts"

const languages = ["typescript", "python", "json-schema"] as const

const standardOutput = new Set(["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])

/** Whether a stack can have this name; the registry does not tell upper from lower case. */
export const isStackName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/i.test(name)

/** The path of a stack in the registry; a name that no stack can have never becomes a part of it. */
export const stackPath = (name: string, rest = ""): string => {
  if (!isStackName(name)) {
    throw new CliError("stack-not-found", `There is no stack named ${JSON.stringify(name.slice(0, 100))}.`)
  }
  return `/api/registry/${name.toLowerCase()}${rest}`
}

/** An option that is a version's number. */
export const versionOption = (context: Context, name: string, command: string): string | undefined => {
  const text = context.options[name]
  if (text !== undefined && !/^[1-9]\d{0,8}$/.test(text))
    throw usageError(`--${name} takes a version's number.`, command)
  return text
}

const queryOf = (values: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
  return given.length === 0 ? "" : `?${given.join("&")}`
}

export const readJson = async (api: Api, path: string): Promise<unknown> => jsonOf(await callApi(api, path), api.url)

/** The changes of a diff, one a line. */
export const changeRows = (diff: unknown): string[][] =>
  listOf(diff, "changes").map((change) => [
    textOf(change, "breaking") === "true" ? "breaking" : "compatible",
    textOf(change, "path"),
    textOf(change, "text"),
  ])

/** `svc versions NAME`: what the stack was, newest first. */
export const versions = async (context: Context): Promise<Outcome> => {
  const [name = ""] = context.args
  const list = await readPages(await apiForReading(context), stackPath(name, "/versions"), "limit=100")
  const rows = list.map((version) => [
    textOf(version, "version") + (textOf(version, "current") === "true" ? " (current)" : ""),
    textOf(version, "published_at"),
    textOf(version, "bump"),
    textOf(version, "verdict"),
    textOf(version, "changes"),
    textOf(version, "message"),
  ])
  return {
    json: list,
    text: table(["VERSION", "PUBLISHED", "BUMP", "VERDICT", "CHANGES", "MESSAGE"], rows, context.bold),
  }
}

/** `svc diff NAME [--from N --to M]`: what changed, from a reader's side. */
export const diff = async (context: Context): Promise<Outcome> => {
  const [name = ""] = context.args
  const query = queryOf({ from: versionOption(context, "from", "diff"), to: versionOption(context, "to", "diff") })
  const answer = await readJson(await apiForReading(context), stackPath(name, `/diff${query}`))
  const about = pairs([
    ["Stack", name],
    ["Versions", `${textOf(answer, "from")} to ${textOf(answer, "to")}`],
    ["Verdict", textOf(answer, "verdict")],
    ["Bump", textOf(answer, "bump")],
  ])
  const rows = changeRows(answer)
  const changes = rows.length === 0 ? [] : ["", table(["", "WHERE", "CHANGE"], rows, context.bold)]
  return { json: answer, text: [about, ...changes].join("\n") }
}

/** `svc types NAME`: a module with the stack's types, to the standard output or a file. */
export const types = async (context: Context): Promise<Outcome> => {
  const [name = ""] = context.args
  const { language = "typescript" } = context.options
  const given = context.options["output"] ?? "-"
  const output = standardOutput.has(given) ? undefined : given
  if (!languages.some((one) => one === language)) {
    throw usageError(`--language is one of ${languages.join(", ")}.`, "types")
  }
  const at = versionOption(context, "at", "types")
  const api = await apiForReading(context)
  // Of one version, also when another is published between the two calls.
  const version = at ?? textOf(await readJson(api, stackPath(name)), "version")
  const content = (await callApi(api, stackPath(name, `/types${queryOf({ language, version })}`))).text
  if (output !== undefined) {
    await writeOutput(output, content).catch((error: unknown) => {
      throw new CliError("unwritable-file", `${output} cannot be written (${systemReason(error)}).`)
    })
    context.note(`${output}: ${language} types of ${name}, version ${version}`)
  }
  const json = { name: name.toLowerCase(), version: Number(version), language, content }
  return { json, text: output === undefined ? context.shown(content).trimEnd() : `${plain(output)} is written.` }
}

/** The text of a file, undefined when there is none. */
export const textOfFile = async (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").catch((error: unknown) => {
    if (systemReason(error) === "ENOENT") return undefined
    throw new CliError("unreadable-file", `${path} cannot be read (${systemReason(error)}).`)
  })
