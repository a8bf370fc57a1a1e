import type {
  AddedVersion,
  NewRun,
  NewSpec,
  NewVersion,
  RunWithSteps,
  Spec,
  SpecChanges,
  StackCheck,
} from "@svc/client"
import { astFault } from "@svc/common/ast-file"
import { isObject, type JsonObject, parseJson } from "@svc/common/json-object"
import type { Context, Outcome } from "../command.ts"
import { CliError, onCode, usageError } from "../errors.ts"
import { readEntry, registryName } from "../explore/stack.ts"
import { changeRows } from "../explore/versions.ts"
import { pairs, table } from "../output/table.ts"
import { type Api, ask, readPages } from "../services/api.ts"
import { readTextFile } from "../settings/files.ts"
import { apiOfOwner, apiWithKey } from "../settings/key.ts"
import { followRun } from "./follow.ts"

const otherFile = { next: "Next: pass the stack's AST, a JSON object with stack_name and entities" }

export const readAst = async (file: string): Promise<JsonObject> => {
  const text = await readTextFile(file)
  if (text === undefined) throw new CliError("unreadable-file", `${file} doesn't exist.`)
  const ast = parseJson(text)
  if (!isObject(ast)) throw new CliError("invalid-ast", `${file} isn't a JSON object.`, otherFile)
  // Any other file, such as one with keys, stays here.
  const fault = astFault(ast)
  if (fault !== undefined) throw new CliError("invalid-ast", `${file} ${fault}.`, otherFile)
  return ast
}

/** The caller's spec of this name. Specs that are shared with it are somebody else's. */
export const specOf = async (api: Api, name: string): Promise<Spec | undefined> =>
  (await readPages(api, ({ specs }, page) => specs.list(page))).find(
    (spec) => spec.name === name.toLowerCase() && spec.shared_with !== undefined,
  )

/**
 * The same, or undefined if the name is free. Throws stack-name-taken for somebody else's stack that the caller can see; of
 * others the platform says so when it publishes.
 */
export const ownOrFree = async (api: Api, name: string): Promise<Spec | undefined> => {
  const own = await specOf(api, name)
  if (own !== undefined) return own
  const found = await readEntry(api, name).catch(onCode("stack-not-found", () => undefined))
  if (found !== undefined) throw new CliError("stack-name-taken", `${found.name} is somebody else's stack.`)
  return undefined
}

/** Creates the spec with the AST, or changes it as the options say. Returns its id, and whether it has the AST already. */
const prepareSpec = async (context: Context, api: Api, name: string, ast: JsonObject, message?: string) => {
  const { "websocket-url": url, visibility } = context.options
  const changes = {
    ...(url !== undefined && { websocket_url: url }),
    // The API rejects any other word.
    ...(visibility !== undefined && { visibility: visibility as NonNullable<NewSpec["visibility"]> }),
  }
  const old = await ownOrFree(api, name)
  if (old === undefined) {
    // One call creates it with its first version: if the AST is rejected, no empty spec remains.
    const spec: NewSpec = { name, ...changes, ...(message === undefined && { ast_payload: ast }) }
    const { id } = await ask<Spec>(api, "POST", "/api/specs", spec)
    return { id, hasAst: message === undefined }
  }
  if (Object.keys(changes).length > 0) {
    await ask<Spec>(api, "PUT", `/api/specs/${old.id}`, changes satisfies SpecChanges)
    if (visibility === "public" && old.visibility !== "public") {
      context.note(`${name} is now public: everybody can read all its versions.`)
    }
  }
  return { id: old.id, hasAst: false }
}

/** What publishing an AST would change: verdict, changes and schema. It publishes nothing. */
export const askCheck = async (api: Api, name: string, ast: JsonObject): Promise<StackCheck> =>
  ask(api, "POST", `/api/registry/${registryName(name)}/check`, { ast_payload: ast } satisfies NewVersion)

/** `svc push FILE --name N --check`: what publishing the AST would change. It publishes nothing. */
const showCheck = async (context: Context, name: string, ast: JsonObject): Promise<Outcome> => {
  const checked = await askCheck(await apiWithKey(context), name, ast)
  const { schema, verdict, version, bump } = checked
  const changes = changeRows(checked)
  const about = [
    ["Stack", name],
    ["Compared with version", version],
    ["Verdict", verdict],
    ["Bump", bump],
  ] as const
  const entities = schema.entities.map((entity) => [
    entity.name,
    entity.fields.length,
    entity.views.map(({ id }) => id),
  ])
  return {
    json: checked,
    text: (style) => {
      const tables = [pairs(about, style), table(["ENTITY", "FIELDS", "VIEWS"], entities, style)]
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
  if (message !== undefined) {
    const version: NewVersion = { ast_payload: ast, message }
    await ask<AddedVersion>(api, "POST", `/api/specs/${id}/versions`, version)
  }
  const run: NewRun = {
    workflow: "publish",
    spec_id: id,
    ...(!hasAst && message === undefined && { ast_payload: ast }),
    ...(context.flags.has("allow-breaking") && { allow_breaking: true }),
  }
  const begun = await ask<RunWithSteps>(api, "POST", "/api/automation/runs", run)
  context.note(`Run ${begun.id} has started. It continues without this command. To look at it: svc runs ${begun.id}`)
  return followRun(context, api, begun, "succeeded")
}
