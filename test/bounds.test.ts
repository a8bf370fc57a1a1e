import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { longestOverlap as longestOverlapOfCli } from "../apps/cli/src/account/keys.ts"
import { lifetimeMs, maxStreams, maxStreamsPerClient } from "../apps/docs-server/src/mcp/streams.ts"
import { mostLiveKeys, mostReplacedKeys } from "../apps/platform-api/src/auth/account-keys.ts"
import { mostWaitingOfOwner, smallBytes } from "../apps/platform-api/src/compiler/compiler.ts"
import { goodForMs } from "../apps/platform-api/src/registry/ast-links.ts"
import { mostFaults } from "../apps/platform-api/src/registry/ast/document-fault.ts"
import { mostValues } from "../apps/platform-api/src/registry/ast/json-value.ts"
import { mostParts } from "../apps/platform-api/src/registry/ast/parse-ast.ts"
import { deepest } from "../apps/platform-api/src/registry/ast/rust-type.ts"
import { mostListBytes } from "../apps/platform-api/src/registry/registry.ts"
import {
  mostEntityNameBytes,
  mostModuleBytes,
  mostSchemaBytes,
} from "../apps/platform-api/src/registry/schema/derived-size.ts"
import { signUpBytes } from "../apps/platform-api/src/routes/accounts/agents.ts"
import { bodyLimit } from "../apps/platform-api/src/routes/api.ts"
import { commentMs } from "../apps/platform-api/src/routes/event-streams.ts"
import { largeBodyLimit } from "../apps/platform-api/src/routes/large-body.ts"
import { mostClaims } from "../apps/platform-api/src/work/queue/jobs.ts"
import { stepMs } from "../apps/platform-api/src/work/queue/worker.ts"
import { triedForMs } from "../apps/platform-api/src/work/steps/hook.ts"
import { connectionsPerAddress } from "../packages/local-stream/src/server/server.ts"

const root = join(import.meta.dirname, "..")
const content = "apps/docs-server/content"
const limits = `${content}/limits.md`

const plain = String
const grouped = (value: number): string => value.toLocaleString("en-US")
const kib = (value: number): string => `${value / 1024} KiB`
const mib = (value: number): string => `${value / 1024 ** 2} MiB`
const seconds = (value: number): string => String(value / 1000)
const minutes = (value: number): string => String(value / 60_000)
const hours = (value: number): string => (value === 3_600_000 ? "an hour" : `${value / 3_600_000} hours`)
const times = (value: number): string => ["", "once", "twice", "three times"][value] ?? `${value} times`

/** A bound of a request's field, as the platform's or the documentation server's document has it. */
const described = (app: string, name: string, bound: "minimum" | "maximum" | "maxLength" | "default"): number => {
  const found: unknown[] = []
  JSON.parse(readFileSync(join(root, `apps/${app}/openapi.json`), "utf8"), (key, value: Record<string, unknown>) => {
    const schema = (value?.["schema"] ?? value) as Record<string, unknown>
    if ((key === name || value?.["name"] === name) && schema?.[bound] !== undefined) found.push(schema[bound])
    return value
  })
  return Number(found[0])
}
const overlap = described("platform-api", "overlap_seconds", "maximum")
const usualOverlap = described("platform-api", "overlap_seconds", "default")
const days = described("platform-api", "expires_in_days", "maximum")
const page = described("platform-api", "limit", "maximum")
const usualPage = described("platform-api", "limit", "default")
const offset = described("platform-api", "offset", "maximum")

/** What a text outside the code says of a bound, with `#` in the bound's place. */
type Bound = readonly [
  name: string,
  value: number,
  say: (value: number) => string,
  texts: Readonly<Record<string, string>>,
]

const bounds: readonly Bound[] = [
  [
    "active keys of an account",
    mostLiveKeys,
    plain,
    {
      [limits]: "| Active keys | #, and",
      [`${content}/keys.md`]: "At most # active keys",
      [`${content}/errors.md`]: "The account has # active keys",
    },
  ],
  [
    "replaced keys of an account",
    mostReplacedKeys,
    plain,
    {
      [limits]: "and # replaced ones",
      [`${content}/keys.md`]: "at most # replaced keys",
      [`${content}/errors.md`]: "or # replaced keys",
    },
  ],
  ["longest overlap", overlap, grouped, { [limits]: "| 0–# seconds" }],
  ["longest overlap", overlap, plain, { [`${content}/keys.md`]: "0–# (a week)" }],
  ["usual overlap", usualOverlap, grouped, { [limits]: "seconds, default # |" }],
  ["usual overlap", usualOverlap, plain, { [`${content}/keys.md`]: "(a week), default #:" }],
  [
    "longest life of a key, in days",
    days,
    plain,
    {
      [limits]: "`expires_in_days` (1–#)",
      [`${content}/keys.md`]: "| 1–#; if omitted",
      "apps/cli/src/usage/options.ts": "1 to #",
    },
  ],
  [
    "rows of a list",
    page,
    plain,
    { [limits]: "| `limit` 1–#,", [`${content}/records.md`]: "(1–#, default", [`${content}/registry.md`]: "| 1–#," },
  ],
  [
    "usual rows of a list",
    usualPage,
    plain,
    { [limits]: "default #; `offset`", [`${content}/records.md`]: "default #) and `offset`" },
  ],
  [
    "offset of a list",
    offset,
    grouped,
    {
      [limits]: "`offset` up to #;",
      [`${content}/records.md`]: "(at most #)",
      [`${content}/registry.md`]: "| 0–#, default 0",
    },
  ],
  [
    "bytes of a list",
    mostListBytes,
    mib,
    { [limits]: "ends early at # |", [`${content}/registry.md`]: "when it reaches #" },
  ],
  [
    "usual body",
    bodyLimit,
    kib,
    {
      [limits]: "| Request body | # and",
      [`${content}/errors.md`]: "The body is over #, or",
      "apps/platform-api/src/errors.ts": "The limit is #, or",
    },
  ],
  [
    "body of a sign-up",
    signUpBytes,
    kib,
    {
      [limits]: "| Request body | 64 KiB and 1,000 members and elements; # to sign up",
      [`${content}/agents.md`]: "The body is over # |",
    },
  ],
  [
    "body with an AST",
    largeBodyLimit,
    mib,
    {
      [limits]: "; # of uncompressed JSON",
      [`${content}/errors.md`]: "or over # uncompressed",
      [`${content}/publishing.md`]: "with an AST may have #,",
      [`${content}/skills/svc-build/SKILL.md`]: "the file is # at most",
      "apps/platform-api/src/errors.ts": "or # for a body with an AST",
    },
  ],
  ["values of an AST", mostValues, grouped, { [limits]: "| AST | # members and elements" }],
  ["entity names", mostEntityNameBytes, kib, { [limits]: "# of entity names" }],
  ["derived schema", mostSchemaBytes, mib, { [limits]: "a derived schema of #" }],
  ["types", mostModuleBytes, mib, { [limits]: "types of # in each language" }],
  ["faults told of an AST", mostFaults, plain, { [`${content}/publishing.md`]: "the first # faults" }],
  ["depth of a type", deepest, plain, { [`${content}/skills/svc-build/SKILL.md`]: "at most # deep" }],
  ["parts of a path", mostParts, plain, { [`${content}/skills/svc-build/SKILL.md`]: "at most # parts" }],
  ["size of a large request", smallBytes, kib, { [limits]: "Large requests (over #)" }],
  ["large requests that wait", mostWaitingOfOwner, plain, { [limits]: "wait to be read | #, then 429" }],
  [
    "life of a link to an AST",
    goodForMs,
    hours,
    {
      [`${content}/publishing.md`]: "the link expires after #",
      "docs/operations.md": "`ast_url` is a credential for #",
      "infra/deploy-hook-receiver.ts": "is good for #",
      "apps/platform-api/src/routes/specs/ast-link.ts": "It is valid for #",
    },
  ],
  [
    "tries of the deploy hook",
    triedForMs,
    minutes,
    {
      [`${content}/publishing.md`]: "within # minutes, the change fails",
      "docs/operations.md": "for # minutes, with the same `webhook-id`",
      "infra/deploy-hook-receiver.ts": "for # minutes",
    },
  ],
  ["one step's time", stepMs, seconds, { "docs/operations.md": "takes all of its # seconds" }],
  ["tries of a job", mostClaims, times, { "docs/operations.md": "seconds # in a row" }],
  ["comments in an event stream", commentMs, seconds, { [`${content}/notifications.md`]: "every # seconds" }],
  ["MCP streams", maxStreams, plain, { [limits]: "| # open," }],
  ["MCP streams of a client", maxStreamsPerClient, plain, { [limits]: "# per client address" }],
  [
    "streams of an address with a publishable key",
    connectionsPerAddress,
    plain,
    { [`${content}/streams.md`]: "# connections" },
  ],
  ["life of an MCP stream", lifetimeMs, minutes, { [limits]: "# minutes each" }],
]

test.each(bounds)("texts have the code's bound: %s", (_name, value, say, texts) => {
  const wrong = Object.entries(texts).filter(([file, phrase]) => {
    const text = readFileSync(join(root, file), "utf8").replaceAll(/\s+/g, " ")
    return !text.includes(phrase.replace("#", say(value)))
  })
  expect(wrong, `the bound is ${say(value)}`).toEqual([])
})

test("the command line takes as long an overlap as the platform", () => {
  expect(longestOverlapOfCli).toBe(overlap)
})
