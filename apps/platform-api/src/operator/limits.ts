import type { SessionLimits } from "@svc/session-token"
import { audit } from "../audit.ts"
import { and, asc, eq, type Orm, type Queries, theRow } from "../db/database.ts"
import { agentProfiles, stacks, tokenLimits, users } from "../db/schema/index.ts"
import { CommandError } from "./command-error.ts"

/** The option of `limits set` for each limit that a token can carry. */
export const limitOptions = {
  max_transaction_inspect_requests_per_minute: "inspect-per-minute",
  max_transaction_send_requests_per_minute: "send-per-minute",
  max_transaction_status_requests_per_minute: "status-per-minute",
  max_transaction_request_bytes: "request-bytes",
  max_transaction_bytes: "transaction-bytes",
  max_transaction_concurrency: "concurrency",
} as const satisfies Record<keyof SessionLimits, string>

/** New values by name. Null removes a limit. Other limits stay. */
export type LimitChange = { readonly [Name in keyof SessionLimits]?: number | null }

const largest = 2_147_483_647

/** Parses a number or `none`. Throws CommandError. */
export const readLimit = (option: string, text: string): number | null => {
  if (text === "none") return null
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Infinity
  if (value > largest) throw new CommandError("usage", `--${option} takes a number from 0 to ${largest}, or none`)
  return value
}

const checkSubject = async (tx: Orm, subject: string): Promise<void> => {
  const [, kind, name = ""] = /^(agent|user|stack):(.+)$/s.exec(subject) ?? []
  if (kind === "agent") {
    if ((await tx.$count(agentProfiles, eq(agentProfiles.slug, name))) > 0) return
    throw new CommandError("agent-not-found", "the agent wasn't found: `agent list` shows every slug")
  }
  if (kind === "stack") {
    if ((await tx.$count(stacks, eq(stacks.name, name))) > 0) return
    throw new CommandError("stack-not-found", "the stack wasn't found: `stack list` shows every name")
  }
  if (kind !== "user") throw new CommandError("usage", "limits apply to agent:SLUG, user:ID or stack:NAME")
  const id = /^[1-9]\d{0,9}$/.test(name) && Number(name) <= largest ? Number(name) : 0
  if ((await tx.$count(users, and(eq(users.id, id), eq(users.kind, "human")))) > 0) return
  throw new CommandError("user-not-found", "no person's account has this id")
}

const shown = ({ subject, ...limits }: typeof tokenLimits.$inferSelect) => ({
  subject,
  limits: Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)),
})

/** Takes effect with the next token. Issued tokens keep their limits until they expire. Throws CommandError. */
export const setLimits = (queries: Queries, given: string, change: LimitChange, at: Date) =>
  queries.transaction(async (tx) => {
    const subject = given.startsWith("stack:") ? given.toLowerCase() : given
    if (Object.keys(change).length === 0) throw new CommandError("usage", "name at least one limit")
    await checkSubject(tx, subject)
    const stored = await tx
      .insert(tokenLimits)
      .values({ subject, ...change })
      .onConflictDoUpdate({ target: tokenLimits.subject, set: change })
      .returning()
    const answer = shown(theRow(stored))
    if (Object.keys(answer.limits).length === 0) await tx.delete(tokenLimits).where(eq(tokenLimits.subject, subject))
    await audit(tx, { at, actor: "operator", action: "limits.set", target: subject })
    return answer
  })

export const listLimits = async (queries: Queries) => {
  const rows = await queries.run((db) => db.select().from(tokenLimits).orderBy(asc(tokenLimits.subject)))
  return rows.map(shown)
}
