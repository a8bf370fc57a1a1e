import type { NewSpec, StackCheck } from "@svc/client"
import { astFault } from "@svc/common/ast-file"
import { isObject, type JsonObject, parseJson } from "@svc/common/json-object"
import type { Context, Outcome } from "../command.ts"
import { CliError, usageError } from "../errors.ts"
import { registryName } from "../explore/stack.ts"
import { changeRows } from "../explore/versions.ts"
import { pairs, table } from "../output/table.ts"
import { readPages, type Api } from "../services/api.ts"
import { addVersion, changeSpec, checkAst, createSpec, startRun } from "../services/more-calls.ts"
import { readTextFile } from "../settings/files.ts"
import { apiOfOwner, apiWithKey } from "../settings/key.ts"
import { followRun } from "./follow.ts"

export const readAst = async (file: string): Promise<JsonObject> => {
  const text = await readTextFile(file)
  if (text === undefined) throw new CliError("unreadable-file", `${file} doesn't exist.`)
  const ast = parseJson(text)
  if (!isObject(ast)) throw new CliError("invalid-ast", `${file} isn't a JSON object. An AST is one.`)
  // Any other file, such as one with keys, stays here.
  const fault = astFault(ast)
  if (fault !== undefined) throw new CliError("invalid-ast", `${file} ${fault}.`)
  return ast
}

/** The visibility that the option sets. The API rejects any other word. */
const visibilityOf = ({ options: { visibility } }: Context) => visibility as NewSpec["visibility"]

/** Creates the spec with the AST, or changes it as the options say. Returns its id, and whether it has the AST already. */
const prepareSpec = async (context: Context, api: Api, name: string, ast: JsonObject, message?: string) => {
  const url = context.options["websocket-url"]
  const visibility = visibilityOf(context)
  const changes = { ...(url !== undefined && { websocket_url: url }), ...(visibility !== undefined && { visibility }) }
  const old = (await readPages(api, ({ specs }, page) => specs.list(page))).find((spec) => spec.name === name)
  if (old === undefined) {
    // One call creates it with its first version: if the AST is rejected, no empty spec remains.
    const { id } = await createSpec(api, { name, ...changes, ...(message === undefined && { ast_payload: ast }) })
    return { id, hasAst: message === undefined }
  }
  if (Object.keys(changes).length > 0) {
    await changeSpec(api, old.id, changes)
    if (visibility === "public" && old.visibility !== "public") {
      context.note(`${name} is now public: everybody can read all its versions.`)
    }
  }
  return { id: old.id, hasAst: false }
}

/** What publishing an AST would change: verdict, changes and schema. It publishes nothing. */
export const askCheck = async (api: Api, name: string, ast: JsonObject): Promise<StackCheck> =>
  checkAst(api, registryName(name), { ast_payload: ast })

/** `svc push FILE --name N --check`: what publishing the AST would change. It publishes nothing. */
const showCheck = async (context: Context, name: string, ast: JsonObject): Promise<Outcome> => {
  const checked = await askCheck(await apiWithKey(context), name, ast)
  const { schema, verdict, version, bump } = checked
  const changes = changeRows(checked)
  const entities = schema.entities.map((entity) => [
    entity.name,
    entity.fields.length,
    entity.views.map(({ id }) => id),
  ])
  return {
    json: checked,
    text: (style) => {
      const about = pairs(
        [
          ["Stack", name],
          ["Compared with version", version],
          ["Verdict", verdict],
          ["Bump", bump],
        ],
        style,
      )
      const tables = [about, table(["ENTITY", "FIELDS", "VIEWS"], entities, style)]
      if (changes.length > 0) tables.push(table(["VERDICT", "WHERE", "CHANGE"], changes, style))
      return tables.join("\n\n")
    },
    exit: verdict === "breaking" && !context.flags.has("allow-breaking") ? 1 : 0,
  }
}

/** `svc push FILE --name N`: publishes an AST as the next version of a spec, and waits for the result. */
export const push = async (context: Context): Promise<Outcome> => {
  const { name } = context.options
  if (name === undefined) throw usageError("--name NAME is missing: the stack's name in the registry.")
  const ast = await readAst(context.args[0] ?? "")
  if (context.flags.has("check")) return showCheck(context, name, ast)
  return publish(context, await apiOfOwner(context), name, ast)
}

/** Publishes an AST as the options say, and waits for the result. @param message what is new, for readers */
export const publish = async (context: Context, api: Api, name: string, ast: JsonObject, message?: string) => {
  // The registry's names are in lower case.
  const { id, hasAst } = await prepareSpec(context, api, name.toLowerCase(), ast, message)
  if (message !== undefined) await addVersion(api, id, { ast_payload: ast, message })
  const begun = await startRun(api, {
    workflow: "publish",
    spec_id: id,
    ...(!hasAst && message === undefined && { ast_payload: ast }),
    ...(context.flags.has("allow-breaking") && { allow_breaking: true }),
  })
  context.note(`Run ${begun.id} has started. It continues without this command. To look at it: svc runs ${begun.id}`)
  return followRun(context, api, begun, "succeeded")
}
