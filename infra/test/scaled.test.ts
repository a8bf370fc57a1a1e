import { beforeEach, expect, test } from "vitest"

import { readCompose } from "./compose-file.ts"
import { lookUp, noKubectl, renderKustomization } from "./kustomization.ts"
import { image, readers, secrets } from "./settings.ts"

beforeEach(({ skip }) => skip(noKubectl, "kubectl is missing"))
const overlay = (name: string) => renderKustomization(`overlays/${name}`)
const manifests = overlay("scaled")
const { find } = lookUp(manifests)

test("three relays roll, one at a time may be moved, and the rest of the example is unchanged", () => {
  const { spec } = find("Deployment", "relay")
  expect(spec).toMatchObject({ replicas: 3, strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } } })
  const budget = find("PodDisruptionBudget", "relay")
  expect(budget.spec?.maxUnavailable).toBe(1)
  expect(spec?.template.metadata?.labels).toMatchObject(budget.spec?.selector?.matchLabels ?? { none: "" })
  const example = lookUp(overlay("example")).find("Deployment", "relay")
  expect(spec?.template).toEqual(example.spec?.template)
})

test("relay and platform count in one server", async () => {
  for (const app of ["relay", "platform-api"] as const) {
    const { data } = find("ConfigMap", `${app}-settings`)
    const replicas = find("Deployment", app).spec?.replicas
    expect(data).toMatchObject({ SVC_LIMITS_URL: "redis://valkey:6379", SVC_LIMITS_REPLICAS: String(replicas) })
    await expect(Promise.resolve(readers[app]({ ...image, ...data, ...secrets }))).resolves.toBeDefined()
  }
})

const compose = readCompose("compose.scaled.yaml")

test("compose: two relays and two platforms count in a server that keeps its data", () => {
  const { valkey, relay, "platform-api": platform, ...rest } = compose.services
  expect(Object.keys(rest)).toEqual([])
  for (const app of [relay, platform]) {
    expect(app?.deploy?.replicas).toBe(2)
    expect(app?.environment).toEqual({ SVC_LIMITS_URL: "redis://valkey:6379", SVC_LIMITS_REPLICAS: "2" })
  }
  expect(valkey).toMatchObject({ read_only: true, cap_drop: ["ALL"] })
  expect(valkey?.ports).toBeUndefined()
  const container = find("Deployment", "valkey").spec?.template.spec?.containers[0]
  expect(valkey?.command).toEqual(container?.command)
  expect(valkey?.image).toBe(container?.image)
  expect(valkey?.command?.join(" ")).toContain("--maxmemory 64mb --maxmemory-policy noeviction")
})
