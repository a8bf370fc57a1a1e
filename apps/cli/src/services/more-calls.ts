// Calls of the platform API that svc-client has no function for, or waits longer for.
import type {
  AddedVersion,
  DeletedDeployment,
  DeploymentAction,
  NewRun,
  NewSpec,
  NewVersion,
  RegistryChanges,
  Rollback,
  RunWithSteps,
  Spec,
  SpecChanges,
  Stack,
  StackCheck,
} from "@svc/client"
import { type Api, callApi, failureOf } from "./api.ts"

const ask = async <Response>(
  api: Api,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: object,
  timeoutMs = 30_000,
): Promise<Response> => {
  const answer = await callApi(api, path, { method, body, timeoutMs })
  if (answer.body === undefined) throw failureOf(answer)
  // The platform's tests check its responses against the document that these types are generated from.
  return answer.body as Response
}

/** The first 100 stacks. */
export const listStacks = (api: Api, timeoutMs: number): Promise<readonly Stack[]> =>
  ask(api, "GET", "/api/registry?limit=100", undefined, timeoutMs)

/** Changes of the registry: those after an id, or the latest. */
export const readChanges = (
  api: Api,
  query: { readonly limit: number; readonly after?: number; readonly stack?: string },
): Promise<RegistryChanges> => {
  const words = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return ask(api, "GET", `/api/registry/changes?${words.join("&")}`)
}

/** What publishing an AST would change. It publishes nothing. @param name in the registry's spelling */
export const checkAst = (api: Api, name: string, ast: NewVersion): Promise<StackCheck> =>
  ask(api, "POST", `/api/registry/${name}/check`, ast)

export const createSpec = (api: Api, spec: NewSpec): Promise<Spec> => ask(api, "POST", "/api/specs", spec)

export const changeSpec = (api: Api, id: number, changes: SpecChanges): Promise<Spec> =>
  ask(api, "PUT", `/api/specs/${id}`, changes)

export const addVersion = (api: Api, id: number, version: NewVersion): Promise<AddedVersion> =>
  ask(api, "POST", `/api/specs/${id}/versions`, version)

export const startRun = (api: Api, run: NewRun): Promise<RunWithSteps> => ask(api, "POST", "/api/automation/runs", run)

export const actOnRun = (api: Api, id: number, action: "resume" | "retry" | "cancel"): Promise<RunWithSteps> =>
  ask(api, "POST", `/api/automation/runs/${id}/${action}`, {})

export const actOnDeployment = (
  api: Api,
  id: number,
  action: "stop" | "restart" | "rollback",
  body: Rollback,
): Promise<DeploymentAction> => ask(api, "POST", `/api/deployments/${id}/${action}`, body)

export const deleteDeployment = (api: Api, id: number): Promise<DeletedDeployment> =>
  ask(api, "DELETE", `/api/deployments/${id}`)
