// An AST file as it was dropped: its text is sent as it is, so that numbers keep all their digits.
import { astFault } from "@svc/common/ast-file"
import { isObject, parseJson } from "@svc/common/json-object"
import type { RunWithSteps, Spec, StackCheck } from "@svc/client"
import type { Api } from "../api.ts"

export type AstFile = {
  readonly fileName: string
  readonly text: string
  readonly stackName: string
  /** When it was read: the same file again is another draft. */
  readonly readAt: number
}

const mostBytes = 2 * 2 ** 20

const nameOf = (stackName: string): string =>
  stackName
    .replace(/(?:Stream|Stack)$/, "")
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "-")
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 63)

/** Reads a file. Resolves to a sentence if it can't be an AST. */
export const readAstFile = async (file: File): Promise<AstFile | string> => {
  if (file.size > mostBytes) return "The file is too large: an AST has at most 2 MiB."
  const text = await file.text()
  const ast = parseJson(text)
  if (!isObject(ast)) return "The file isn't a JSON object. An AST is one, such as the file that svc push takes."
  const fault = astFault(ast)
  if (fault !== undefined) return `The file ${fault}.`
  const stackName = typeof ast["stack_name"] === "string" ? nameOf(ast["stack_name"]) : ""
  return { fileName: file.name, text, stackName, readAt: performance.now() }
}

/** The text of a JSON body with an AST in it. @param others the other members */
const bodyWith = (ast: AstFile, others: object = {}): string =>
  `${JSON.stringify({ ...others, ast_payload: 0 }).slice(0, -2)}${ast.text}}`

export type Wish = {
  readonly name: string
  readonly websocketUrl: string
  readonly visibility: Spec["visibility"]
}

/** Asks the platform what publishing an AST under a name would change. Nothing is published. */
export const checkAst = async ({ ask }: Api, ast: AstFile, name: string): Promise<StackCheck> => {
  const path = `/api/registry/${encodeURIComponent(name)}/check`
  return (await ask<StackCheck>({ method: "POST", path, json: bodyWith(ast) })).body
}

export const findSpec = async ({ ask }: Api, name: string): Promise<Spec | undefined> => {
  const most = 100
  for (let offset = 0; ; offset += most) {
    const { body } = await ask<readonly Spec[]>({ path: `/api/specs?limit=${most}&offset=${offset}` })
    const found = body.find((spec) => spec.name === name)
    if (found !== undefined || body.length < most) return found
  }
}

/** Whether publishing changes the stream URL of a spec that there is: one whose first URL was refused has never been published. */
export const isMoved = ({ websocketUrl }: Wish, spec: Spec | undefined): boolean =>
  spec !== undefined && websocketUrl !== "" && websocketUrl !== spec.websocket_url

/**
 * Creates the spec unless there is one, changes its stream URL if the wish has another, and starts the run that publishes. Returns the run's id.
 * @param onceKey the same for another attempt at the same: nothing is done twice
 */
export const startRun = async (
  { ask }: Api,
  ast: AstFile,
  {
    wish,
    spec,
    allowBreaking,
  }: { readonly wish: Wish; readonly spec: Spec | undefined; readonly allowBreaking: boolean },
  onceKey: string,
): Promise<number> => {
  const { name, websocketUrl, visibility } = wish
  const url = websocketUrl === "" ? {} : { websocket_url: websocketUrl }
  const post = { method: "POST" } as const
  let id = spec?.id
  if (id === undefined) {
    const json = bodyWith(ast, { name, visibility, ...url })
    id = (await ask<Spec>({ ...post, path: "/api/specs", json, idempotencyKey: `${onceKey}-spec` })).body.id
  } else if (isMoved(wish, spec)) {
    await ask<Spec>({ method: "PUT", path: `/api/specs/${id}`, json: JSON.stringify(url) })
  }
  const run = { workflow: "publish", spec_id: id, ...(allowBreaking && { allow_breaking: true }) }
  const json = spec === undefined ? JSON.stringify(run) : bodyWith(ast, run)
  const path = "/api/automation/runs"
  return (await ask<RunWithSteps>({ ...post, path, json, idempotencyKey: `${onceKey}-run` })).body.id
}
