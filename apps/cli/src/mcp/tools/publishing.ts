import { stat } from "node:fs/promises"
import { z } from "zod"
import { CliError } from "../../errors.ts"
import { listOf, textOf } from "../../output/json-value.ts"
import { askCheck, publish, readAst } from "../../publish/push.ts"
import { apiOfOwner } from "../../settings/key.ts"
import { fitting, shortened } from "../result.ts"
import { defineTool } from "../tool.ts"

/** More than the API takes: 2 MiB. A device, such as /dev/zero, has no end, and files of /proc have size 0, whatever is in them. */
const largestFile = 8 * 2 ** 20

const checkFile = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || (found.isFile() && found.size > 0 && found.size <= largestFile)) return
  throw new CliError("unreadable-file", `${path} isn't a file of 1 byte to 8 MiB.`)
}

export const publishingTools = [
  defineTool(
    {
      name: "publish_stack",
      description:
        "Publish an AST file of this machine as a stack's next version; needs a person's key. A change that breaks readers is only reported, unless allow_breaking is true.",
      input: z.object({
        stack: z.string(),
        ast_path: z.string(),
        message: z.string().optional().meta({ description: "what is new, for readers" }),
        allow_breaking: z.boolean().optional(),
      }),
      output: z.object({
        published: z.boolean(),
        verdict: z.string(),
        bump: z.string(),
        compared_with_version: z.number().nullable(),
        changes: z.array(z.object({ path: z.string(), breaking: z.boolean(), text: z.string() })),
        truncated: z.boolean().optional(),
        next: z.string().optional(),
      }),
      annotations: { destructiveHint: true },
    },
    async ({ context }, { stack, ast_path: path, message, allow_breaking: isAllowed = false }) => {
      const given = context({ flags: new Set(isAllowed ? ["allow-breaking"] : []) })
      const api = await apiOfOwner(given)
      await checkFile(path)
      const ast = await readAst(path)
      const checked = await askCheck(api, stack, ast)
      const isPublished = isAllowed || textOf(checked, "verdict") !== "breaking"
      if (isPublished) await publish(given, api, stack, ast, message)
      const { kept, isCut } = fitting(
        listOf(checked, "changes").map((change) => ({
          path: shortened(textOf(change, "path")),
          breaking: textOf(change, "breaking") === "true",
          text: shortened(textOf(change, "text")),
        })),
      )
      const version = textOf(checked, "version")
      return {
        published: isPublished,
        verdict: textOf(checked, "verdict"),
        bump: textOf(checked, "bump"),
        compared_with_version: version === "" ? null : Number(version),
        changes: kept,
        ...(isCut && { truncated: true }),
        ...(!isPublished && { next: "Nothing was published. Keep what readers use, or pass allow_breaking: true." }),
      }
    },
  ),
]
