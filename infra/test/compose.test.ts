import { describe, expect, test } from "vitest"

import { services as table } from "../services.ts"
import { type ComposeService, readCompose, readInfra as read } from "./compose-file.ts"
import { apps, drainSeconds, envEntries, image as ofImage, readers } from "./settings.ts"

const filledIn = new Set<string>()
const compose = readCompose("compose.yaml", filledIn)
const service = (name: string): ComposeService => {
  const found = compose.services[name]
  if (found === undefined) throw new Error(`there is no service ${name}`)
  return found
}
const names = Object.keys(compose.services)
const caddyfile = read("Caddyfile")

test("every variable that is filled in is in the example, with its actual default", () => {
  const text = read("env/compose.env.example")
  const examples = new Map(envEntries(text.replaceAll(/^#(?=[A-Z_]+=)/gm, "")))
  expect([...examples.keys()].toSorted()).toEqual([...filledIn].toSorted())
  for (const [, name = "", fallback] of read("compose.yaml").matchAll(/\$\{([A-Z_]+):-([^}]*)\}/g)) {
    expect(examples.get(name)).toBe(fallback)
  }
  for (const [, name = "", fallback] of caddyfile.matchAll(/\{\$([A-Z_]+):([^}]*)\}/g)) {
    expect(examples.get(name)).toBe(fallback)
    expect(service("proxy").environment?.[name]).toBe(fallback)
  }
})

test.each(names)("%s runs without unneeded rights", (name) => {
  const { read_only, cap_drop, security_opt, deploy, image } = service(name)
  expect({ read_only, cap_drop, security_opt }).toEqual({
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
  })
  expect(Object.keys(deploy?.resources?.limits ?? {}).toSorted()).toEqual(["cpus", "memory", "pids"])
  expect(image).toMatch(/:\d/)
})

test("no service runs as root except the one that changes a folder's owner", () => {
  const own = new Set<string>([...apps, "migrate"])
  const root = names.filter((name) => !own.has(name) && ["root", undefined].includes(service(name).user))
  expect(root).toEqual(["certificates-owner"])
  // The images of this repository set their own user.
  expect(read("Dockerfile")).toMatch(/^USER node$/m)
})

test("only the proxy can be reached from outside", () => {
  expect(names.filter((name) => service(name).ports !== undefined)).toEqual(["proxy"])
})

test.each(apps)("the proxy reaches %s on the trusted network alone", (name) => {
  const { networks = [], environment } = service(name)
  const [shared, ...more] = networks.filter((network) => service("proxy").networks?.includes(network))
  expect(more).toEqual([])
  expect(compose.networks[shared ?? ""]?.ipam?.config[0]?.subnet).toBe(environment?.["SVC_TRUSTED_PROXY_CIDRS"])
})

test("the order is database, migration as the tables' owner, roles, platform, and the proxy last", () => {
  const waits = (name: string) =>
    Object.entries(service(name).depends_on ?? {}).map(([other, { condition }]) => `${other} ${condition}`)
  expect(waits("migrate")).toEqual(["postgres service_healthy"])
  expect(waits("roles")).toEqual(["migrate service_completed_successfully"])
  expect(waits("platform-api")).toContain("roles service_completed_successfully")
  const owner = names.filter((name) => /svc_owner/.test(JSON.stringify(service(name).environment ?? {})))
  expect(owner).toEqual(["postgres", "migrate", "roles"])
  for (const app of apps) expect(waits("proxy")).toContain(`${app} service_healthy`)
})

test("the relay is one process", () => expect(service("relay").deploy?.replicas).toBe(1))

describe.each(apps)("%s", (app) => {
  const { image, environment = {}, env_file = [] } = service(app)

  test("starts with the settings of the example and compose.yaml together", async () => {
    expect(env_file).toEqual([`env/${app}.env`])
    const fromFile = Object.fromEntries(envEntries(read(`env/${app}.env.example`)))
    await expect(Promise.resolve(readers[app]({ ...ofImage, ...fromFile, ...environment }))).resolves.toBeDefined()
  })

  test("has time to finish before it is killed", () => {
    expect(Number.parseInt(service(app).stop_grace_period ?? "", 10)).toBeGreaterThan(drainSeconds[app])
  })

  test("has its own host name at the proxy, and its version's image", () => {
    const port = table.find(({ folder }) => folder === `apps/${app}`)?.defaultPort
    expect(caddyfile).toContain(`reverse_proxy ${app}:${port} {\n`)
    const { version } = JSON.parse(read(`../apps/${app}/package.json`)) as { version: string }
    expect(image).toBe(`svc/${app}:${version}`)
  })
})

test("only the platform gets the session signing key, as a file", () => {
  expect(names.filter((name) => service(name).secrets !== undefined)).toEqual(["platform-api"])
  const [secret = ""] = service("platform-api").secrets ?? []
  expect(Object.keys(compose.secrets)).toEqual([secret])
  expect(service("platform-api").environment?.["SVC_SESSION_SIGNING_KEY_FILE"]).toBe(`/run/secrets/${secret}`)
})
