// Facts of the code that pages contain, by the name that pages write in braces.
import cli from "../apps/cli/package.json" with { type: "json" }
import { tools } from "../apps/docs-server/src/mcp/tools.ts"
import { auditActions } from "../apps/platform-api/src/audit.ts"
import { sessionsPerMinute } from "../apps/platform-api/src/auth/guard.ts"
import { usageKeys } from "../apps/platform-api/src/auth/usage.ts"
import { mostLookedThrough } from "../apps/platform-api/src/registry/changes.ts"
import { readSettings } from "../apps/platform-api/src/config.ts"
import { streamsPerAccount, streamsPerAddress } from "../apps/platform-api/src/routes/registry/changes.ts"
import { hookBody } from "../apps/platform-api/src/work/steps/hook-call.ts"
import { commitment } from "../apps/relay/src/routes/fields.ts"
import { routes } from "../apps/relay/src/routes/table.ts"
import { sessionLifetimeSeconds } from "@svc/session-token"

const coded = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ")
const nameOf = ({ path }: (typeof routes)[number]): string => path.split("/").at(-1) ?? ""
const listed = (chosen: typeof routes): string => chosen.map(nameOf).join(", ")
const methodOf = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

export const makeFacts = () => {
  const { changesDays, signupsPerHour, perMinute } = readSettings({})
  return {
    version: cli.version,
    oldest_node: cli.engines.node.replace(/\D/g, ""),
    session_token_seconds: String(sessionLifetimeSeconds),
    session_token_minutes: String(sessionLifetimeSeconds / 60),
    // For tokens that are still valid, and clocks that differ.
    rollback_wait_minutes: String(sessionLifetimeSeconds / 60 + 1),
    sessions_per_minute: String(sessionsPerMinute),
    changes_looked_through: mostLookedThrough.toLocaleString("en-US"),
    usage_keys: usageKeys.toLocaleString("en-US"),
    sign_ups_per_hour: String(signupsPerHour),
    registry_reads_per_minute: String(perMinute.registry),
    keyed_registry_reads_per_minute: perMinute.keyedRegistry.toLocaleString("en-US"),
    change_streams_per_address: String(streamsPerAddress),
    change_streams_per_account: String(streamsPerAccount),
    changes_days: String(changesDays),
    audit_actions: coded(auditActions),
    commitments: coded(commitment.options),
    deploy_hook_events: coded(hookBody.shape.type.options),
    mcp_tools: coded(tools.map(({ name }) => name)),
    relay_methods: coded(routes.map((route) => methodOf(nameOf(route)))),
    relay_routes: listed(routes),
    relay_inspect_routes: listed(routes.filter((route) => route.class === "inspect")),
    relay_status_routes: listed(routes.filter((route) => route.class === "status")),
    relay_routes_but_send: listed(routes.filter((route) => route.class !== "send")),
  }
}
