import { firstFailure, inOwnWords } from "@svc/openapi"
import { type PreparedVersion, prepareVersion } from "../../compiler/read-upload.ts"
import { CommandError } from "../../operator/command-error.ts"
import { DocumentFault, type DocumentPath, formatPath } from "../../registry/ast/document-fault.ts"
import { parseAst } from "../../registry/ast/parse-ast.ts"
import { parseExactJson } from "../../registry/ast/read-ast.ts"
import { normaliseWebsocketUrl } from "../../registry/websocket-url.ts"
import { document, type Document } from "./document.ts"
import { lifeCycles } from "../transitions.ts"

type CheckedVersion = Omit<PreparedVersion, "entities"> & PreparedVersion["entities"][number]

/** A document whose references, statuses and ASTs are valid. `versions` holds the versions of each spec, in order. */
export type Checked = {
  readonly document: Document
  readonly versions: ReadonlyMap<string, readonly CheckedVersion[]>
  /** The attempt number of each run, by its ref. */
  readonly attempts: ReadonlyMap<string, number>
}

const fault = (path: string, reason: string, whole: string): CommandError =>
  new CommandError("invalid-records", `${path === "" ? whole : `${path}:`} ${reason}`, { path, reason })

export const faultAt = (segments: DocumentPath, reason: string): CommandError =>
  fault(formatPath(segments), reason, "the file")

const parse = (text: string): Document => {
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch (error) {
    if (error instanceof DocumentFault) throw faultAt(error.segments, error.reason)
    throw error
  }
  const result = document.safeParse(value, inOwnWords)
  if (result.success) return result.data
  const { path, reason } = firstFailure(result.error)
  throw fault(path, reason, "the file:")
}

const byRef = <T extends { readonly ref: string }>(kind: string, records: readonly T[]): ReadonlyMap<string, T> => {
  const found = new Map<string, T>()
  for (const [index, record] of records.entries()) {
    if (found.has(record.ref)) throw faultAt([kind, index, "ref"], `is already used in ${kind}`)
    found.set(record.ref, record)
  }
  return found
}

type Event = { readonly new_status: string | null; readonly at: Date }

const checkEvents = (
  kind: keyof typeof lifeCycles,
  begun: Date | undefined,
  events: readonly Event[],
  at: DocumentPath,
) => {
  const { start, following } = lifeCycles[kind]
  let status: string | undefined = start
  let last = begun
  for (const [index, event] of events.entries()) {
    const place = [...at, "events", index]
    if (last !== undefined && event.at < last) throw faultAt([...place, "at"], "is earlier than the event before it")
    last = event.at
    if (event.new_status === null) {
      if (status === undefined)
        throw faultAt([...place, "new_status"], "is missing: the first event must set the status")
      continue
    }
    if (following.get(status)?.includes(event.new_status) !== true) {
      throw faultAt([...place, "new_status"], `can't be ${event.new_status}: the ${kind} is ${status ?? "not begun"}`)
    }
    status = event.new_status
  }
}

const checkUrl = (url: string | null, segments: DocumentPath): void => {
  if (url === null || normaliseWebsocketUrl(url) !== undefined) return
  throw faultAt([...segments, "websocket_url"], "must be a ws:// or wss:// URL")
}

const checkVersions = ({ entity_name, versions }: Document["specs"][number], at: DocumentPath): CheckedVersion[] =>
  versions.map(({ ast_payload }, index) => {
    const place = [...at, "versions", index, "ast_payload"]
    try {
      const { entities, ...version } = prepareVersion(parseAst(ast_payload))
      const entity = entities.find(({ stateName }) => stateName === entity_name)
      if (entity !== undefined) return Object.assign(version, entity)
    } catch (error) {
      if (error instanceof DocumentFault) throw faultAt([...place, ...error.segments], error.reason)
      throw error
    }
    throw faultAt([...at, "entity_name"], `isn't an entity of ${formatPath(place)}`)
  })

/** Reads the file and checks everything that doesn't need the database. Throws CommandError. */
export const checkDocument = (text: string): Checked => {
  const given = parse(text)
  const known = {
    specs: byRef("specs", given.specs),
    builds: byRef("builds", given.builds),
    deployments: byRef("deployments", given.deployments),
    runs: byRef("runs", given.runs),
  }
  type Kind = keyof typeof known
  /** The record that a member of another one names. */
  const find = <K extends Kind>(kind: K, ref: string, at: DocumentPath, member: string) => {
    const record = known[kind].get(ref)
    if (record === undefined) throw faultAt([...at, member], `names no record in ${kind}`)
    return record as Document[K][number]
  }

  const versions = new Map<string, CheckedVersion[]>()
  for (const [index, spec] of given.specs.entries()) {
    checkUrl(spec.websocket_url, ["specs", index])
    versions.set(spec.ref, checkVersions(spec, ["specs", index]))
  }
  for (const [index, build] of given.builds.entries()) {
    const at = ["builds", index]
    const spec = find("specs", build.spec, at, "spec")
    if (build.version !== null && build.version > spec.versions.length) {
      throw faultAt([...at, "version"], `isn't a version of the spec: it has ${spec.versions.length}`)
    }
    checkUrl(build.websocket_url, at)
    checkEvents("build", build.created_at, build.events, at)
  }
  for (const [index, { spec, build, events }] of given.deployments.entries()) {
    const at = ["deployments", index]
    find("specs", spec, at, "spec")
    if (build !== null && find("builds", build, at, "build").spec !== spec)
      throw faultAt([...at, "build"], "is a build of another spec")
    checkEvents("deployment", undefined, events, at)
  }
  const attempts = new Map<string, number>()
  const attemptOf = ({ attempt, retry_of }: Document["runs"][number], at: DocumentPath): number => {
    if (retry_of === null) return attempt ?? 1
    find("runs", retry_of, at, "retry_of")
    const retried = attempts.get(retry_of)
    // Newer records have higher ids, and ids follow the order in the file.
    if (retried === undefined) throw faultAt([...at, "retry_of"], "must name a run that comes before this one")
    if (attempt === null || attempt === retried + 1) return retried + 1
    throw faultAt([...at, "attempt"], `must be ${retried + 1}, one more than the attempt of the run that it retries`)
  }
  for (const [index, run] of given.runs.entries()) {
    const at = ["runs", index]
    if (run.spec !== null) find("specs", run.spec, at, "spec")
    if (run.deployment !== null) {
      const { spec } = find("deployments", run.deployment, at, "deployment")
      if (run.spec !== null && run.spec !== spec)
        throw faultAt([...at, "deployment"], "is a deployment of another spec")
    }
    attempts.set(run.ref, attemptOf(run, at))
    checkEvents("run", run.created_at, run.events, at)
    for (const [position, { started_at, completed_at }] of run.steps.entries()) {
      if (started_at !== null && completed_at !== null && completed_at < started_at) {
        throw faultAt([...at, "steps", position, "completed_at"], "is before started_at")
      }
    }
  }
  return { document: given, versions, attempts }
}
