import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Context, Outcome } from "./context.ts"
import { CliError, systemReason } from "./errors.ts"
import { keepUrls, serviceUrl } from "./settings.ts"
import { fetchSkills } from "./skills.ts"
import { table } from "./table.ts"
import { writeOver } from "./write-over.ts"

type Result = "created" | "updated" | "unchanged"

const install = async (path: string, content: Uint8Array): Promise<Result> => {
  const old = await readFile(path).catch((error: unknown) => {
    if (systemReason(error) === "ENOENT") return undefined
    throw error
  })
  if (old !== undefined && old.equals(content)) return "unchanged"
  await writeOver(path, content, { mode: 0o644, folderMode: 0o755 })
  return old === undefined ? "created" : "updated"
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** `svc init`: the skill files into the project, all fetched and checked before the first is written. */
export const init = async (context: Context): Promise<Outcome> => {
  const project = context.options["dir"] ?? "."
  const skills = await fetchSkills(await serviceUrl("docs", context.options, context.env, context.folder))
  const folders = [".agents", ...((await isFolder(join(project, ".claude"))) ? [".claude"] : [])]
  const files: { path: string; result: Result }[] = []
  for (const folder of folders) {
    for (const { name, content } of skills) {
      const path = join(project, folder, "skills", name, "SKILL.md")
      const result = await install(path, content).catch((error: unknown) => {
        throw new CliError("skills-unwritable", `${path} cannot be written (${systemReason(error)}).`)
      })
      files.push({ path, result })
    }
  }
  const kept = await keepUrls(context.options, context.folder)
  if (kept !== undefined) context.note(`The URLs are kept in ${kept}.`)
  context.note("Next: svc explore --json")
  const rows = files.map(({ path, result }) => [result, path])
  return { json: { files }, text: table(["RESULT", "FILE"], rows, context.bold) }
}
