import { authLogin, authLogout, authSignup, authStatus } from "./account/auth.ts"
import type { Context, Outcome } from "./context.ts"
import { fetchDocs, searchDocs } from "./docs/docs.ts"
import { explore } from "./explore/explore.ts"
import { init } from "./docs/init.ts"
import { check, lock } from "./lock/lock.ts"
import { listKeys, mintKey, mintPublishableKey, revokeKey, rotateKey } from "./account/keys.ts"
import { builds, deployments, runs, specs } from "./publish/owners.ts"
import type { OptionName } from "./usage/options.ts"
import { forgetPayment, listPayments, settlePayments, showPayment } from "./payments/payments.ts"
import { push } from "./publish/push.ts"
import { send } from "./payments/send.ts"
import { mintSession } from "./account/session.ts"
import { simulate } from "./payments/simulate.ts"
import { status } from "./payments/status.ts"
import { checkStream } from "./stream/check.ts"
import { diff, types, versions } from "./explore/versions.ts"
import { watch } from "./stream/watch.ts"

/** One command: how it is called, what its help says and what runs. */
export type Command = {
  /** Its words, as typed. */
  readonly name: string
  /** Its arguments as the help shows them; how many there may be is in `least` and `most`. */
  readonly usage: string
  readonly least: number
  readonly most: number
  readonly options: readonly OptionName[]
  readonly summary: string
  readonly details?: string
  readonly examples: readonly string[]
  /** Undefined for a command that has written its output as it went. */
  readonly run: (context: Context) => Promise<Outcome | undefined>
}

/** All commands but `completion`, which is made from them. */
export const commands: readonly Command[] = [
  {
    name: "explore",
    usage: "[STACK [ENTITY]]",
    least: 0,
    most: 2,
    options: ["at"],
    summary: "the live registry: stacks, entities, fields, types, views",
    details: "Ground truth for code that reads a stack. ENTITY in upper or lower case.",
    examples: ["svc explore --json", "svc explore transfers", "svc explore transfers Transfer --json"],
    run: explore,
  },
  {
    name: "versions",
    usage: "STACK",
    least: 1,
    most: 1,
    options: [],
    summary: "what a stack was: its versions, newest first",
    examples: ["svc versions transfers", "svc explore transfers --at 1 --json"],
    run: versions,
  },
  {
    name: "diff",
    usage: "STACK",
    least: 1,
    most: 1,
    options: ["from", "to"],
    summary: "what changed between two versions, and whether it breaks readers",
    examples: ["svc diff transfers", "svc diff transfers --from 1 --to 3 --json"],
    run: diff,
  },
  {
    name: "types",
    usage: "STACK",
    least: 1,
    most: 1,
    options: ["language", "output", "at"],
    summary: "a module with the stack's types, for a program to import",
    examples: ["svc types transfers --output transfers.ts", "svc types transfers --language python --json"],
    run: types,
  },
  {
    name: "lock",
    usage: "STACK…",
    least: 1,
    most: 100,
    options: [],
    summary: "write down in svc.lock.json which versions this project is written for",
    examples: ["svc lock transfers token-swaps"],
    run: lock,
  },
  {
    name: "check",
    usage: "",
    least: 0,
    most: 0,
    options: ["watch", "fail-on"],
    summary: "whether what the registry serves now breaks what is locked; exit 1 when it does",
    examples: ["svc check --json", "svc check --watch --fail-on breaking"],
    run: check,
  },
  {
    name: "push",
    usage: "FILE",
    least: 1,
    most: 1,
    options: ["name", "websocket-url", "visibility", "allow-breaking", "branch"],
    summary: "publish a stack's AST as its next version, and follow that to its end",
    details:
      "With a person's key (svc_sk_). What breaks readers waits for svc runs resume ID: then exit 1, run-waiting.",
    examples: [
      "svc push stack.json --name transfers --websocket-url wss://stack.example/transfers --visibility public",
    ],
    run: push,
  },
  {
    name: "specs",
    usage: "",
    least: 0,
    most: 0,
    options: [],
    summary: "the specs that the key's owner has",
    examples: ["svc specs --json"],
    run: specs,
  },
  {
    name: "builds",
    usage: "[ID]",
    least: 0,
    most: 1,
    options: [],
    summary: "builds, or one with its events",
    examples: ["svc builds", "svc builds 7 --json"],
    run: builds,
  },
  {
    name: "deployments",
    usage: "[ID | stop ID | restart ID | rollback ID | delete ID]",
    least: 0,
    most: 2,
    options: ["to", "wait"],
    summary: "deployments, one of them, or what is to be done to it",
    examples: ["svc deployments", "svc deployments stop 3", "svc deployments rollback 3 --to 2 --wait"],
    run: deployments,
  },
  {
    name: "runs",
    usage: "[ID | resume ID | retry ID | cancel ID]",
    least: 0,
    most: 2,
    options: ["wait"],
    summary: "workflow runs, one with its steps, or what is to be done to it",
    examples: ["svc runs", "svc runs 12 --json", "svc runs resume 12 --wait"],
    run: runs,
  },
  {
    name: "init",
    usage: "",
    least: 0,
    most: 0,
    options: ["dir", "relay-url"],
    summary: "install the skill files for agents into this project",
    details:
      "Writes .agents/skills, and .claude/skills where the project has a .claude folder. Given --api-url, --docs-url, --relay-url\n" +
      "are kept in the configuration file. Running it again changes nothing that is up to date.",
    examples: ["svc init", "svc init --api-url https://api.example --docs-url https://docs.example --json"],
    run: init,
  },
  {
    name: "auth signup",
    usage: "",
    least: 0,
    most: 0,
    options: ["name", "force"],
    summary: "register an agent and keep its key",
    examples: ["svc auth signup", 'svc auth signup --name "My agent" --json'],
    run: authSignup,
  },
  {
    name: "auth login",
    usage: "< FILE-WITH-THE-KEY",
    least: 0,
    most: 0,
    options: [],
    summary: "check a key from the standard input and keep it",
    examples: ["svc auth login < key.txt"],
    run: authLogin,
  },
  {
    name: "auth status",
    usage: "",
    least: 0,
    most: 0,
    options: [],
    summary: "who the key belongs to; exit 1 when there is nobody",
    examples: ["svc auth status --json"],
    run: authStatus,
  },
  {
    name: "auth logout",
    usage: "",
    least: 0,
    most: 0,
    options: [],
    summary: "forget the kept key (it stays valid: see keys revoke)",
    examples: ["svc auth logout"],
    run: authLogout,
  },
  {
    name: "keys list",
    usage: "",
    least: 0,
    most: 0,
    options: [],
    summary: "this agent's keys, without the keys themselves",
    examples: ["svc keys list --json"],
    run: listKeys,
  },
  {
    name: "keys mint",
    usage: "",
    least: 0,
    most: 0,
    options: ["name", "expires-in-days", "save"],
    summary: "a further secret key, shown once or kept",
    examples: ["svc keys mint --save", "svc keys mint --name ci --expires-in-days 30 --json"],
    run: mintKey,
  },
  {
    name: "keys publishable",
    usage: "",
    least: 0,
    most: 0,
    options: ["origin", "name", "expires-in-days"],
    summary: "a key for the pages of one origin, shown once",
    examples: ["svc keys publishable --origin https://app.example --json"],
    run: mintPublishableKey,
  },
  {
    name: "keys rotate",
    usage: "[ID]",
    least: 0,
    most: 1,
    options: ["overlap", "name", "save"],
    summary: "a successor for a key; both work until the overlap is over",
    details:
      "Without ID the key in use, whose successor is kept in its place at once. With ID the new key is shown, or kept\n" +
      "with --save. Give the key in use an overlap of 60 seconds or more; without --overlap it is the API's, an hour.",
    examples: ["svc keys rotate", "svc keys rotate 7 --overlap 10m --json", "svc keys rotate 7 --overlap 0 --save"],
    run: rotateKey,
  },
  {
    name: "keys revoke",
    usage: "ID",
    least: 1,
    most: 1,
    options: [],
    summary: "end a key for good",
    examples: ["svc keys revoke 7"],
    run: revokeKey,
  },
  {
    name: "docs search",
    usage: "QUERY",
    least: 1,
    most: 50,
    options: ["limit", "cursor"],
    summary: "find pages of the documentation",
    examples: ["svc docs search rotate a key", "svc docs search origin-invalid-scheme --limit 3 --json"],
    run: searchDocs,
  },
  {
    name: "docs fetch",
    usage: "SLUG",
    least: 1,
    most: 1,
    options: ["section", "max-tokens", "cursor"],
    summary: "one page of the documentation, as Markdown",
    examples: ["svc docs fetch getting-started", "svc docs fetch errors --section platform-api --json"],
    run: fetchDocs,
  },
  {
    name: "session",
    usage: "WEBSOCKET_URL",
    least: 1,
    most: 1,
    options: ["scope"],
    summary: "a session token for one stack, valid for a few minutes",
    details: "The WebSocket URL is the stack's in svc explore. Without --scope the token may read.",
    examples: ["svc session wss://stack.example/transfers --json"],
    run: mintSession,
  },
  {
    name: "watch",
    usage: "STACK [VIEW]",
    least: 1,
    most: 2,
    options: ["key", "take", "once"],
    summary: "a stack's live records: a table on a terminal, else one JSON object a line",
    details:
      'Without VIEW the first one that the stack defines. A line is {"op", "key", "record"}; op is snapshot, upsert or delete.\n' +
      "It reconnects by itself. Ctrl-C ends it with exit code 0.",
    examples: ["svc watch transfers", "svc watch transfers Wallet/list --once --json", "svc watch transfers --take 5"],
    run: watch,
  },
  {
    name: "stream check",
    usage: "WS_URL",
    least: 1,
    most: 1,
    options: ["stack", "wait"],
    summary: "whether a stream server keeps the rules of the page Streams; exit 1 when it breaks one",
    details: "Checks tokens, messages and every view of the stack. With --wait also a token's end, five minutes later.",
    examples: ["svc stream check wss://streams.example/my-stack --stack my-stack --json"],
    run: checkStream,
  },
  {
    name: "send",
    usage: "[FILE|-]",
    least: 0,
    most: 1,
    options: ["stack", "websocket-url", "relay-url", "id", "journal", "last-valid-block-height", "timeout"],
    summary: "hand over a signed transaction and find out what became of it",
    details:
      "FILE or the standard input holds its bytes, raw or as base64. With --id it is kept before it is sent, and other bytes of\n" +
      "the same payment are sent only after these have expired. Exit 0: landed; 1: landed and failed, not submitted, or\n" +
      "expired; 3: undecided, with the command that goes on.",
    examples: [
      "svc send transaction.bin --id invoice-42 --stack transfers",
      "svc send --stack transfers --json < transaction.base64",
    ],
    run: send,
  },
  {
    name: "payments list",
    usage: "",
    least: 0,
    most: 0,
    options: ["journal"],
    summary: "the payments that svc send --id has kept",
    examples: ["svc payments list --json"],
    run: listPayments,
  },
  {
    name: "payments show",
    usage: "ID",
    least: 1,
    most: 1,
    options: ["journal"],
    summary: "one payment",
    examples: ["svc payments show invoice-42 --json"],
    run: showPayment,
  },
  {
    name: "payments settle",
    usage: "[ID]",
    least: 0,
    most: 1,
    options: ["stack", "websocket-url", "relay-url", "journal", "timeout"],
    summary: "find out what became of an open payment, or of all, and send their kept bytes again",
    details:
      "It signs nothing. Exit 0: all of them landed, or none is open; 1: one failed or has expired; 3: one is undecided.",
    examples: ["svc payments settle --stack transfers", "svc payments settle invoice-42 --stack transfers --json"],
    run: settlePayments,
  },
  {
    name: "payments forget",
    usage: "ID",
    least: 1,
    most: 1,
    options: ["journal", "force"],
    summary: "free the id of a payment that has landed or expired: the next one under it is a new payment",
    details: "With --force also one that may still land or can't be read: look on the chain first whether it was paid.",
    examples: ["svc payments forget invoice-42"],
    run: forgetPayment,
  },
  {
    name: "status",
    usage: "SIGNATURE",
    least: 1,
    most: 1,
    options: ["stack", "websocket-url", "relay-url"],
    summary: "what became of a transaction; exit 0 landed, 1 failed, 3 not found",
    examples: ["svc status SIGNATURE --stack transfers --json"],
    run: status,
  },
  {
    name: "simulate",
    usage: "[FILE|-]",
    least: 0,
    most: 1,
    options: ["stack", "websocket-url", "relay-url"],
    summary: "try a transaction out, signed or not; exit 1 when it would fail",
    examples: ["svc simulate transaction.bin --stack transfers --json"],
    run: simulate,
  },
]
