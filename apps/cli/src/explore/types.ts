import type { Context, Outcome } from "../command.ts"
import { usageError } from "../errors.ts"
import { textOf } from "../output/json-value.ts"
import { plain } from "../output/table.ts"
import { callApi } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { writeOutput } from "../settings/files.ts"
import { queryOf, readEntry, stackPath } from "./stack.ts"

export const languages = ["typescript", "json-schema"]
const standardOutput = new Set(["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])

/** `svc types STACK`: a module with the stack's types, on stdout or in a file. */
export const types = async (context: Context): Promise<Outcome> => {
  const [name = ""] = context.args
  const { language = "typescript", output = "-", at } = context.options
  if (!languages.includes(language)) throw usageError(`--language must be one of ${languages.join(", ")}.`)
  const api = await apiForReading(context)
  // The version is fixed first, because another one may be published between the two calls.
  const version = at ?? textOf(await readEntry(api, name), "version")
  const content = (await callApi(api, stackPath(name, `/types${queryOf({ language, version })}`))).text
  const json = { name: name.toLowerCase(), version: Number(version), language, content }
  if (standardOutput.has(output)) return { json, text: () => context.shown(content).trimEnd() }
  await writeOutput(output, content)
  context.note(`${output}: ${language} types of ${name}, version ${version}`)
  return { json, text: () => `${plain(output)} is written.` }
}
