// What the SDK says in our words: its errors pass on what its validator says, and it lists only its newest revisions.
import { isObject, parseJson } from "@svc/common/json-object"
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server"
import { faultCodes } from "./message.ts"

export type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown }

/** For a request that the SDK doesn't take for one, because of its `_meta`. */
export const unfitMeta: RpcError = { code: faultCodes.params, message: "params._meta isn't what the method takes." }

const unsupportedVersion = -32_022

/** All revisions, newest first. @param newest those that only the SDK's errors list */
export const allRevisions = (newest: readonly string[]): readonly string[] =>
  [...new Set([...newest, ...SUPPORTED_PROTOCOL_VERSIONS])].sort().toReversed()

/** The path of the first fault in a validator's report; undefined if the message has none. */
const faultPath = (message: string): string | undefined => {
  const report = parseJson(message.slice(Math.max(0, message.indexOf("["))))
  const issue: unknown = Array.isArray(report) ? report[0] : undefined
  if (!isObject(issue) || !Array.isArray(issue["path"])) return undefined
  return issue["path"].filter((part) => part !== "params").join(".")
}

/** A result of the SDK as clients get it: `server/discover` tells every revision. */
export const ownResult = (result: unknown): unknown =>
  isObject(result) && Array.isArray(result["supportedVersions"])
    ? { ...result, supportedVersions: allRevisions(result["supportedVersions"].map(String)) }
    : result

/** An error of the SDK as clients get it. */
export const ownError = ({ code, message, data }: RpcError): RpcError => {
  const path = faultPath(message)
  if (path !== undefined || code === faultCodes.parse || code === faultCodes.invalid) {
    const what = path === undefined || path === "" ? "params" : `params.${path}`
    return { code: faultCodes.params, message: `${what} is missing or isn't what the method takes.` }
  }
  if (code !== unsupportedVersion || !isObject(data) || !Array.isArray(data["supported"])) {
    return { code, message, ...(data !== undefined && { data }) }
  }
  return { code, message, data: { ...data, supported: allRevisions(data["supported"].map(String)) } }
}
