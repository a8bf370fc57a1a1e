import { readFileSync } from "node:fs"
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics"
import { expect, test } from "vitest"
import { createMetrics } from "../src/metrics.ts"
import type { UsageEvent } from "../src/usage/usage.ts"
import { raw, result, rpcError } from "./fake-rpc.ts"
import { fileRpc, startIssuer, testRelay } from "./fixture.ts"
import { anyTransaction } from "./transactions.ts"

const rpc = fileRpc()
const issuer = await startIssuer()
const wire = await anyTransaction()

const collect = () => {
  const records: UsageEvent[] = []
  return { records, usage: { record: (one: UsageEvent) => void records.push(one), flush: () => Promise.resolve() } }
}

test("each authorized request makes one record, rejected ones none", async () => {
  const { records, usage } = collect()
  const relay = await testRelay(rpc.url, {
    auth: issuer.plugin,
    usage,
    env: { SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: "3" },
  })
  const full = await issuer.bearer({ deployment_id: 42, plan: "free" })
  rpc.script((r) => result(r, "7"))
  const good = await relay.post("block-height", {}, full)
  await relay.post("block-height", {})
  await relay.post("block-height", {}, await issuer.bearer({ scope: "read" }))
  await relay.post("block-height", {}, full)
  expect(records).toHaveLength(1)
  expect(records[0]).toEqual({
    event_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    occurred_at_ms: 1_700_000_000_000,
    operation: "block_height",
    result: "ok",
    request_bytes: 2,
    response_bytes: good.text.length,
    latency_ms: expect.any(Number),
    subject: "agent:alice",
    metering_key: "key:1",
    key_class: "secret",
    deployment_id: 42,
    plan: "free",
  })
  const page = readFileSync(new URL("../../docs-server/content/operations.md", import.meta.url), "utf8")
  expect(Object.keys(records[0] ?? {}).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  const bare = await relay.post("fee", { message: "!" }, await issuer.bearer())
  expect(records[1]).toMatchObject({ operation: "fee", result: "error", response_bytes: Buffer.byteLength(bare.text) })
  expect(records[1]).not.toHaveProperty("plan")
  expect(records[1]).not.toHaveProperty("deployment_id")
})

test("a send's record is accepted, rejected or unknown; an invalid body is rejected; no token means anonymous", async () => {
  const { records, usage } = collect()
  const relay = await testRelay(rpc.url, { usage })
  rpc.script((r) => result(r, '"x"'))
  const { signature } = (await relay.post("send", { transaction: wire })).body
  rpc.script((r) => result(r, JSON.stringify(signature)))
  await relay.post("send", { transaction: wire })
  rpc.script((r) => rpcError(r, { code: -32002 }))
  await relay.post("send", { transaction: wire })
  await relay.post("send", "{", {})
  await relay.post("send", "{}", { "content-type": "text/plain" })
  expect(records.map((record) => record.result)).toEqual(["unknown", "accepted", "rejected", "rejected", "rejected"])
  expect(records[0]).toMatchObject({ subject: "anonymous", metering_key: "anonymous" })
})

test("the metrics count every event, with only the documented attributes", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const limited = await testRelay(rpc.url, {
    auth: issuer.plugin,
    metrics: createMetrics(provider.getMeter("test")),
    env: {
      SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: "1",
      SVC_TRANSACTION_INSPECT_CONCURRENCY: "0",
      SVC_TRANSACTION_STATUS_TIMEOUT_MS: "500",
    },
  })
  const headers = await issuer.bearer()
  rpc.script((r) => rpcError(r, { code: -32002 }))
  await limited.post("send", { transaction: wire }, headers)
  await limited.post("send", { transaction: wire }, headers)
  await limited.post("fee", { message: "AAAA" }, headers)
  await limited.post("fee", { message: "AAAA" })
  await limited.post("fee", { message: "AAAA" }, await issuer.bearer({ scope: "transaction:send" }))
  await limited.post("fee", " ".repeat(5000), headers)
  const relay = await testRelay(rpc.url, {
    metrics: createMetrics(provider.getMeter("test")),
    env: { SVC_TRANSACTION_STATUS_TIMEOUT_MS: "500" },
  })
  for (const script of [
    (r: Parameters<typeof result>[0]) => result(r, "1"),
    () => raw("", 500),
    () => raw("{"),
    () => ({ after: "reset" as const }),
    () => ({ after: "stall" as const }),
  ]) {
    rpc.script(script)
    await relay.post("block-height", {})
  }
  await provider.forceFlush()
  const seen = Object.fromEntries(
    (exporter.getMetrics().at(-1)?.scopeMetrics ?? []).flatMap(({ metrics }) =>
      metrics.map(({ descriptor, dataPoints }) => [
        descriptor.name,
        {
          unit: descriptor.unit,
          points: Object.fromEntries(
            dataPoints.map(({ attributes, value }) => [
              Object.entries(attributes).flat().join(" "),
              typeof value === "number" ? value : value.count,
            ]),
          ),
        },
      ]),
    ),
  )
  const perRequest = {
    "operation send result error": 2,
    "operation fee result error": 4,
    "operation block_height result ok": 1,
    "operation block_height result error": 4,
  }
  expect(seen).toEqual({
    "svc.transaction.requests.total": { unit: "", points: perRequest },
    "svc.transaction.request.duration": { unit: "ms", points: perRequest },
    "svc.transaction.request.bytes": { unit: "By", points: perRequest },
    "svc.transaction.inflight": {
      unit: "",
      points: { "operation send": 0, "operation fee": 0, "operation block_height": 0 },
    },
    "svc.transaction.upstream.total": {
      unit: "",
      points: {
        "outcome rpc_error": 1,
        "outcome ok": 1,
        "outcome http_error": 2,
        "outcome transport_error": 1,
        "outcome timeout": 1,
      },
    },
    "svc.transaction.denials.total": {
      unit: "",
      points: {
        "reason rate_limit": 1,
        "reason concurrency": 1,
        "reason auth": 1,
        "reason scope": 1,
        "reason request_size": 1,
      },
    },
  })
  await provider.shutdown()
})
