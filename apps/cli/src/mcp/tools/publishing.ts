import { stat } from "node:fs/promises"
import type { Run } from "@svc/client"
import { ToolError } from "@svc/mcp"
import { z } from "zod"
import { onCode } from "../../errors.ts"
import { readEntry } from "../../explore/stack.ts"
import { askCheck, ownOrFree, publish, readAst, specOf } from "../../publish/push.ts"
import { type Api, platformOf } from "../../services/api.ts"
import { largestFile } from "../../settings/files.ts"
import { apiOfOwner } from "../../settings/key.ts"
import { fitting, otherKey, shortened } from "../result.ts"
import { defineTool } from "../tool.ts"

/** Files of /proc have size 0, whatever is in them, and a pipe may never end. */
const checkFile = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || (found.isFile() && found.size > 0 && found.size <= largestFile)) return
  throw new ToolError(
    "unreadable-file",
    `${path} isn't a file of 1 byte to ${largestFile / 2 ** 20} MiB.`,
    "Pass the path of an AST.",
  )
}

/** As the API takes names of specs, here in any case. */
const stackName = z.string().refine((name) => /^(?!changes$)(?!.*--)[a-z0-9][a-z0-9-]{0,62}$/i.test(name), {
  error: "must have 1 to 63 letters, digits and dashes, and begin with a letter or digit",
})

/** The version and the stream that a stack has after a run. The registry of another replica may be two seconds behind. */
const deployed = async (api: Api, { deployment_id: id }: Run) => {
  if (id === null) return { version: null, url: null }
  const { current_version: version, websocket_url: url } = await platformOf(api).deployments.get(id)
  return { version, url }
}

export const publishingTools = [
  defineTool({
    name: "publish_stack",
    description:
      "Publish an AST file of this machine as a stack's next version; needs a person's key. A change that breaks readers is only reported, unless allow_breaking is true.",
    input: {
      stack: stackName,
      ast_path: z.string(),
      message: z.string().optional().meta({ description: "what is new, for readers" }),
      allow_breaking: z.boolean().optional(),
    },
    output: {
      published: z.boolean(),
      version: z.number().nullable(),
      verdict: z.string(),
      bump: z.string(),
      compared_with_version: z.number().nullable(),
      visibility: z.string().optional(),
      websocket_url: z.string().nullish(),
      changes: z.array(z.object({ path: z.string(), breaking: z.boolean(), text: z.string() })),
      truncated: z.boolean().optional(),
      next: z.string().optional(),
    },
    annotations: { destructiveHint: true },
    run: async ({ context }, { stack, ast_path: path, message, allow_breaking: isAllowed = false }) => {
      const given = context({ flags: new Set(isAllowed ? ["allow-breaking"] : []) })
      // For all other tools an agent's key will do.
      const askForKey = onCode("missing-credentials", (error) => {
        const hint = `Nothing was done. Ask a person to store a person's key: ${otherKey}.`
        throw new ToolError(error.code, error.message, hint)
      })
      const api = await apiOfOwner(given).catch(askForKey)
      await checkFile(path)
      const ast = await readAst(path)
      await ownOrFree(api, stack)
      const checked = await askCheck(api, stack, ast)
      const { version: before, verdict, bump, changes } = checked
      const isFit = isAllowed || verdict !== "breaking"
      const { version, url } = isFit
        ? await deployed(api, (await publish(given, api, stack, ast, message)).json)
        : {
            version: before,
            url: (await readEntry(api, stack).catch(onCode("stack-not-found", () => undefined)))?.websocket_url,
          }
      const reason = isFit
        ? `Version ${version} has this AST already.`
        : "Keep what readers use, or pass allow_breaking: true."
      const spec = await specOf(api, stack)
      const { kept, truncated } = fitting(
        changes.map(({ path: changed, breaking, text }) => ({
          path: shortened(changed),
          breaking,
          text: shortened(text),
        })),
      )
      const steps = [
        ...(version === before ? [`Nothing was published. ${reason}`] : []),
        ...(truncated ? ["svc push with --check shows all changes."] : []),
      ]
      return {
        published: version !== before,
        version,
        verdict,
        bump,
        compared_with_version: before,
        visibility: spec?.visibility,
        websocket_url: url,
        changes: kept,
        truncated,
        ...(steps.length > 0 && { next: steps.join(" ") }),
      }
    },
  }),
]
