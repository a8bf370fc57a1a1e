import manifest from "../package.json" with { type: "json" }
import { createHash } from "node:crypto"
import { rawGet } from "./start.ts"

/** The headers that today's clients send by themselves. */
export const clients: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  curl: { "user-agent": "curl/8.14.1", accept: "*/*" },
  fetch: { accept: "*/*", "accept-language": "*", "sec-fetch-mode": "cors", "accept-encoding": "gzip, deflate" },
  mcp: { accept: "application/json, text/event-stream", "accept-encoding": "gzip, deflate" },
  markdown: { accept: "text/markdown, text/plain;q=0.9, */*;q=0.1" },
}

export const paths = [
  "/llms-full.txt",
  "/index.md",
  "/index",
  "/guides",
  "/guides/",
  "/guides.md",
  "/guides/one",
  "/guides/one.md",
  "/mit%20leerzeichen.md",
  "/mcp.md",
  "/skill.md",
  "/agent.md",
  "/skills/svc/SKILL.md",
  "/.well-known/agent-skills/index.json",
  "/cli/svc.tgz",
  "/nothing",
  "/health",
]

const { version } = manifest

// What differs from one answer to the next.
const passing = new Set(["date", "x-request-id", "connection", "keep-alive"])

/** An answer as it came: status, headers in their order (their names in lower case, as nobody may tell them apart), and a hash of the bytes. */
export const answerAt = async (
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> => {
  const { status, rawHeaders, body } = await rawGet(port, path, headers)
  const lines = [String(status)]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ""
    if (!passing.has(name)) lines.push(`${name}: ${rawHeaders[i + 1]}`)
  }
  // The version is that of the release whose answers were kept. As text of one character a byte, any bytes stay as they are.
  const text = body.toString("latin1").replaceAll(`"version":"${version}"`, '"version":"1.0.0"')
  const hash = createHash("sha256").update(Buffer.from(text, "latin1")).digest("hex")
  return [...lines, hash.slice(0, 32)].join("\n")
}
