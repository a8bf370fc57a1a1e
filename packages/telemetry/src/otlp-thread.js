// The thread that sends what is exported to a collector. JavaScript, because taking the types off TypeScript costs a thread 10 MB.
import { parentPort } from "node:worker_threads"
import { diag, DiagLogLevel } from "@opentelemetry/api"
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http"

/** @param {import("./otlp.ts").Report} report */
const tell = (report) => parentPort.postMessage(report)

const warn = (...words) => tell({ warning: words.map(String).join(" ") })
const ignore = () => {}
diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)

const createSender = ({ signal, mediaType }) =>
  createOtlpHttpExportDelegate(
    // Everything else is as the OTEL_EXPORTER_OTLP_* variables say, which this thread was given.
    convertLegacyHttpOptions({}, signal, `v1/${signal.toLowerCase()}`, { "Content-Type": mediaType }),
    {
      serializeRequest: (bytes) => bytes,
      deserializeResponse: (answer) => {
        if (answer.length > 0) tell({ signal, answer })
        return {}
      },
    },
    "",
    { name: "", countItems: () => 0 },
    undefined,
  )

/** A status with its words, else what the network said: of several addresses that refuse there is a code alone. */
const describe = ({ code, message }) => (typeof code === "number" ? `${code} ${message}` : message || code)

/** @type {Map<string, ReturnType<typeof createSender>>} */
const senders = new Map()

parentPort.on("message", (/** @type {import("./otlp.ts").Batch} */ batch) => {
  const sender = senders.get(batch.signal) ?? createSender(batch)
  senders.set(batch.signal, sender)
  sender.export(batch.bytes, ({ error }) => tell({ id: batch.id, failure: error && describe(error) }))
})
