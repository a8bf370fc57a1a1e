import type { Context, Outcome } from "../command.ts"
import { plain } from "../output/table.ts"
import { callApi } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { writeOutput } from "../settings/files.ts"
import { readEntry, readPartOf, registryName } from "./stack.ts"

const standardOutput = new Set(["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])

/** `svc types STACK`: a module with the stack's types, on stdout or in a file. */
export const types = async (context: Context): Promise<Outcome> => {
  const name = registryName(context.args[0] ?? "")
  const { language = "typescript", output = "-", at } = context.options
  const api = await apiForReading(context)
  // The version is fixed first, because another one may be published between the two calls.
  const version = at === undefined ? (await readEntry(api, name)).version : Number(at)
  const path = `/api/registry/${name}/types?language=${language}&version=${version}`
  const { bytes } = await readPartOf(context, api, name, (reader) => callApi(reader, path))
  const content = new TextDecoder().decode(bytes)
  const json = { name, version, language, content }
  if (standardOutput.has(output)) return { json, text: () => content.trimEnd() }
  await writeOutput(output, content)
  context.note(`${output}: ${language} types of ${name}, version ${version}`)
  return { json, text: () => `${plain(output)} is written.` }
}
