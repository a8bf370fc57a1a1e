// The image's health check: asks the service in the working directory whether it serves. Exit code 0 or 1, nothing else.
import { services } from "./services.ts"

const service = services.find(({ folder }) => process.cwd().endsWith(`/${folder}`))
const configuredHost = process.env["HOST"] ?? ""
const host = ["", "0.0.0.0", "::"].includes(configuredHost) ? "127.0.0.1" : configuredHost
const port = process.env["PORT"] || service?.defaultPort

try {
  const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
  const response = await fetch(`http://${authority}${service?.livePath}`, { signal: AbortSignal.timeout(4000) })
  process.exitCode = response.ok ? 0 : 1
} catch {
  process.exitCode = 1
}
