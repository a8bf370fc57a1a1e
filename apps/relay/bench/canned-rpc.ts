// A provider that costs as little as Node allows: one canned response per method. Prints its port.
import { createServer } from "node:http"
import { getBase58Decoder } from "@solana/kit"

const context = '{"apiVersion":"4.0.0","slot":123456789}'
const latest = `{"context":${context},"value":{"blockhash":"EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N","lastValidBlockHeight":123456}}`
const ids = new Map<string, string>()

const signatureOf = (body: string): string => {
  const transaction = /"params":\["([^"]+)"/.exec(body)?.[1] ?? ""
  let id = ids.get(transaction)
  if (id === undefined)
    ids.set(transaction, (id = getBase58Decoder().decode(Buffer.from(transaction, "base64").subarray(1, 65))))
  return `"${id}"`
}

const server = createServer((request, response) => {
  let body = ""
  request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
  request.on("end", () => {
    const id = /"id":(\d+)/.exec(body)?.[1] ?? "null"
    const result = body.includes("sendTransaction") ? signatureOf(body) : latest
    const text = `{"jsonrpc":"2.0","result":${result},"id":${id}}`
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text)
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(`"port":${typeof address === "object" && address !== null ? address.port : 0}`)
})
