// The dashboards of the services, one row a question: is it asked, does it fail, is it slow, is it full; then what is its
// own. `node infra/grafana/dashboards.ts` writes them as Grafana's JSON beside this file; a test compares them.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

type Query = readonly [legend: string, expression: string]
type Panel = { readonly title: string; readonly unit: string; readonly queries: readonly Query[] }

const quantiles = (metric: string, by = "", of = ""): Query[] =>
  [0.5, 0.99].map((q) => [
    `p${q * 100}${by === "" ? "" : ` {{${by}}}`}`,
    `histogram_quantile(${q}, sum by (le${by === "" ? "" : `, ${by}`}) (rate(${metric}_bucket${of}[5m])))`,
  ])

const signals = (job: string): Panel[] => {
  const of = `{job="${job}"}`
  const failed = `sum(rate(http_server_request_duration_count{job="${job}",http_response_status_code=~"5.."}[5m]))`
  const all = `sum(rate(http_server_request_duration_count${of}[5m]))`
  return [
    {
      title: "Requests",
      unit: "reqps",
      queries: [["{{http_route}}", `sum by (http_route) (rate(http_server_request_duration_count${of}[5m]))`]],
    },
    {
      title: "Errors (share of 5xx)",
      unit: "percentunit",
      queries: [["5xx", `(${failed} or 0 * ${all}) / ${all}`]],
    },
    { title: "Latency", unit: "s", queries: quantiles("http_server_request_duration", "", of) },
    {
      title: "Saturation: event loop delay",
      unit: "s",
      queries: [
        ["p99 {{instance}}", `nodejs_eventloop_delay_p99${of}`],
        ["max {{instance}}", `nodejs_eventloop_delay_max${of}`],
      ],
    },
    {
      title: "Requests in flight",
      unit: "short",
      queries: [["{{instance}}", `sum by (instance) (http_server_active_requests${of})`]],
    },
    { title: "Memory", unit: "bytes", queries: [["{{instance}}", `process_memory_usage${of}`]] },
    {
      title: "Answers by status",
      unit: "reqps",
      queries: [
        [
          "{{http_response_status_code}}",
          `sum by (http_response_status_code) (rate(http_server_request_duration_count${of}[5m]))`,
        ],
      ],
    },
    { title: "Replicas that answer the scrape", unit: "short", queries: [["up", `sum(up${of})`]] },
  ]
}

const rate = (title: string, metric: string, by: string): Panel => ({
  title,
  unit: "reqps",
  queries: [[`{{${by}}}`, `sum by (${by}) (rate(${metric}[5m]))`]],
})
const gauge = (title: string, unit: string, expression: string): Panel => ({
  title,
  unit,
  queries: [["{{instance}}", expression]],
})

const limitsMode = (job: string): Panel => ({
  title: "Replicas by who counts the limits",
  unit: "short",
  queries: [["{{mode}}", `sum by (mode) (svc_limits_mode{job="${job}"})`]],
})

export const dashboards: Readonly<Record<string, { readonly title: string; readonly panels: readonly Panel[] }>> = {
  "docs-server": {
    title: "Documentation server",
    panels: [
      ...signals("docs-server"),
      rate("MCP requests", "svc_docs_mcp_requests_total", "method"),
      rate("Searches", "svc_docs_searches_total", "outcome"),
      { title: "Search time", unit: "s", queries: quantiles("svc_docs_search_duration") },
      gauge("Event streams", "short", "svc_docs_streams"),
    ],
  },
  relay: {
    title: "Transaction relay",
    panels: [
      ...signals("relay"),
      rate("Calls to the provider", "svc_transaction_upstream_total", "outcome"),
      rate("Requests turned away", "svc_transaction_denials_total", "reason"),
      { title: "Operations, ms", unit: "ms", queries: quantiles("svc_transaction_request_duration", "operation") },
      rate("Operations", "svc_transaction_requests_total", "operation"),
      { title: "Body size", unit: "bytes", queries: quantiles("svc_transaction_request_bytes") },
      gauge("Operations in flight", "short", "sum by (instance) (svc_transaction_inflight)"),
      gauge("Who answers reads", "short", "sum by (upstream) (svc_relay_upstream_answering)"),
      gauge("Age of the session keys", "s", "svc_relay_jwks_age"),
      limitsMode("relay"),
    ],
  },
  "platform-api": {
    title: "Agent platform",
    panels: [
      ...signals("platform-api"),
      { title: "Database", unit: "s", queries: quantiles("svc_platform_database_duration", "operation") },
      rate("What the database answers", "svc_platform_database_duration_count", "outcome"),
      gauge("Database connections", "short", "svc_platform_database_connections"),
      rate("Key checks", "svc_platform_key_checks_total", "outcome"),
      gauge("Sign-ups an hour", "short", "sum by (instance) (rate(svc_platform_signups_total[5m])) * 3600"),
      gauge("Age of the registry", "s", "svc_platform_registry_age"),
      limitsMode("platform-api"),
      // Every replica shows the same: the database's.
      { title: "Jobs", unit: "short", queries: [["{{state}}", "max by (state) (svc_platform_jobs)"]] },
      rate("Looks at jobs", "svc_platform_job_duration_count", "kind"),
      { title: "Time of a look at a job", unit: "s", queries: quantiles("svc_platform_job_duration", "kind") },
      rate("What became of them", "svc_platform_job_duration_count", "outcome"),
    ],
  },
}

const width = 6
const height = 7
const datasource = { type: "prometheus", uid: "${datasource}" }

/** A dashboard as Grafana imports it. */
export const grafanaJson = (name: string): string => {
  const { title, panels } = dashboards[name] ?? { title: name, panels: [] }
  const dashboard = {
    uid: `svc-${name}`,
    title,
    tags: ["svc"],
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus" }] },
    panels: panels.map(({ title: heading, unit, queries }, index) => ({
      id: index + 1,
      type: "timeseries",
      title: heading,
      datasource,
      gridPos: { x: (index % 4) * width, y: Math.floor(index / 4) * height, w: width, h: height },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: queries.map(([legendFormat, expr], at) => ({
        refId: String.fromCodePoint(65 + at),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  }
  return `${JSON.stringify(dashboard, undefined, 2)}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of Object.keys(dashboards)) {
    await writeFile(join(import.meta.dirname, `${name}.json`), grafanaJson(name))
  }
}
