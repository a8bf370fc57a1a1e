// @module-tag long
import { execFileSync, spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { freePort, postJson } from "@svc/testing"
import { expect, test, vi } from "vitest"
import { parse } from "yaml"
import { z } from "zod"
import { publishStack } from "../../test/publish-stack.ts"
import { platformSettings, startService, testFolder, testProcess } from "../../test/start-service.ts"

const missing = process.env["CI"] !== "true" && spawnSync("promtool", ["--version"]).error !== undefined
const folder = join(import.meta.dirname, "..")

const alertsFile = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
})
const alerts = alertsFile
  .parse(parse(readFileSync(join(folder, "prometheus-alerts.yaml"), "utf8")))
  .groups.flatMap(({ rules }) => rules)

const dashboard = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })),
})
const queries = readdirSync(join(folder, "grafana")).flatMap((name) =>
  dashboard
    .parse(JSON.parse(readFileSync(join(folder, "grafana", name), "utf8")))
    .panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
)

test.skipIf(missing)("the scrape configuration and the rules are valid", () => {
  const checked = execFileSync("promtool", ["check", "config", "prometheus.yaml"], { cwd: folder, encoding: "utf8" })
  expect(checked).toContain("SUCCESS")
})

const startAll = async () => {
  const [docsPort, relayPort, platformPort, port] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const metricsAt = (metricsPort: number) => ({
    SVC_OTEL_ENABLED: "true",
    OTEL_METRICS_EXPORTER: "prometheus",
    OTEL_EXPORTER_PROMETHEUS_HOST: "127.0.0.1",
    OTEL_EXPORTER_PROMETHEUS_PORT: String(metricsPort),
  })
  const own = await platformSettings()
  const { url: platform } = await startService("platform-api", { ...metricsAt(platformPort), ...own })
  const { url: docs } = await startService("docs-server", metricsAt(docsPort))
  const { url: relay } = await startService("relay", {
    ...metricsAt(relayPort),
    SVC_TRANSACTIONS_ENABLED: "true",
    SVC_TRANSACTION_RPC_URL: "http://127.0.0.1:9",
    SVC_SESSION_JWKS_URL: `${platform}/.well-known/jwks.json`,
    SVC_SESSION_AUDIENCE: "transfers",
  })
  const config = readFileSync(join(folder, "prometheus.yaml"), "utf8")
    .replaceAll("15s", "1s")
    .replace("[prometheus-alerts.yaml]", JSON.stringify([join(folder, "prometheus-alerts.yaml")]))
    .replace("localhost:9464", `127.0.0.1:${docsPort}`)
    .replace("localhost:9465", `127.0.0.1:${relayPort}`)
    .replace("localhost:9466", `127.0.0.1:${platformPort}`)
  const data = await testFolder()
  const file = join(data, "prometheus.yaml")
  await writeFile(file, config)
  const prometheus = testProcess(
    "prometheus",
    [`--config.file=${file}`, `--storage.tsdb.path=${data}/tsdb`, `--web.listen-address=127.0.0.1:${port}`],
    { cwd: data },
  )
  await prometheus.waitFor(/Server is ready/)
  await publishStack(platform, own, "jobs")
  return { docs, relay, platform, prometheus: `http://127.0.0.1:${port}` }
}

const answered = z.object({ data: z.object({ result: z.array(z.unknown()) }) })

test.skipIf(missing)(
  "a real Prometheus has data for every query and metric of dashboards, alerts and pages; each metric is used",
  async () => {
    const { docs, relay, platform, prometheus } = await startAll()
    const use = async (): Promise<void> => {
      const search = { name: "search_docs", arguments: { query: "rate limits" } }
      await (await postJson(`${docs}/mcp`, { jsonrpc: "2.0", id: 1, method: "tools/call", params: search })).text()
      await (await postJson(`${relay}/transactions/v1/block-height`, {})).text()
      await (await fetch(`${platform}/api/agents/me`, { headers: { authorization: "Bearer svc_ak_none" } })).text()
      await (await fetch(`${platform}/api/agents/signup`, { method: "POST" })).text()
    }
    const has = async (expression: string): Promise<boolean> => {
      const found = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query: expression })}`)
      return answered.parse(await found.json()).data.result.length > 0
    }
    const expressions = [
      ...queries,
      ...alerts.map(({ expr }) => expr.replace(/ [<>] [\d.]+$/, "").replace(/^absent\((.*)\)$/, "$1")),
    ]
    expect(expressions.length).toBeGreaterThan(60)
    // Before the first request: an idle relay isn't missing.
    await expect.poll(() => has('up{job="relay"} == 1')).toBe(true)
    expect(await has(alerts.find(({ alert }) => alert === "RelayGone")?.expr ?? "")).toBe(false)
    await vi.waitFor(
      async () => {
        await use()
        const without = await Promise.all(expressions.map(async (one) => ((await has(one)) ? [] : [one])))
        expect(without.flat()).toEqual([])
      },
      { timeout: 90_000, interval: 1000 },
    )
    const answer = await (await fetch(`${prometheus}/api/v1/label/__name__/values`)).json()
    // Prometheus' own series, and the exporter's about itself.
    const others = /^(?:up|ALERTS|ALERTS_FOR_STATE|target_info|(?:scrape|otel)_\w+)$/
    const { data } = z.object({ data: z.array(z.string()) }).parse(answer)
    const series = new Set(
      data.filter((name) => !others.test(name)).map((name) => name.replace(/_(?:bucket|sum|count)$/, "")),
    )
    const pages = ["../docs/operations.md", "../apps/docs-server/content/operations.md"]
    const told = pages
      .flatMap((page) => readFileSync(join(folder, page), "utf8").match(/^\| `[a-z0-9_]+\.[^|]*/gm) ?? [])
      .flatMap((cell) => [...cell.matchAll(/`([a-z0-9_.]+)`/g)].map(([, name = ""]) => name.replaceAll(".", "_")))
    const withData = [...series].map((name) => (told.includes(name) ? name : name.replace(/_total$/, "")))
    expect(told.toSorted(), "exactly the metrics that the pages name have data").toEqual(
      [...new Set(withData)].toSorted(),
    )
    const unseen = [...series].filter((name) => !expressions.some((expression) => expression.includes(name)))
    expect(unseen, "metrics that no dashboard and no alert shows").toEqual([])
  },
)
