// Ratios to a bare Hono route in one run, and what many pages cost.
import { createBenchmarkTable } from "@svc/testing"
import { measureCorpus } from "./corpus.ts"
import { measureThroughput } from "./throughput.ts"

const table = createBenchmarkTable()
await measureThroughput(table)
for (const pages of [1000, 10_000]) await measureCorpus(table, pages)
console.log(table.text())
if (!table.met()) process.exitCode = 1
