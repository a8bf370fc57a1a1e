import { randomBytes } from "node:crypto"
import { expect } from "vitest"
import { createUser } from "../../src/operator/accounts.ts"
import { field, withFields } from "../registry/small-ast.ts"
import type { TestService } from "../service.ts"

let people = 0

/** A person with a key, and what people do. */
export const newPerson = async (service: TestService) => {
  const email = `person-${people++}@example.org`
  const { api_key: key, id } = await createUser(service.database(), { email, name: undefined }, new Date(), randomBytes)
  const call = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    service.call(method, path, { key, headers, body })
  const code = async (...given: Parameters<typeof call>) => (await call(...given)).code
  const get = async (path: string) => (await call("GET", path)).body
  /** Asks again and again until the record is in one of these states. */
  const until = async (path: string, ...statuses: string[]) => {
    let body = await get(path)
    await expect.poll(async () => (body = await get(path)).status).toBeOneOf(statuses)
    return body
  }
  const publish = async (spec_id: number, ast_payload: unknown, more: object = {}) => {
    const { status, body } = await call("POST", "/api/automation/runs", {
      workflow: "publish",
      spec_id,
      ast_payload,
      ...more,
    })
    expect([status, body.code]).toEqual([202, undefined])
    return body
  }
  const endOfRun = (run: number) => until(`/api/automation/runs/${run}`, "succeeded", "failed")
  const endOfBuild = (build: number) => until(`/api/builds/${build}`, "completed", "failed")
  return {
    key,
    id,
    email,
    call,
    code,
    get,
    until,
    publish,
    endOfRun,
    endOfBuild,
    /** Stops or restarts a deployment, and waits until that is done. */
    turn: async (deployment: number, verb: "stop" | "restart") => {
      expect((await call("POST", `/api/deployments/${deployment}/${verb}`)).status).toBe(202)
      await until(`/api/deployments/${deployment}`, verb === "stop" ? "stopped" : "active")
    },
    /** Publishes, and waits until the run has ended. */
    published: async (...given: Parameters<typeof publish>) => endOfRun((await publish(...given)).id),
    /** Builds, and waits until the build has ended. */
    built: async (body: object) => endOfBuild((await call("POST", "/api/builds", body)).body.build_id),
    newSpec: async (name: string, more: object = {}) => {
      const url = { websocket_url: `wss://people.example/${name}` }
      const { status, body } = await call("POST", "/api/specs", { name, visibility: "public", ...url, ...more })
      expect([status, body.code]).toEqual([201, undefined])
      return body
    },
  }
}

export type Person = Awaited<ReturnType<typeof newPerson>>

/** Three versions of one stack: the second adds to the first, the third breaks both. */
export const first = withFields([field("address", "String")])
export const grown = withFields([field("address", "String"), field("size", "u64")])
export const broken = withFields([field("size", "u64")])
