import { getBase58Decoder } from "@solana/kit"
import { publicJwks } from "@svc/session-token"
import { postJson } from "@svc/testing"
import { expect, test } from "vitest"
import { startService, testReceiver } from "../../../test/start-service.ts"
import { result, rpcError } from "./fake-rpc.ts"
import { startIssuer, testRpc } from "./fixture.ts"
import { memo, messageOf, transfer } from "@svc/testing/solana"
import { anySigner, signedTransaction } from "./transactions.ts"

const usageToken = "usage-token-0123456789"
const rpcKey = "rpc-key-0123456789"
const account = "Vote111111111111111111111111111111111111111"
const programLog = "Program log: nobody else's business"

/** Every form of bytes in a text. */
const spellings = (bytes: Uint8Array): string[] => {
  const buffer = Buffer.from(bytes)
  return [
    buffer.toString("base64"),
    buffer.toString("hex"),
    buffer.toString("latin1"),
    getBase58Decoder().decode(buffer),
  ]
}

test("usage records, metrics, traces and logs never contain a transaction, signature, token, account, log or key", async () => {
  const rpc = await testRpc()
  const usage = await testReceiver()
  const collector = await testReceiver()
  const issuer = await startIssuer(Date.now)
  const service = await startService("relay", {
    SVC_LOG_LEVEL: "debug",
    SVC_TRANSACTIONS_ENABLED: "true",
    SVC_TRANSACTION_RPC_URL: `${rpc.url}/?api-key=${rpcKey}`,
    SVC_SESSION_PUBLIC_KEY: JSON.stringify(publicJwks(issuer.keys)),
    SVC_SESSION_AUDIENCE: "transfers",
    SVC_TRANSACTION_USAGE_ENABLED: "true",
    SVC_TRANSACTION_USAGE_ENDPOINT: usage.url,
    SVC_TRANSACTION_USAGE_TOKEN: usageToken,
    SVC_OTEL_ENABLED: "true",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: "always_on",
  })
  const payer = await anySigner()
  const transaction = await signedTransaction(payer, [
    transfer(payer.address, payer.address, 7n),
    memo(new Uint8Array(9)),
  ])
  const wire = Buffer.from(transaction, "base64")
  const signature = getBase58Decoder().decode(wire.subarray(1, 65))
  const token = await issuer.token()
  let answered = ""
  const post = async (route: string, body: unknown, authorization = `Bearer ${token}`): Promise<void> => {
    const response = await postJson(`${service.url}/transactions/v1/${route}?note=${signature}`, body, {
      authorization,
    })
    answered += await response.text()
  }

  const message = messageOf(transaction)
  const accounts = { addresses: [account] }
  const data = { err: { InstructionError: [0, "x"] }, logs: [programLog], accounts: [account] }
  for (const script of [
    (r: Parameters<typeof result>[0]) => rpcError(r, { code: -32002, message: `at ${rpc.url} with ${rpcKey}`, data }),
    (r: Parameters<typeof result>[0]) => result(r, JSON.stringify(signature)),
    (r: Parameters<typeof result>[0]) => result(r, `{"context":{"slot":1},"value":{"logs":["${programLog}"]}}`),
    () => ({ after: "reset" as const }),
    () => ({ write: "nonsense\r\n\r\n", after: "end" as const }),
  ]) {
    rpc.script(script)
    await post("send", { transaction })
    await post("simulate", { transaction, accounts })
    await post("fee", { message })
    await post("signature-status", { signature })
  }
  await post("send", { transaction: `${transaction}x` })
  await post("send", `{"transaction":"${transaction}"`)
  await post("send", { transaction, [transaction]: 1 })
  await post("send", { transaction }, `Bearer ${token}x`)
  await post("send", { transaction }, token)
  expect(await service.stop()).toBe(0)

  const logs = service.child.stdout() + service.child.stderr()
  const records = usage.received.map(({ url, body }) => url + body.toString("latin1")).join()
  const telemetry = collector.received
    .map(({ url, headers, body }) => url + JSON.stringify(headers) + body.toString("latin1"))
    .join()
  // The test proves something only if these aren't empty, and the secrets were used.
  expect(records.match(/"event_id"/g)).toHaveLength(23)
  expect(telemetry).toContain("svc.transaction.denials.total")
  expect(telemetry).toContain("provider simulateTransaction")
  expect(logs.match(/"msg":"request"/g)).toHaveLength(25)
  expect(answered).toContain(signature)
  expect(answered).toContain(programLog)

  const secrets = [
    ...spellings(wire),
    ...spellings(wire.subarray(1, 65)),
    ...spellings(wire.subarray(65)),
    signature.slice(0, 40),
    signature.slice(-40),
    transaction.slice(100, 140),
    ...token.split("."),
    payer.address,
    account,
    programLog,
    rpcKey,
    usageToken,
  ]
  for (const [where, text] of Object.entries({ logs, records, telemetry })) {
    for (const secret of secrets) expect([where, text.includes(secret), secret]).toEqual([where, false, secret])
  }
  expect(answered).not.toContain(rpcKey)
  expect(answered).not.toContain(rpc.url)
  expect(usage.received.every(({ headers }) => headers.authorization === `Bearer ${usageToken}`)).toBe(true)
})
