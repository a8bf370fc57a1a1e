import { readFile, realpath, stat } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"
import type { Context, Outcome } from "../command.ts"
import { asCode, CliError, isMissing } from "../errors.ts"
import { configFile, storeContext } from "../settings/contexts.ts"
import { copyUrls, serviceUrl } from "../settings/settings.ts"
import { linkTarget, makeFolder, replaceFile } from "../settings/files.ts"
import { fetchSkills } from "./skills.ts"
import { table } from "../output/table.ts"

type Result = "created" | "updated" | "unchanged"

/** The real path of a folder, or of its nearest parent that exists. */
const realFolder = (path: string): Promise<string> =>
  realpath(path).catch((error: unknown) => {
    if (!isMissing(error) || dirname(path) === path) throw error
    return realFolder(dirname(path))
  })

const install = async (project: string, path: string, content: Uint8Array): Promise<Result> => {
  const folder = dirname(path)
  const root = await realFolder(project)
  const checkInside = (real: string, given: string): void => {
    if (relative(root, real).split(sep)[0] !== "..") return
    throw new CliError("skills-unwritable", `${given} leads out of the project.`)
  }
  checkInside(await realFolder(folder), folder)
  const old = await readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (old !== undefined && old.equals(content)) return "unchanged"
  await makeFolder(folder, 0o755)
  checkInside(await linkTarget(path), path)
  await replaceFile(path, content, 0o644)
  return old === undefined ? "created" : "updated"
}

/** `svc init`: installs the skill files. All are fetched and checked before the first is written. */
export const init = async (context: Context): Promise<Outcome> => {
  const here = { ...context, prefersCopy: true } as const
  const project = context.options["dir"] ?? "."
  const skills = await fetchSkills(context, await serviceUrl("docs", here))
  const claude = await stat(join(project, ".claude")).catch(() => undefined)
  const folders = [".agents", ...(claude?.isDirectory() === true ? [".claude"] : [])]
  const files: { path: string; result: Result }[] = []
  for (const folder of folders) {
    for (const { name, content } of skills) {
      const path = join(project, folder, "skills", name, "SKILL.md")
      const result = await install(project, path, content).catch(
        asCode("skills-unwritable", (reason) => `${path} can't be written (${reason})`),
      )
      files.push({ path, result })
    }
  }
  const { name, changed } = await storeContext(context.folder, await copyUrls(here))
  if (changed) context.note(`${name} is the current context, stored in ${configFile(context.folder)}.`)
  context.note("Next: svc explore --json")
  const rows = files.map(({ path, result }) => [result, path])
  return { json: { files }, text: (style) => table(["RESULT", "FILE"], rows, style) }
}
