// `pnpm start` runs every service of this repository, connected to each other, until Ctrl-C.
import { existsSync } from "node:fs"
import { join } from "node:path"

import { services } from "../infra/services.ts"
import { buildTool } from "./running/build-tool.ts"
import { makeDeveloper, withViewerKey } from "./running/kept-keys.ts"
import { planStart } from "./running/start-plan.ts"
import { portIsFree, supervise } from "./running/supervise.ts"

const root = join(import.meta.dirname, "..")
const say = (line: string): void => void process.stdout.write(`${line}\n`)
// A closed terminal closes stdout too. Its SIGHUP stops us, not a failed write.
process.stdout.on("error", () => {})

const present = services.filter(({ folder }) => existsSync(join(root, folder, "src/main.ts")))
const args = process.argv.slice(2)
if (args.length > 0) {
  const ports = present.map(
    ({ name, portVariable, defaultPort }) => `  ${portVariable}   ${name}, by default ${defaultPort}`,
  )
  say(["pnpm start runs all services until Ctrl-C. It takes no arguments; the environment sets:", ...ports].join("\n"))
  say("  SVC_DATA_DIR   where the platform keeps its data, by default apps/platform-api/.data")
  process.exit(args.every((arg) => /^(?:--help|-h)$/.test(arg)) ? 0 : 2)
}
const { planned, problems } = planStart(present, process.env)
const host = process.env["HOST"] || "127.0.0.1"
const taken = await Promise.all(
  planned.map(async ({ service, port }) =>
    problems.length > 0 || (await portIsFree(port, host))
      ? []
      : [`port ${port} for ${service.name} is in use: set ${service.portVariable} to another one`],
  ),
)
const refusals = [...problems, ...taken.flat()]
if (refusals.length > 0) {
  for (const refusal of refusals) console.error(refusal)
  process.exit(1)
}

const [platform, docs] = ["platform", "docs"].map((name) => planned.find(({ service }) => service.name === name))
if (docs !== undefined) say("Building the command-line tool, the client library and the pages' scripts…")
const built = buildTool(root)
if (platform !== undefined) say("Opening the database, with a developer's account and a key for live pages…")
// One after the other, because each opens the embedded database.
const developerKey = platform === undefined ? undefined : await makeDeveloper(root, platform.env)
const ready = await withViewerKey(planned)
say("Starting the services…")
const running = supervise(ready, { root, write: say, isQuiet: true, patienceMs: 120_000, before: { docs: built } })
let signals = 0
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    signals += 1
    if (signals > 1) return running.kill()
    say("stopping; once more to end at once")
    running.stop()
  })
}

if (await running.ready) {
  const lines = (rows: readonly (readonly [string, string])[]) => {
    const width = Math.max(...rows.map(([first]) => first.length))
    return rows.map(([first, about]) => `  ${first.padEnd(width)}   ${about}`)
  }
  const tool = `npx -y ${docs?.url}/cli/svc.tgz`
  const steps = [
    "Open",
    ...lines([
      [`${docs?.url}`, "documentation, live transfers, and the stacks"],
      [`${docs?.url}/console`, "console: create an agent, manage its keys"],
      [`${docs?.url}/mcp`, "MCP endpoint for agents"],
    ]),
    "",
    "Try: an agent signs up, then watches transfers arrive",
    `  ${tool} auth signup`,
    `  ${tool} watch transfers`,
    "",
    ...(developerKey === undefined
      ? []
      : ["Publish stacks as the developer", `  ${tool} auth login < ${developerKey}`, ""]),
  ]
  const addresses = lines(planned.map(({ service, url }) => [url, `${service.name}: ${service.offers}`]))
  say(["", "All services are up.", "", ...(docs && platform ? steps : []), "Services", ...addresses, ""].join("\n"))
  say("Ctrl-C stops them all. Only requests that fail are logged here.\n")
}
process.exitCode = await running.ended
