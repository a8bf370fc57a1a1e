import { callApi, jsonOf, readPages, type Api } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { CliError, usageError } from "../errors.ts"
import { followRun } from "./follow.ts"
import { isObject } from "@svc/common/json-object"
import { parseJson, textOf } from "../output/json-value.ts"
import { apiOfOwner } from "../settings/key.ts"
import { textOfFile } from "../explore/versions.ts"

const readAst = async (file: string): Promise<unknown> => {
  const text = await textOfFile(file)
  if (text === undefined) throw new CliError("unreadable-file", `${file} is not there.`)
  const ast = parseJson(text)
  if (!isObject(ast)) throw new CliError("invalid-ast", `${file} is no JSON object: an AST is wanted.`)
  return ast
}

/** The spec of this name, made with the AST or changed as the options say: its id, and whether it has the AST. */
const prepareSpec = async (context: Context, api: Api, name: string, ast: unknown) => {
  const { "websocket-url": url, visibility } = context.options
  const changes = {
    ...(url === undefined ? {} : { websocket_url: url }),
    ...(visibility === undefined ? {} : { visibility }),
  }
  const old = (await readPages(api, "/api/specs", "limit=100")).find((spec) => textOf(spec, "name") === name)
  if (old === undefined) {
    // With its first version in one call: an AST that is refused leaves no empty spec behind.
    const body = { name, ...changes, ast_payload: ast }
    const made = await callApi(api, "/api/specs", { method: "POST", body })
    return { id: Number(textOf(jsonOf(made, api.url), "id")), hasAst: true }
  }
  const id = Number(textOf(old, "id"))
  if (Object.keys(changes).length > 0) {
    await callApi(api, `/api/specs/${id}`, { method: "PUT", body: changes })
    if (visibility === "public" && textOf(old, "visibility") !== "public") {
      context.note(`${name} turns public: from now on everybody can read all its versions.`)
    }
  }
  return { id, hasAst: false }
}

/** `svc push FILE --name N`: publishes an AST as the next version of a spec, and follows that to its end. */
export const push = async (context: Context): Promise<Outcome> => {
  const { name, branch } = context.options
  if (name === undefined) throw usageError("--name NAME is missing: the stack's name in the registry.", "push")
  const ast = await readAst(context.args[0] ?? "")
  const api = await apiOfOwner(context)
  // Names are told in lower case, however they were written.
  const { id, hasAst } = await prepareSpec(context, api, name.toLowerCase(), ast)
  const body = {
    workflow: "publish",
    spec_id: id,
    ...(hasAst ? {} : { ast_payload: ast }),
    ...(branch === undefined ? {} : { branch }),
    ...(context.flags.has("allow-breaking") ? { allow_breaking: true } : {}),
  }
  const begun = jsonOf(await callApi(api, "/api/automation/runs", { method: "POST", body }), api.url)
  context.note(`Run ${textOf(begun, "id")} has begun; it goes on without this command: svc runs ${textOf(begun, "id")}`)
  return followRun(context, api, begun, "succeeded")
}
