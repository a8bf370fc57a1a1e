import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Container, PodSpec } from "kubernetes-types/core/v1.js"
import { beforeEach, describe, expect, test } from "vitest"
import { parse } from "yaml"
import { z } from "zod"

import { typeProblems } from "./kubernetes-types.ts"
import { type Labels, lookUp, noKubectl, renderKustomization, selects } from "./kustomization.ts"
import { services } from "../services.ts"
import { apps, drainSeconds, image, readers, secrets, settingNames } from "./settings.ts"

beforeEach(({ skip }) => skip(noKubectl, "kubectl is missing"))
const scrape = z.object({
  scrape_configs: z.array(
    z.object({ job_name: z.string(), static_configs: z.array(z.object({ targets: z.array(z.string()) })) }),
  ),
})
const prometheus: unknown = parse(readFileSync(join(import.meta.dirname, "../prometheus.yaml"), "utf8"))
const { scrape_configs: scrapeConfigs } = scrape.parse(prometheus)

const base = renderKustomization("base")
const manifests = renderKustomization("overlays/example")

const { ofKind, find } = lookUp(manifests)

type Pod = { name: string; labels: Labels; spec: PodSpec; container: Container }
const pods = [...ofKind("Deployment"), ...ofKind("Job")].map(({ metadata, spec }): Pod => {
  const { metadata: labelled, spec: pod } = spec?.template ?? {}
  const [container, ...more] = pod?.containers ?? []
  if (pod === undefined || container === undefined || more.length > 0) throw new Error("a pod has one container")
  return { name: metadata?.name ?? "", labels: labelled?.labels ?? {}, spec: pod, container }
})
const pod = (name: string): Pod => {
  const found = pods.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(`there is no pod ${name}`)
  return found
}

test.each(["base", "overlays/example", "overlays/scaled"])("%s uses each of its files", (name) => {
  const folder = join(import.meta.dirname, "../kubernetes", name)
  const used = readFileSync(join(folder, "kustomization.yaml"), "utf8")
  expect(readdirSync(folder).filter((file) => file !== "kustomization.yaml" && !used.includes(file))).toEqual([])
})

test("every manifest is valid for the Kubernetes API", async () => {
  expect(await typeProblems([...base, ...manifests, ...renderKustomization("overlays/scaled")])).toEqual([])
})

test("an invalid manifest is found", async () => {
  const mistaken = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "mistaken" },
    spec: { replicas: "2", selector: {}, template: { spec: { containers: [{ name: "a", livenesProbe: {} }] } } },
  }
  const problems = (await typeProblems([mistaken])).join("\n")
  expect(problems).toMatch(/livenesProbe.* does not exist/)
  expect(problems).toMatch(/string.* is not assignable to type 'number/)
})

test("no manifest contains a secret, and every object has a unique name", () => {
  expect(ofKind("Secret")).toEqual([])
  const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  expect(new Set(names).size).toBe(names.length)
})

test("self-hosting.md has the time that each pod has to stop", () => {
  const page = readFileSync(join(import.meta.dirname, "../../apps/docs-server/content/self-hosting.md"), "utf8")
  const graces = (["platform-api", "relay", "docs-server"] as const).map(
    (name) => pod(name).spec.terminationGracePeriodSeconds,
  )
  expect(page).toContain(`| \`terminationGracePeriodSeconds\` | ${graces.join(" | ")} |`)
})

test("the relay is one process at any time, and may be moved off a node", () => {
  const { spec } = find("Deployment", "relay")
  expect(spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } })
  const budgets = ofKind("PodDisruptionBudget")
  expect(budgets.filter(({ spec: budget }) => selects(budget?.selector ?? {}, pod("relay").labels))).toEqual([])
})

test.each(["docs-server", "platform-api"])("%s stays up through rollouts and drained nodes", (name) => {
  const { spec } = find("Deployment", name)
  expect(spec?.replicas).toBeGreaterThanOrEqual(2)
  expect(spec?.strategy).toMatchObject({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } })
  const budgets = ofKind("PodDisruptionBudget")
  const own = budgets.filter(({ spec: budget }) => selects(budget?.selector ?? {}, pod(name).labels))
  expect(own.map(({ spec: budget }) => budget?.maxUnavailable)).toEqual([1])
})

describe.each(apps)("%s", (name) => {
  test("is alive while its process responds, and gets requests while it can work", () => {
    const livePath = services.find(({ folder }) => folder === `apps/${name}`)?.livePath
    // An outage of the database must not hide the platform's responses.
    const readyPath = name === "platform-api" ? livePath : "/readyz"
    const { startupProbe, livenessProbe, readinessProbe } = pod(name).container
    for (const probe of [startupProbe, livenessProbe])
      expect(probe?.httpGet).toEqual({ path: livePath, port: "probes" })
    expect(readinessProbe?.httpGet).toEqual({ path: readyPath, port: "probes" })
  })

  test("has time to finish before it is killed", () => {
    const { spec, container } = pod(name)
    const [command, seconds] = container.lifecycle?.preStop?.exec?.command ?? []
    expect(command).toBe("sleep")
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + drainSeconds[name] + 2)
    const title = { "docs-server": "Documentation", relay: "Relay", "platform-api": "Platform API" }[name]
    const page = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8")
    const [, allow] = new RegExp(`^\\| ${title} \\| \\d.*\\| (\\d+) s[^|]*\\|$`, "m").exec(page) ?? []
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(seconds) + Number(allow))
  })

  test("starts with the example's settings, whose names it all reads", async () => {
    const { container } = pod(name)
    const maps = (container.envFrom ?? []).flatMap(({ configMapRef }) =>
      ofKind("ConfigMap").filter(({ metadata }) => metadata?.name === configMapRef?.name),
    )
    expect(maps).toHaveLength(1)
    const set = { ...maps[0]?.data }
    const known = new Set([...(await settingNames(name)), ...(container.env ?? []).map((variable) => variable.name)])
    expect(Object.keys(set).filter((key) => !known.has(key) && !key.startsWith("OTEL_"))).toEqual([])
    expect((container.env ?? []).map((variable) => variable.name).filter((key) => !known.has(key))).toEqual([])
    await expect(Promise.resolve(readers[name]({ ...image, ...set, ...secrets }))).resolves.toBeDefined()
  })

  test("shows its metrics at the port that Prometheus scrapes", () => {
    const targets = scrapeConfigs.find(({ job_name }) => job_name === name)?.static_configs[0]?.targets
    expect(pod(name).container.ports).toContainEqual({
      name: "metrics",
      containerPort: Number(targets?.[0]?.split(":")[1]),
    })
    const maps = ofKind("ConfigMap").find(({ metadata }) => metadata?.name?.startsWith(`${name}-settings`))
    expect(maps?.data).toMatchObject({
      SVC_OTEL_ENABLED: "true",
      OTEL_METRICS_EXPORTER: "prometheus",
      OTEL_EXPORTER_PROMETHEUS_HOST: "0.0.0.0",
    })
    expect(maps?.data).not.toHaveProperty("OTEL_EXPORTER_PROMETHEUS_PORT")
  })
})

test.each(pods.map(({ name }) => name))("%s runs without unneeded rights", (name) => {
  const { spec, container } = pod(name)
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
  })
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  })
  for (const kind of ["cpu", "memory"]) {
    expect(container.resources?.requests).toHaveProperty(kind)
    expect(container.resources?.limits).toHaveProperty(kind)
  }
  const account = ofKind("ServiceAccount").find(({ metadata }) => metadata?.name === spec.serviceAccountName)
  expect(account?.automountServiceAccountToken).toBe(false)
  const volumes = (spec.volumes ?? []).map((volume) => volume.name)
  expect((container.volumeMounts ?? []).map((mount) => mount.name)).toEqual(volumes)
})

test("only the migration has the secret of the tables' owner", () => {
  const secretOf = (name: string) =>
    pod(name).container.env?.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? [])
  expect(secretOf("platform-migrate")).toEqual(["platform-migrate-database"])
  expect(secretOf("platform-api")).toEqual(["platform-api-database"])
})

test("images have a version, which in the base is this repository's", () => {
  for (const { container } of pods)
    expect(container.image).toMatch(/^registry\.example\.com\/svc\/[a-z-]+:\d+\.\d+\.\d+$/)
  const images = [...JSON.stringify(base).matchAll(/"image":"svc\/([a-z-]+):([^"]+)"/g)]
  expect(images).toHaveLength(pods.length)
  for (const [, app = "", version] of images) {
    const manifest = readFileSync(join(import.meta.dirname, `../../apps/${app}/package.json`), "utf8")
    expect((JSON.parse(manifest) as { version: string }).version).toBe(version)
  }
})

// What reaches what is in cluster.test.ts, which asks at these ports alone.
test.each([
  ["docs-server", [53, 4003]],
  ["relay", [53, 443, 4003]],
  ["platform-api", [53, 5432]],
  ["platform-migrate", [53, 5432]],
])("the network lets %s reach only the ports %j", (name, expected) => {
  const policies = ofKind("NetworkPolicy").filter(({ spec }) => selects(spec?.podSelector ?? {}, pod(name).labels))
  expect(policies.map(({ spec }) => spec)).toContainEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] })
  const ports = policies.flatMap(({ spec }) => spec?.egress ?? []).flatMap((rule) => rule.ports ?? [])
  expect(new Set(ports.map(({ port }) => port))).toEqual(new Set(expected))
})
