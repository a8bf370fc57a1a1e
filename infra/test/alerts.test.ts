// Each alert against series that must and must not fire it, by promtool. A dead expression fails its test.
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { parse, stringify } from "yaml"
import { z } from "zod"
import { readConfig } from "../../apps/relay/src/config.ts"
import { folderOfFile } from "../../test/folder-of-file.ts"

const rule = z.looseObject({
  alert: z.string(),
  expr: z.string(),
  labels: z.object({ severity: z.enum(["page", "ticket"]) }),
  annotations: z.object({ summary: z.string() }),
})
type Rule = z.infer<typeof rule>
const source = readFileSync(join(import.meta.dirname, "../prometheus-alerts.yaml"), "utf8")
const rules = z
  .object({ groups: z.array(z.object({ rules: z.array(rule) })) })
  .parse(parse(source))
  .groups.flatMap((group) => group.rules)

type Case = {
  /** One sample a minute, as promtool writes them. */
  readonly series: Readonly<Record<string, string>>
  readonly minute: number
  /** The labels of each alert that must fire; if there are none, none may. */
  readonly fires: readonly Readonly<Record<string, string>>[]
}

const fires = (series: Case["series"], minute: number, ...labels: Case["fires"][number][]): Case => ({
  series,
  minute,
  fires: labels.length === 0 ? [{}] : labels,
})
const quiet = (series: Case["series"], minute: number): Case => ({ series, minute, fires: [] })

/** Series of a counter, by the value of one label: how much is added each minute. */
const counters = (metric: string, label: string, perMinute: Readonly<Record<string, number>>, more = "") =>
  Object.fromEntries(
    Object.entries(perMinute).map(([value, rate]) => [`${metric}{${label}="${value}"${more}}`, `0+${rate}x200`]),
  )
/** A histogram whose values all fall between two boundaries. */
const histogram = (metric: string, below: number, above: number, labels = "") => ({
  [`${metric}_bucket{le="${below}"${labels}}`]: "0x200",
  [`${metric}_bucket{le="${above}"${labels}}`]: "0+10x200",
  [`${metric}_bucket{le="+Inf"${labels}}`]: "0+10x200",
})
const upstream = (perMinute: Readonly<Record<string, number>>) =>
  counters("svc_transaction_upstream_total", "outcome", perMinute)
const denials = (reason: string, perMinute: number) => ({
  ...counters("svc_transaction_denials_total", "reason", { [reason]: perMinute, request_size: 90 }),
  svc_transaction_requests_total: "0+100x200",
})
const limits = (job: string, instance: string, shared: string, local: string) => ({
  [`svc_limits_mode{job="${job}",instance="${instance}",mode="shared"}`]: shared,
  [`svc_limits_mode{job="${job}",instance="${instance}",mode="local"}`]: local,
})
const job = { job: "platform-api" }

const cases: Readonly<Record<string, readonly Case[]>> = {
  RelayProviderFails: [
    fires(upstream({ ok: 90, timeout: 10 }), 12),
    quiet(upstream({ ok: 50, rpc_error: 50, timeout: 1 }), 12),
  ],
  RelayUpstreamTimeouts: [fires(upstream({ timeout: 1 }), 12), quiet(upstream({ http_error: 9, timeout: 0 }), 12)],
  RelayRefusesTokens: [fires(denials("auth", 20), 12), quiet(denials("auth", 5), 12)],
  RelayLimitsBite: [fires(denials("rate_limit", 20), 12), quiet(denials("rate_limit", 5), 12)],
  RelayHasNoPlaces: [fires(denials("concurrency", 1), 12), quiet(denials("concurrency", 0), 12)],
  RelaySlow: [
    fires(histogram("svc_transaction_request_duration", 5000, 7500, ',operation="send"'), 12, { operation: "send" }),
    quiet(histogram("svc_transaction_request_duration", 2500, 5000, ',operation="send"'), 12),
  ],
  RelayStuck: [
    fires({ 'svc_transaction_inflight{instance="a",operation="send"}': "81x9" }, 3, { instance: "a" }),
    quiet({ 'svc_transaction_inflight{instance="a"}': "80x9", 'svc_transaction_inflight{instance="b"}': "80x9" }, 3),
  ],
  RelayBodiesNearTheLimit: [
    fires(histogram("svc_transaction_request_bytes", 2048, 4096), 130),
    quiet(histogram("svc_transaction_request_bytes", 1024, 2048), 130),
  ],
  RelayGone: [fires({ up: "1x30" }, 20), quiet({ 'svc_transaction_upstream_total{outcome="ok"}': "0x30" }, 20)],
  ServiceDown: [
    fires({ 'up{job="relay",instance="a"}': "1 1 0x10", 'up{job="docs-server"}': "1x20" }, 8, {
      job: "relay",
      instance: "a",
    }),
    quiet({ 'up{job="relay",instance="a"}': "1 1 0x10" }, 3),
  ],
  ServiceFails: [
    fires(
      counters(
        "http_server_request_duration_count",
        "http_response_status_code",
        { 200: 90, 503: 10 },
        `,job="${job.job}"`,
      ),
      15,
      job,
    ),
    quiet(
      counters("http_server_request_duration_count", "http_response_status_code", { 200: 99, 404: 50, 500: 1 }),
      15,
    ),
    quiet(
      counters("http_server_request_duration_count", "http_response_status_code", { 200: 50, 502: 50 }, ',job="relay"'),
      15,
    ),
  ],
  ServiceSlow: [
    fires(histogram("http_server_request_duration", 1, 2.5, ',job="platform-api"'), 20, job),
    quiet(histogram("http_server_request_duration", 1, 2.5, ',job="relay"'), 20),
  ],
  ServiceEventLoopBlocked: [
    fires({ 'nodejs_eventloop_delay_p99{job="platform-api"}': "0.6x20" }, 7, job),
    quiet({ nodejs_eventloop_delay_p99: "0.4x20" }, 7),
  ],
  ServiceProcessorBusy: [
    fires({ 'process_cpu_time_total{job="platform-api",cpu_mode="user"}': "0+57x30" }, 25, job),
    quiet({ 'process_cpu_time_total{job="platform-api",cpu_mode="user"}': "0+42x30" }, 25),
  ],
  ServiceMemoryHigh: [
    fires({ 'process_memory_usage{job="platform-api"}': "460000000x20" }, 12, job),
    quiet({ process_memory_usage: "300000000x20" }, 12),
  ],
  LimitsLocal: [
    fires({ ...limits("relay", "a", "1x10 0x20", "0x10 1x20"), ...limits("docs-server", "a", "0x30", "1x30") }, 20, {
      job: "relay",
    }),
    quiet(limits("relay", "a", "1x10 0x20", "0x10 1x20"), 9),
  ],
  LimitsDivided: [
    fires({ ...limits("relay", "a", "1x20", "0x20"), ...limits("relay", "b", "0x20", "1x20") }, 10, { job: "relay" }),
    quiet({ ...limits("relay", "a", "1x20", "0x20"), ...limits("platform-api", "b", "0x20", "1x20") }, 10),
  ],
  PlatformDatabaseAway: [
    fires(counters("svc_platform_database_duration_count", "outcome", { ok: 10, unavailable: 10 }), 10),
    quiet(counters("svc_platform_database_duration_count", "outcome", { ok: 10, refused: 10 }), 10),
  ],
  RelayKeysOld: [fires({ svc_relay_jwks_age: "0+60x60" }, 45), quiet({ svc_relay_jwks_age: "300x60" }, 45)],
  PlatformTablesGrow: [
    fires({ 'svc_platform_table_size{table="audit_log"}': "0+2000000x1600" }, 1590, { table: "audit_log" }),
    quiet(
      {
        'svc_platform_table_size{table="audit_log",instance="a"}': "0+600000x1600",
        'svc_platform_table_size{table="audit_log",instance="b"}': "0+600000x1600",
      },
      1590,
    ),
  ],
  PlatformRegistryStale: [
    fires({ svc_platform_registry_age: "0+30x20" }, 10),
    quiet({ svc_platform_registry_age: "2x20" }, 10),
  ],
  PlatformKeysRefused: [
    fires(counters("svc_platform_key_checks_total", "outcome", { ok: 10, "invalid-api-key": 20 }), 30),
    quiet(counters("svc_platform_key_checks_total", "outcome", { ok: 10 }), 30),
  ],
  PlatformJobsWait: [
    fires({ 'svc_platform_jobs{state="waiting"}': "21x30" }, 20),
    quiet({ 'svc_platform_jobs{state="waiting"}': "3x30", 'svc_platform_jobs{state="running"}': "50x30" }, 20),
  ],
  PlatformJobsFail: [
    fires(counters("svc_platform_job_duration_count", "outcome", { ok: 10, failed: 1 }), 30),
    quiet(counters("svc_platform_job_duration_count", "outcome", { ok: 10, lost: 1 }), 30),
  ],
  DocsPlatformAway: [
    fires({ 'svc_docs_platform_answering{instance="a"}': "0x20" }, 10, { instance: "a" }),
    quiet({ svc_docs_platform_answering: "1x20" }, 10),
  ],
  DocsSearchesFindNothing: [
    fires(counters("svc_docs_searches_total", "outcome", { nothing: 6, found: 4 }), 130),
    quiet(counters("svc_docs_searches_total", "outcome", { nothing: 1, found: 4 }), 130),
  ],
}

const folder = folderOfFile()

/** Writes a rule and its alert's cases as a test file of promtool; returns its name. */
const writeCases = (checked: Rule, name: string): string => {
  const { alert, labels: own, annotations } = checked
  const summaryFor = (labels: Case["fires"][number]): string =>
    annotations.summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? "")
  const tests = (cases[alert] ?? []).map(({ series, minute, fires: expected }) => ({
    interval: "1m",
    input_series: Object.entries(series).map(([of, values]) => ({ series: of, values })),
    alert_rule_test: [
      {
        eval_time: `${minute}m`,
        alertname: alert,
        exp_alerts: expected.map((labels) => ({
          exp_labels: { ...own, ...labels },
          exp_annotations: { summary: summaryFor(labels) },
        })),
      },
    ],
  }))
  const [rulesFile, file] = [`${name}.rules.yaml`, `${name}.yaml`]
  writeFileSync(join(folder, rulesFile), stringify({ groups: [{ name: "checked", rules: [checked] }] }))
  writeFileSync(join(folder, file), stringify({ rule_files: [rulesFile], evaluation_interval: "1m", tests }))
  return file
}

const promtool = (files: readonly string[]) =>
  spawnSync("promtool", ["test", "rules", ...files], { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 })

test("the operators' page names each rule of the relay and its limits, no other, and no threshold", () => {
  const page = readFileSync(join(import.meta.dirname, "../../apps/docs-server/content/operations.md"), "utf8")
  const table = page.slice(page.indexOf("Metrics of the relay"), page.indexOf("## Large transactions"))
  const named = new Set([...table.matchAll(/`((?:Relay|Limits)\w+)`/g)].map(([, name]) => name))
  expect(named).toEqual(new Set(rules.map(({ alert }) => alert).filter((name) => /^(?:Relay|Limits)/.test(name))))
  expect(table).not.toMatch(/\d+ (?:%|minutes?|s\b)|[Oo]ver \d/)
})

test("every alert has a case that fires it and one that doesn't", () => {
  const covered = Object.entries(cases).filter(([, all]) => new Set(all.map((one) => one.fires.length > 0)).size === 2)
  expect(covered.map(([alert]) => alert).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
})

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0

test.skipIf(!hasPromtool && process.env["CI"] !== "true")(
  "every alert fires when it should, and its cases fail if a metric or label value is renamed",
  () => {
    const { status, stdout, stderr } = promtool(rules.map((one) => writeCases(one, one.alert)))
    expect(status === 0 ? "" : `${stdout}${stderr}`).toBe("")
    const files = rules.flatMap((one) => {
      const metrics = one.expr.match(/\b(?:svc|http|nodejs|process)_\w+\b(?!!?=~?")|\bup\b/g) ?? []
      const values = [...one.expr.matchAll(/[^!]=~?("[^"]+")/g)].map(([, value = ""]) => value)
      expect(metrics.length).toBeGreaterThan(0)
      return [...new Set([...metrics, ...values])].map((name, index) => {
        const dead = name.startsWith('"') ? '"dead"' : "dead"
        return writeCases({ ...one, expr: one.expr.replaceAll(name, dead) }, `${one.alert}-${index}`)
      })
    })
    // It reports a failure elsewhere: only a rule that passes has a verdict here.
    const told = promtool(files).stdout.split("Unit Testing:").slice(1)
    expect(told.map((text) => text.trim())).toEqual(files)
  },
)

const thresholdOf = (alert: string): number =>
  Number(/ > ([\d.]+)$/.exec(rules.find((one) => one.alert === alert)?.expr ?? "")?.[1])

test("thresholds that depend on numbers in the code match them", async () => {
  const { concurrency, maxBodyBytes } = await readConfig({})
  expect(thresholdOf("RelayStuck")).toBe(Object.values(concurrency).reduce((sum, places) => sum + places, 0))
  const near = thresholdOf("RelayBodiesNearTheLimit") / maxBodyBytes
  expect(near > 0.9 && near < 1, "near the largest body").toBe(true)
  for (const app of ["docs-server", "relay", "platform-api"]) {
    const manifest = readFileSync(join(import.meta.dirname, `../kubernetes/base/${app}.yaml`), "utf8")
    const mebibytes = Number(/limits: \{.*memory: (\d+)Mi/.exec(manifest)?.[1])
    const used = thresholdOf("ServiceMemoryHigh") / (mebibytes * 2 ** 20)
    expect(used > 0.8 && used < 0.9, `near the memory of ${app}`).toBe(true)
    expect(source).toContain(`${mebibytes} MiB of its container`)
  }
})
