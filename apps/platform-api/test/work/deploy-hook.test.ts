import { randomBytes } from "node:crypto"
import { type Received, startReceiver } from "@svc/testing"
import { Webhook } from "standardwebhooks"
import { describe, expect, test } from "vitest"
import { readSettings } from "../../src/config.ts"
import { type HookBody, hookBody } from "../../src/work/steps/hook-call.ts"
import { nextCallMs } from "../../src/work/steps/hook.ts"
import { beforeTests, testService } from "../service.ts"
import { broken, first, grown, newPerson } from "./person.ts"

const secret = `whsec_${randomBytes(32).toString("base64")}`

type Call = Omit<HookBody, "timestamp"> & { readonly id: string }

/** A receiver that checks signatures by the library that such servers use, and answers as it is told. */
const startHook = async () => {
  const calls: Call[] = []
  const state = { status: 204, before: async (): Promise<unknown> => undefined }
  const { url, answer, close } = await startReceiver()
  const take = ({ headers: given, body }: Received): void => {
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
    const { type, data } = hookBody.parse(new Webhook(secret).verify(body, headers))
    calls.push({ id: headers["webhook-id"] ?? "", type, data })
  }
  answer((request, response) => {
    take(request)
    void state.before().finally(() => response.writeHead(state.status, { location: "/elsewhere" }).end())
  })
  /** Does something once, before the next call gets its response. */
  const meanwhile = (act: () => Promise<unknown>): void => {
    state.before = () => {
      state.before = async () => undefined
      return act()
    }
  }
  return { url: `${url}/hook`, calls, state, meanwhile, close }
}

describe("the deploy hook", () => {
  const receiver = beforeTests(startHook, ({ close }) => close())
  const service = testService("postgres", () => ({
    SVC_DEPLOY_HOOK_URL: receiver.url,
    // The new one and the old one, while receivers change.
    SVC_DEPLOY_HOOK_SECRET: `whsec_${randomBytes(24).toString("base64")} ${secret}`,
    SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
    SVC_API_URL: "",
  }))
  const owner = beforeTests(() => newPerson(service))

  test("is called for a version before readers see it, with a link to its AST, and for every stop, restart and removal", async () => {
    const spec = await owner.newSpec("hooked", { ast_payload: first })
    const { deployment_id } = await owner.published(spec.id, undefined)
    const [deploy] = receiver.calls
    expect(deploy).toMatchObject({
      type: "deployment.deploy",
      data: {
        deployment_id,
        spec_id: spec.id,
        name: "hooked",
        version: 1,
        websocket_url: "wss://people.example/hooked",
      },
    })
    const link = String(deploy?.data.ast_url)
    expect(await (await fetch(link)).json()).toEqual(first)
    expect((await fetch(link.replace(/signature=.{4}/, "signature=AAAA"))).status).toBe(404)
    expect((await fetch(link.replace(/asts\/\d+/, "asts/1000000"))).status).toBe(404)
    await owner.turn(deployment_id, "stop")
    await owner.turn(deployment_id, "restart")
    await owner.turn(deployment_id, "stop")
    await owner.call("DELETE", `/api/deployments/${deployment_id}`)
    await expect
      .poll(() => receiver.calls.map(({ type }) => type))
      .toEqual(["deployment.deploy", "deployment.stop", "deployment.restart", "deployment.stop", "deployment.remove"])
    expect(new Set(receiver.calls.map((call) => call.id)).size).toBe(5)
  })

  test("is retried with the same id; after a cancel meanwhile, readers keep the old version and the hook is notified", async () => {
    const spec = await owner.newSpec("refused", { ast_payload: first })
    await owner.published(spec.id, undefined)
    receiver.calls.length = 0
    // A redirect is no 2xx, and is not followed.
    receiver.state.status = 307
    const { id } = await owner.publish(spec.id, broken)
    await owner.until(`/api/automation/runs/${id}`, "waiting")
    await owner.call("POST", `/api/automation/runs/${id}/resume`)
    await expect.poll(() => receiver.calls.length).toBeGreaterThanOrEqual(2)
    expect(new Set(receiver.calls.map((call) => call.id)).size).toBe(1)
    expect((await service.call("GET", "/api/registry/refused")).body.version).toBe(1)
    const { steps } = await owner.get(`/api/automation/runs/${id}`)
    expect(steps.slice(3, 5)).toMatchObject([{ status: "succeeded" }, { name: "deploy", status: "running" }])
    expect((await owner.call("POST", `/api/automation/runs/${id}/cancel`)).body.status).toBe("cancelling")
    receiver.calls.length = 0
    receiver.state.status = 200
    await owner.until(`/api/automation/runs/${id}`, "cancelled")
    const [deployment] = await owner.get("/api/deployments")
    expect(deployment).toMatchObject({ status: "active", current_version: 1 })
    await expect.poll(() => receiver.calls.at(-1)).toMatchObject({ type: "deployment.deploy", data: { version: 1 } })
    // A retry may meet another version, so its break is asked for again.
    const { body: retry } = await owner.call("POST", `/api/automation/runs/${id}/retry`)
    await owner.until(`/api/automation/runs/${retry.id}`, "waiting")
  })

  test("if a run is cancelled or a spec turned private during the call, readers see neither and servers are notified", async () => {
    const shown = async (name: string) => (await service.call("GET", `/api/registry/${name}`)).body.version
    const spec = await owner.newSpec("overtaken", { ast_payload: first })
    await owner.publish(spec.id, undefined)
    await expect.poll(() => shown("overtaken")).toBe(1)
    const ids: string[] = []
    for (const ast of [broken, first, broken]) {
      receiver.calls.length = 0
      // The call is answered with yes, but what it is about is over by then.
      receiver.meanwhile(async () => {
        const [build] = await owner.get("/api/builds")
        expect((await owner.call("POST", `/api/builds/${build.id}/cancel`)).status).toBe(202)
      })
      await owner.published(spec.id, ast, { allow_breaking: true })
      await expect.poll(() => receiver.calls.length).toBe(2)
      expect(receiver.calls[1]).toMatchObject({ type: "deployment.deploy", data: { version: 1 } })
      ids.push(...receiver.calls.map((call) => call.id))
    }
    expect(new Set(ids).size).toBe(6)
    const quiet = await owner.newSpec("quiet", { ast_payload: first })
    receiver.meanwhile(async () => {
      await owner.call("PUT", `/api/specs/${quiet.id}`, { visibility: "private" })
    })
    const run = await owner.published(quiet.id, undefined)
    expect([run.status, await shown("quiet")]).toEqual(["succeeded", undefined])
    expect((await service.call("GET", "/api/registry/quiet", { key: owner.key })).body.visibility).toBe("private")
    await owner.turn(run.deployment_id, "stop")
    receiver.calls.length = 0
    expect((await owner.call("DELETE", `/api/specs/${quiet.id}`)).status).toBe(200)
    await expect.poll(() => receiver.calls).toMatchObject([{ type: "deployment.remove", data: { name: "quiet" } }])
  })

  test("isn't called again by a worker that still holds a build whose lease ran out", async () => {
    const other = await newPerson(service)
    const spec = await owner.newSpec("slow", { ast_payload: first })
    const quick = await other.newSpec("quick", { ast_payload: first })
    receiver.calls.length = 0
    receiver.meanwhile(async () => {
      const expire = "update jobs set lease_until = now() - interval '1 second' where kind = $1"
      await service.database().query(expire, ["build"])
      // The worker has looked for jobs by then.
      await other.built({ spec_id: quick.id })
    })
    await owner.built({ spec_id: spec.id })
    expect(receiver.calls.map(({ data }) => data.name)).toEqual(["slow", "quick"])
  })

  test("is called for a stop that isn't made any more, if a restart began during the call", async () => {
    const spec = await owner.newSpec("restarted", { ast_payload: first })
    const { deployment_id } = await owner.published(spec.id, undefined)
    receiver.meanwhile(async () => {
      // Another worker has made the stop meanwhile, and this one has claimed the restart.
      await service.database().query("update deployments set operation = 'restart' where id = $1", [deployment_id])
    })
    await owner.call("POST", `/api/deployments/${deployment_id}/stop`)
    const { status } = await owner.until(`/api/deployments/${deployment_id}`, "active", "stopped")
    expect(status).toBe("active")
  })

  test("isn't called for a removal after a new deployment has the name", async () => {
    const spec = await owner.newSpec("returned", { ast_payload: first })
    const { deployment_id } = await owner.published(spec.id, undefined)
    await owner.turn(deployment_id, "stop")
    receiver.calls.length = 0
    receiver.state.before = async () => {
      receiver.state.status = receiver.calls.at(-1)?.type === "deployment.remove" ? 503 : 204
    }
    expect((await owner.call("DELETE", `/api/deployments/${deployment_id}`)).status).toBe(200)
    await expect.poll(() => receiver.calls.length).toBe(1)
    expect((await owner.published(spec.id, undefined)).status).toBe("succeeded")
    receiver.state.before = async () => void (receiver.state.status = 204)
    const notices = () => service.database().query("select 1 from jobs where kind = $1", ["notice"])
    await expect.poll(notices).toEqual([])
    expect(receiver.calls.at(-1)?.type).toBe("deployment.deploy")
  })

  test("a run that deployed its version succeeds, though an earlier run was resumed meanwhile and replaced it", async () => {
    const spec = await owner.newSpec("crossed", { ast_payload: grown })
    const earlier = await owner.publish(spec.id, undefined, { approval: true })
    await owner.until(`/api/automation/runs/${earlier.id}`, "waiting")
    receiver.meanwhile(async () => {
      await owner.call("POST", `/api/automation/runs/${earlier.id}/resume`)
    })
    const later = await owner.publish(spec.id, first)
    expect((await owner.endOfRun(earlier.id)).status).toBe("succeeded")
    expect(await owner.endOfRun(later.id)).toMatchObject({ status: "succeeded", error_code: null })
  })
})

test("retries wait 1 s, doubling up to 60 s, and end after 10 minutes", () => {
  expect([0, 1, 2, 5, 6, 9].map((attempts) => nextCallMs(attempts, 0))).toEqual([
    1000, 2000, 4000, 32_000, 60_000, 60_000,
  ])
  expect(nextCallMs(3, 600_000)).toBeUndefined()
})

test("a hook without a valid secret stops the start", () => {
  for (const env of [
    { SVC_DEPLOY_HOOK_URL: "http://127.0.0.1:1/" },
    ...["whsec_x", `${secret} whsec_x`, `${secret},${secret}`].map((wrong) => ({ SVC_DEPLOY_HOOK_SECRET: wrong })),
  ])
    expect(() => readSettings(env)).toThrow("SVC_DEPLOY_HOOK_SECRET")
})

test("an unencrypted hook stops the start, except on this machine or if the operator allows it", () => {
  const problem = (url: string, insecure = "") => {
    const settings = { SVC_DEPLOY_HOOK_URL: url, SVC_DEPLOY_HOOK_SECRET: secret, SVC_DEPLOY_HOOK_INSECURE: insecure }
    try {
      return readSettings(settings).deployHookUrl
    } catch (error) {
      return String(error)
    }
  }
  const far = "http://streams.example/hook"
  for (const url of [
    "https://streams.example/hook",
    "http://127.0.0.1:4010",
    "http://localhost:4010",
    "http://[::1]:1",
  ])
    expect(problem(url)).toBe(url)
  expect(problem(far)).toMatch(/SVC_DEPLOY_HOOK_URL: must start with https:\/\/, because .*SVC_DEPLOY_HOOK_INSECURE/)
  expect(problem(far, "true")).toBe(far)
  expect(problem("http://127.0.0.1.example/")).toMatch(/must start with https/)
})
