import { isObject, parseJson } from "@svc/common/json-object"
import type { Context, Outcome } from "../command.ts"
import { CliError, usageError } from "../errors.ts"
import { changeRows } from "../explore/versions.ts"
import { stackPath } from "../explore/stack.ts"
import { labelled, listOf, textOf } from "../output/json-value.ts"
import { pairs, table } from "../output/table.ts"
import { callApi, callJson, readPages, type Api } from "../services/api.ts"
import { readTextFile } from "../settings/files.ts"
import { apiOfOwner, apiWithKey } from "../settings/key.ts"
import { followRun } from "./follow.ts"

export const readAst = async (file: string): Promise<unknown> => {
  const text = await readTextFile(file)
  if (text === undefined) throw new CliError("unreadable-file", `${file} doesn't exist.`)
  const ast = parseJson(text)
  if (!isObject(ast)) throw new CliError("invalid-ast", `${file} isn't a JSON object. An AST is one.`)
  return ast
}

/** Creates the spec with the AST, or changes it as the options say. Returns its id, and whether it has the AST already. */
const prepareSpec = async (context: Context, api: Api, name: string, ast: unknown, message?: string) => {
  const { "websocket-url": url, visibility } = context.options
  const changes = { websocket_url: url, visibility }
  const old = (await readPages(api, "/api/specs")).find((spec) => textOf(spec, "name") === name)
  if (old === undefined) {
    // One call creates it with its first version: if the AST is rejected, no empty spec remains.
    const body = { name, ...changes, ast_payload: message === undefined ? ast : undefined }
    const made = await callJson(api, "/api/specs", { method: "POST", body })
    return { id: Number(textOf(made, "id")), hasAst: message === undefined }
  }
  const id = Number(textOf(old, "id"))
  if (url !== undefined || visibility !== undefined) {
    await callApi(api, `/api/specs/${id}`, { method: "PUT", body: changes })
    if (visibility === "public" && textOf(old, "visibility") !== "public") {
      context.note(`${name} is now public: everybody can read all its versions.`)
    }
  }
  return { id, hasAst: false }
}

/** What publishing an AST would change: verdict, changes and schema. It publishes nothing. */
export const askCheck = (api: Api, name: string, ast: unknown): Promise<unknown> =>
  callJson(api, stackPath(name, "/check"), { method: "POST", body: { ast_payload: ast } })

/** `svc push FILE --name N --check`: what publishing the AST would change. It publishes nothing. */
const checkAst = async (context: Context, name: string, ast: unknown): Promise<Outcome> => {
  const answer = await askCheck(await apiWithKey(context), name, ast)
  const [schema, changes] = [isObject(answer) ? answer["schema"] : undefined, changeRows(answer)]
  const entities = listOf(schema, "entities").map((entity) => [
    textOf(entity, "name"),
    String(listOf(entity, "fields").length),
    listOf(entity, "views")
      .map((view) => textOf(view, "id"))
      .join(" "),
  ])
  const isBreaking = textOf(answer, "verdict") === "breaking" && !context.flags.has("allow-breaking")
  return {
    json: answer,
    text: (style) => {
      const about = labelled(answer, { version: "Compared with version", verdict: "Verdict", bump: "Bump" })
      const tables = [pairs([["Stack", name], ...about], style), table(["ENTITY", "FIELDS", "VIEWS"], entities, style)]
      if (changes.length > 0) tables.push(table(["VERDICT", "WHERE", "CHANGE"], changes, style))
      return tables.join("\n\n")
    },
    exit: isBreaking ? 1 : 0,
  }
}

/** `svc push FILE --name N`: publishes an AST as the next version of a spec, and waits for the result. */
export const push = async (context: Context): Promise<Outcome> => {
  const { name } = context.options
  if (name === undefined) throw usageError("--name NAME is missing: the stack's name in the registry.")
  const ast = await readAst(context.args[0] ?? "")
  if (context.flags.has("check")) return checkAst(context, name, ast)
  return publish(context, await apiOfOwner(context), name, ast)
}

/** Publishes an AST as the options say, and waits for the result. @param message what is new, for readers */
export const publish = async (
  context: Context,
  api: Api,
  name: string,
  ast: unknown,
  message?: string,
): Promise<Outcome> => {
  // The registry's names are in lower case.
  const { id, hasAst } = await prepareSpec(context, api, name.toLowerCase(), ast, message)
  if (message !== undefined) {
    await callApi(api, `/api/specs/${id}/versions`, { method: "POST", body: { ast_payload: ast, message } })
  }
  const body = {
    workflow: "publish",
    spec_id: id,
    ast_payload: hasAst || message !== undefined ? undefined : ast,
    allow_breaking: context.flags.has("allow-breaking") || undefined,
  }
  const begun = await callJson(api, "/api/automation/runs", { method: "POST", body })
  const run = textOf(begun, "id")
  context.note(`Run ${run} has started. It continues without this command. To look at it: svc runs ${run}`)
  return followRun(context, api, begun, "succeeded")
}
