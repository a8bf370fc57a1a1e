import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { longestOverlap as longestOverlapOfCli } from "../apps/cli/src/account/keys.ts"
import { idleMs, mostChanges, mostCharacters } from "../apps/cli/src/mcp/following.ts"
import { usualTimeoutS } from "../apps/cli/src/payments/journal.ts"
import { fileBounds } from "../apps/docs-server/src/corpus/corpus.ts"
import { messageBounds } from "../apps/docs-server/src/mcp/json-rpc.ts"
import { lifetimeMs, maxStreamsPerClient } from "../apps/docs-server/src/mcp/routes.ts"
import { sessionsPerMinute } from "../apps/platform-api/src/auth/guard.ts"
import { maxLiveKeys, maxReplacedKeys } from "../apps/platform-api/src/auth/account-keys.ts"
import { maxWaitingPerOwner, smallBytes } from "../apps/platform-api/src/compiler/compiler.ts"
import { bodyValues } from "../apps/platform-api/src/compiler/tasks.ts"
import { goodForMs } from "../apps/platform-api/src/registry/ast-links.ts"
import { maxFaults } from "../apps/platform-api/src/registry/ast/document-fault.ts"
import { maxPathParts, maxValues } from "../apps/platform-api/src/registry/ast/parse-ast.ts"
import { maxTypeDepth } from "../apps/platform-api/src/registry/ast/rust-type.ts"
import { restMs } from "../apps/platform-api/src/registry/publication.ts"
import { maxListBytes } from "../apps/platform-api/src/registry/registry.ts"
import {
  maxEntityNameBytes,
  maxModuleBytes,
  maxSchemaBytes,
} from "../apps/platform-api/src/registry/types/typed-module.ts"
import { signUpBytes } from "../apps/platform-api/src/routes/accounts/agents.ts"
import { publishableDays } from "../apps/platform-api/src/routes/accounts/keys.ts"
import { bodyLimit } from "../apps/platform-api/src/routes/api.ts"
import { compileMs } from "../apps/platform-api/src/service.ts"
import { commentMs } from "../packages/http/src/event-streams.ts"
import { largeBodyLimit } from "../apps/platform-api/src/routes/change.ts"
import { mostClaims } from "../apps/platform-api/src/work/queue/jobs.ts"
import { stepMs } from "../apps/platform-api/src/work/queue/worker.ts"
import { triedForMs } from "../apps/platform-api/src/work/steps/hook.ts"
import { leaseExtraMs } from "../apps/relay/src/admission.ts"
import { readConfig as relaySettings } from "../apps/relay/src/config.ts"
import { bodyDeadlineMs } from "../apps/relay/src/relay.ts"
import { maxAccounts } from "../apps/relay/src/routes/simulate.ts"
import { readTimeoutMs, sendTimeoutMs } from "../packages/client/src/relay/relay.ts"
import { memory } from "../packages/client/src/submit/judge.ts"
import { mostAhead } from "../packages/http/src/connections/connections.ts"
import { freeChunks, leastBytesPerChunk } from "../packages/http/src/requests/body.ts"
import { addressesPerNetwork } from "../packages/limits/src/address-prefixes.ts"
import { connectionsPerAddress } from "../packages/local-stream/src/server/server.ts"
import { mostRecords } from "../packages/local-stream/src/stack/records.ts"
import { mostPageSections, mostPageTokens, searchDocs } from "../packages/mcp/src/documentation.ts"
import { leewaySeconds, maxLifetimeSeconds, maxTokenBytes } from "../packages/session-token/src/verify.ts"
import { idleMinutes } from "../packages/site/browser/console/session.ts"
import { longestRendered } from "../packages/site/src/render-page.ts"

const root = join(import.meta.dirname, "..")

const grouped = (value: number): string => value.toLocaleString("en-US")
const kib = (value: number): string => `${value / 1024} KiB`
const mib = (value: number): string => `${value / 1024 ** 2} MiB`
const seconds = (value: number): string => String(value / 1000)
const minutes = (value: number): string => String(value / 60_000)
const inDays = (value: number): string => `${value / 86_400_000} days`
const hours = (value: number): string => (value === 3_600_000 ? "an hour" : `${value / 3_600_000} hours`)
const times = (value: number): string => ["", "once", "twice", "three times"][value] ?? `${value} times`

/** A bound of a request's field, as the platform's document has it. */
const described = (name: string, bound: "maximum" | "default"): number => {
  const found: unknown[] = []
  JSON.parse(
    readFileSync(join(root, "apps/platform-api/openapi.json"), "utf8"),
    (key, value: Record<string, unknown>) => {
      const schema = (value?.["schema"] ?? value) as Record<string, unknown>
      if ((key === name || value?.["name"] === name) && schema?.[bound] !== undefined) found.push(schema[bound])
      return value
    },
  )
  return Number(found[0])
}
const overlap = described("overlap_seconds", "maximum")
const usualOverlap = described("overlap_seconds", "default")
const days = described("expires_in_days", "maximum")
const page = described("limit", "maximum")
const usualPage = described("limit", "default")
const offset = described("offset", "maximum")
const usageDays = described("days", "maximum")
const blocks = Number(memory)
const { timeoutMs } = await relaySettings({})

type Bound = readonly [file: string, text: string, value: number, say: (value: number) => string]

const skill = "apps/docs-server/content/skills/svc-build/SKILL.md"
/** What texts outside the code say, with `#` in the bound's place. Files without a folder are pages. */
const bounds: readonly Bound[] = [
  ["limits.md", "| Active keys | #, and", maxLiveKeys, String],
  ["keys.md", "At most # active keys", maxLiveKeys, String],
  ["errors.md", "The account has # active keys", maxLiveKeys, String],
  ["limits.md", "and # replaced ones", maxReplacedKeys, String],
  ["keys.md", "at most # replaced keys", maxReplacedKeys, String],
  ["errors.md", "or # replaced keys", maxReplacedKeys, String],
  ["limits.md", "| 0–# seconds", overlap, grouped],
  ["keys.md", "0–# (a week)", overlap, String],
  ["limits.md", "seconds, default # |", usualOverlap, grouped],
  ["keys.md", "(a week), default #:", usualOverlap, String],
  ["limits.md", "`expires_in_days` (1–#)", days, String],
  ["keys.md", "| 1–#; if omitted", days, String],
  ["apps/cli/src/usage/options.ts", "1 to #", days, String],
  ["apps/cli/src/usage/options.ts", 'takes: numberUpTo(#), help: "how many days', usageDays, String],
  ["packages/client/src/platform/platform.ts", "`days` is 1 to #", usageDays, String],
  ["keys.md", "days=7` (1 to #,", usageDays, String],
  ["packages/client/src/platform/platform.ts", "`limit` is 1 to # (", page, String],
  ["packages/client/src/platform/platform.ts", "(default #), `offset`", usualPage, String],
  ["limits.md", "| `limit` 1–#,", page, String],
  ["records.md", "(1–#, default", page, String],
  ["registry.md", "| 1–#,", page, String],
  ["limits.md", "default #; `offset`", usualPage, String],
  ["records.md", "default #) and `offset`", usualPage, String],
  ["limits.md", "`offset` up to #;", offset, grouped],
  ["records.md", "(at most #)", offset, grouped],
  ["registry.md", "| 0–#, default 0", offset, grouped],
  ["limits.md", "ends early at # |", maxListBytes, mib],
  ["registry.md", "when it reaches #", maxListBytes, mib],
  ["limits.md", "| Request body | # and", bodyLimit, kib],
  ["errors.md", "The body is over #; 4 KiB to sign up", bodyLimit, kib],
  ["errors.md", "KiB; # to sign up", signUpBytes, kib],
  ["apps/platform-api/src/errors.ts", "The limit is #, or", bodyLimit, kib],
  ["limits.md", "| Request body | 64 KiB and 1,000 members and elements; # to sign up", signUpBytes, kib],
  ["agents.md", "The body is over # |", signUpBytes, kib],
  ["limits.md", "; # of uncompressed JSON", largeBodyLimit, mib],
  ["errors.md", "or # uncompressed", largeBodyLimit, mib],
  ["publishing.md", "with an AST may have #,", largeBodyLimit, mib],
  [skill, "the file is # at most", largeBodyLimit, mib],
  ["apps/platform-api/src/errors.ts", "or # for a body with an AST", largeBodyLimit, mib],
  ["limits.md", "| AST | # members and elements", maxValues, grouped],
  ["limits.md", "# of entity names", maxEntityNameBytes, kib],
  ["limits.md", "a derived schema of #", maxSchemaBytes, mib],
  ["limits.md", "types of # in each language", maxModuleBytes, mib],
  ["publishing.md", "the first # faults", maxFaults, String],
  [skill, "at most # deep", maxTypeDepth, String],
  [skill, "at most # parts", maxPathParts, String],
  ["limits.md", "Large requests (over #)", smallBytes, kib],
  ["limits.md", "wait to be read | #, then 429", maxWaitingPerOwner, String],
  ["publishing.md", "the link expires after #", goodForMs, hours],
  ["docs/operations.md", "which is a credential for #", goodForMs, hours],
  ["infra/deploy-hook-receiver.ts", "is valid for #", goodForMs, hours],
  ["apps/platform-api/src/routes/specs/ast-link.ts", "It is valid for #", goodForMs, hours],
  ["publishing.md", "within # minutes, the change fails", triedForMs, minutes],
  ["docs/operations.md", "for # minutes, with the same `webhook-id`", triedForMs, minutes],
  ["infra/deploy-hook-receiver.ts", "for # minutes", triedForMs, minutes],
  ["errors.md", "had it in the last # | Choose another name", restMs, inDays],
  ["errors.md", "had it in the last # | Choose another |", restMs, inDays],
  ["publishing.md", "reserved for #", restMs, inDays],
  [skill, "in the last #", restMs, inDays],
  ["apps/platform-api/src/errors.ts", "reserved for #", restMs, inDays],
  ["apps/cli/src/mcp/result.ts", "reserved for #", restMs, inDays],
  ["docs/operations.md", "of heap or # seconds is rejected", compileMs, seconds],
  ["docs/operations.md", "takes all of its # seconds", stepMs, seconds],
  ["docs/operations.md", "seconds # in a row", mostClaims, times],
  ["notifications.md", "every # seconds", commentMs, seconds],
  ["limits.md", "# per client address", maxStreamsPerClient, String],
  ["packages/client/src/platform/changes.ts", "at least a comment every # s", commentMs, seconds],
  ["packages/client/src/platform/session.ts", "over # a minute", sessionsPerMinute, String],
  ["streams.md", "# connections", connectionsPerAddress, String],
  ["limits.md", "# minutes each", lifetimeMs, minutes],
  ["limits.md", "publishable key | # days", publishableDays, String],
  ["keys.md", "key expires after # days", publishableDays, String],
  ["limits.md", "| Request body | 64 KiB and # members", bodyValues, grouped],
  ["limits.md", "| Chunks of a request body | # bytes on average", leastBytesPerChunk, String],
  ["limits.md", "on average after # chunks", freeChunks, String],
  ["limits.md", "| Pipelined requests | # ahead", mostAhead, String],
  ["limits.md", "all of a /48 together have # times", addressesPerNetwork, String],
  ["limits.md", "| Time for the body to arrive | # s", bodyDeadlineMs, seconds],
  ["limits.md", "| Session token | # |", maxTokenBytes, kib],
  ["errors.md", "The body didn't arrive within # seconds", bodyDeadlineMs, seconds],
  ["errors.md", "| Over # addresses", maxAccounts, String],
  ["sessions.md", "with # seconds of leeway", leewaySeconds, String],
  ["packages/program/src/requests.ts", "session tokens allow # s", leewaySeconds, String],
  ["sessions.md", "is at most #;", maxLifetimeSeconds, String],
  ["operations.md", "after the route's timeout and # seconds", leaseExtraMs, seconds],
  ["limits.md", "| `fetch_page` | # tokens a part", mostPageTokens, grouped],
  ["apps/cli/src/usage/options.ts", "of the response, up to #", mostPageTokens, String],
  [
    "apps/cli/src/usage/options.ts",
    "number of results, 1 to #",
    searchDocs.input.shape.limit.unwrap().maxValue ?? 0,
    String,
  ],
  ["mcp-server.md", "`max_tokens` (at most #)", mostPageTokens, grouped],
  ["limits.md", "the first # of the page", mostPageSections, String],
  ["configuration.md", "A file has at most #", fileBounds.bytes, mib],
  ["configuration.md", "its front matter # characters", fileBounds.frontMatter, grouped],
  ["configuration.md", "a page of more than # characters is shown", longestRendered, grouped],
  ["limits.md", "| Request body | #, 500 values, 32 levels", messageBounds.bytes, kib],
  ["limits.md", "| 64 KiB, # values", messageBounds.values, String],
  ["limits.md", "values, # levels of nesting", messageBounds.depth, String],
  ["errors.md", "is kept: # minutes without a call", idleMs, minutes],
  ["errors.md", "without a call, # changes", mostChanges, grouped],
  ["errors.md", "changes, # of them", mostCharacters, mib],
  ["client.md", "after # seconds, a send", readTimeoutMs, seconds],
  ["client.md", "a send after #.", sendTimeoutMs, seconds],
  ["packages/client/src/relay/relay.ts", "Reads end within # seconds", readTimeoutMs, seconds],
  ["packages/client/src/relay/relay.ts", "a send within #.", sendTimeoutMs, seconds],
  ["relay.md", "(the relay waits # s for its provider)", timeoutMs.send, seconds],
  ["self-hosting.md", "a send can take #.", timeoutMs.send, seconds],
  ["client.md", "`journal-stale`: # blocks have passed", blocks, grouped],
  ["client.md", "more than # blocks past", blocks, grouped],
  ["client.md", "# blocks after it", blocks, grouped],
  ["payments.md", "After more than # blocks", blocks, grouped],
  ["payments.md", "history of the last # blocks", blocks, grouped],
  ["apps/cli/src/usage/options.ts", "(default #) with exit code 3", usualTimeoutS, String],
  ["command-line.md", "after `--timeout` (# s)", usualTimeoutS, String],
  ["console.md", "and so do # minutes without use", idleMinutes, String],
  ["console.md", "if less than # minutes have passed", idleMinutes, String],
  ["packages/local-stream/README.md", "At most # records of an entity", mostRecords, grouped],
]

test.each(bounds)("%s states the code's limit: %s", (file, text, value, say) => {
  const path = file.includes("/") ? file : `apps/docs-server/content/${file}`
  expect(readFileSync(join(root, path), "utf8").replaceAll(/\s+/g, " ")).toContain(text.replace("#", say(value)))
})

test("the command line accepts the same maximum overlap as the platform", () => {
  expect(longestOverlapOfCli).toBe(overlap)
})

test("svc-client waits longer for the relay than the relay waits for its provider", () => {
  expect(readTimeoutMs).toBeGreaterThan(Math.max(timeoutMs.inspect, timeoutMs.status))
  expect(sendTimeoutMs).toBeGreaterThan(timeoutMs.send)
})
