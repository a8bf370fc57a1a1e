// The image's health check: checks the service in the working directory. Exit code 0 or 1, without output.
import { reachableHost, services } from "./services.ts"

const service = services.find(({ folder }) => process.cwd().endsWith(`/${folder}`))
const port = process.env["SVC_PROBE_PORT"] || process.env["PORT"] || service?.defaultPort

try {
  const url = `http://${reachableHost(process.env["HOST"])}:${port}${service?.livePath}`
  const response = await fetch(url, { signal: AbortSignal.timeout(4000) })
  process.exitCode = response.ok ? 0 : 1
} catch {
  process.exitCode = 1
}
