// `pnpm start`: every service of this repository, wired to each other, until Ctrl-C.
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

const platform = planned.find(({ service }) => service.name === "platform")
const built = buildTool(root)
// One after the other: each opens the embedded database.
const developerKey = platform === undefined ? undefined : await makeDeveloper(root, platform.env)
const ready = await withViewerKey(planned)
const running = supervise(ready, { root, write: say, patienceMs: 120_000, before: { docs: built } })
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
  const lines = planned.map(({ service, url }) => `  ${service.name.padEnd(10)}${url.padEnd(25)}${service.offers}`)
  const docs = planned.find(({ service }) => service.name === "docs")
  const tool = `npx -y ${docs?.url}/cli/svc.tgz`
  say(["", "All services are up.", "", ...lines, ""].join("\n"))
  if (platform !== undefined && docs !== undefined) {
    const steps = [`${tool} auth signup`, `${tool} watch transfers`]
    if (developerKey !== undefined)
      say(`To publish stacks, log in as the developer:\n\n  ${tool} auth login < ${developerKey}\n`)
    say(["Try this first: an agent signs up, then watches transfers arrive.", "", ...steps, ""].join("\n  "))
  }
  say("Ctrl-C stops them all.\n")
}
process.exitCode = await running.ended
