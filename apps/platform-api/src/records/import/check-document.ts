import { firstFailure, inOwnWords } from "@svc/http"
import { CommandError } from "../../operator/command-error.ts"
import { DocumentFault, type DocumentPath, formatPath } from "../../registry/ast/document-fault.ts"
import type { Ast, AstEntity } from "../../registry/ast/ast-shape.ts"
import { checkDerived } from "../../registry/schema/check-derived.ts"
import { parseAst } from "../../registry/ast/parse-ast.ts"
import { parseExactJson } from "../../registry/ast/read-ast.ts"
import { normaliseWebsocketUrl } from "../../registry/websocket-url.ts"
import { document, type Document } from "./document.ts"
import { lifeCycles, nextStatuses } from "../transitions.ts"

type CheckedVersion = { readonly ast: Ast; readonly entity: AstEntity }

/** A document whose references, statuses and ASTs are valid. `versions` holds the versions of each spec, in order. */
export type Checked = {
  readonly document: Document
  readonly versions: ReadonlyMap<string, readonly CheckedVersion[]>
  /** The attempt number of each run, by its ref. */
  readonly attempts: ReadonlyMap<string, number>
}

export const faultAt = (segments: DocumentPath, reason: string): CommandError => {
  const path = formatPath(segments)
  return new CommandError("invalid-records", path === "" ? `the file ${reason}` : `${path}: ${reason}`, {
    path,
    reason,
  })
}

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
  throw new CommandError("invalid-records", path === "" ? `the file: ${reason}` : `${path}: ${reason}`, {
    path,
    reason,
  })
}

const byRef = <T extends { readonly ref: string }>(kind: string, records: readonly T[]): ReadonlyMap<string, T> => {
  const found = new Map<string, T>()
  for (const [index, record] of records.entries()) {
    if (found.has(record.ref)) throw faultAt([kind, index, "ref"], `is already used in ${kind}`)
    found.set(record.ref, record)
  }
  return found
}

const resolve = <T>(records: ReadonlyMap<string, T>, ref: string, segments: DocumentPath, kind: string): T => {
  const record = records.get(ref)
  if (record === undefined) throw faultAt(segments, `names no record in ${kind}`)
  return record
}

type Event = { readonly new_status: string | null; readonly at: Date }

const checkEvents = (
  kind: keyof typeof lifeCycles,
  begun: Date | undefined,
  events: readonly Event[],
  at: DocumentPath,
) => {
  const lifeCycle = lifeCycles[kind]
  let status: string | undefined = lifeCycle.start
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
    if (!nextStatuses(lifeCycle, status).includes(event.new_status)) {
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
      const ast = parseAst(ast_payload)
      const entity = ast.entities.find(({ state_name }) => state_name === entity_name)
      checkDerived(ast)
      if (entity !== undefined) return { ast, entity }
    } catch (error) {
      if (error instanceof DocumentFault) throw faultAt([...place, ...error.segments], error.reason)
      throw error
    }
    throw faultAt([...at, "entity_name"], `isn't an entity of ${formatPath(place)}`)
  })

/** Reads the file and checks everything that doesn't need the database. Throws CommandError. */
export const checkDocument = (text: string): Checked => {
  const given = parse(text)
  const specs = byRef("specs", given.specs)
  const builds = byRef("builds", given.builds)
  const deployments = byRef("deployments", given.deployments)
  const runs = byRef("runs", given.runs)

  const versions = new Map<string, CheckedVersion[]>()
  for (const [index, spec] of given.specs.entries()) {
    checkUrl(spec.websocket_url, ["specs", index])
    versions.set(spec.ref, checkVersions(spec, ["specs", index]))
  }
  for (const [index, build] of given.builds.entries()) {
    const at = ["builds", index]
    const spec = resolve(specs, build.spec, [...at, "spec"], "specs")
    if (build.version !== null && build.version > spec.versions.length) {
      throw faultAt([...at, "version"], `isn't a version of the spec: it has ${spec.versions.length}`)
    }
    checkUrl(build.websocket_url, at)
    checkEvents("build", build.created_at, build.events, at)
  }
  for (const [index, deployment] of given.deployments.entries()) {
    const at = ["deployments", index]
    resolve(specs, deployment.spec, [...at, "spec"], "specs")
    const build = deployment.build === null ? undefined : resolve(builds, deployment.build, [...at, "build"], "builds")
    if (build !== undefined && build.spec !== deployment.spec)
      throw faultAt([...at, "build"], "is a build of another spec")
    checkEvents("deployment", undefined, deployment.events, at)
  }
  const attempts = new Map<string, number>()
  for (const [index, run] of given.runs.entries()) {
    const at = ["runs", index]
    if (run.spec !== null) resolve(specs, run.spec, [...at, "spec"], "specs")
    if (run.deployment !== null) {
      const deployment = resolve(deployments, run.deployment, [...at, "deployment"], "deployments")
      if (run.spec !== null && run.spec !== deployment.spec) {
        throw faultAt([...at, "deployment"], "is a deployment of another spec")
      }
    }
    attempts.set(run.ref, attemptOf(run, attempts, runs, at))
    checkEvents("run", run.created_at, run.events, at)
    for (const [position, step] of run.steps.entries()) {
      if (step.started_at !== null && step.completed_at !== null && step.completed_at < step.started_at) {
        throw faultAt([...at, "steps", position, "completed_at"], "is before started_at")
      }
    }
  }
  return { document: given, versions, attempts }
}

const attemptOf = (
  run: Document["runs"][number],
  attempts: ReadonlyMap<string, number>,
  runs: ReadonlyMap<string, unknown>,
  at: DocumentPath,
): number => {
  if (run.retry_of === null) return run.attempt ?? 1
  resolve(runs, run.retry_of, [...at, "retry_of"], "runs")
  const retried = attempts.get(run.retry_of)
  // Newer records have higher ids, and ids follow the order in the file.
  if (retried === undefined) throw faultAt([...at, "retry_of"], "must name a run that comes before this one")
  if (run.attempt !== null && run.attempt !== retried + 1) {
    throw faultAt([...at, "attempt"], `must be ${retried + 1}, one more than the attempt of the run that it retries`)
  }
  return retried + 1
}
