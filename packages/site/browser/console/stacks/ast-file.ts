// An AST file as it was dropped: its text is sent as it is, so that numbers keep all their digits.
import { astFault } from "@svc/common/ast-file"
import { isObject, parseJson } from "@svc/common/json-object"

export type AstFile = {
  readonly fileName: string
  readonly text: string
  readonly stackName: string
  /** When it was read: the same file again is another draft. */
  readonly readAt: number
}

const mostBytes = 2 * 2 ** 20

/** A registry name made of the AST's own. */
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
export const bodyWith = (ast: AstFile, others: object = {}): string =>
  `${JSON.stringify({ ...others, ast_payload: 0 }).slice(0, -2)}${ast.text}}`
