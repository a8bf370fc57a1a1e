// The rules of the stream protocol, as the page Streams describes them.
import { generateKeyPairSync, sign } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { isObject, type JsonObject, textOf } from "@svc/common/json-object"
import { valueAt } from "@svc/client/records"
import type { ClientOptions } from "ws"
import { connect, type Credentials, type Probe, RuleBroken, RuleSkipped } from "./probe.ts"

export type View = { readonly id: string; readonly mode: string }

export type Subject = {
  readonly url: string
  readonly options: ClientOptions
  readonly views: readonly View[]
  /** Paths of the fields with integers of 64 bits or more, by entity. */
  readonly wideFields: ReadonlyMap<string, readonly string[]>
  /** A token for the stack, always the same one. */
  readonly token: () => Promise<string>
  readonly newToken: () => Promise<string>
  /** These throw RuleSkipped if the platform can't mint such a token. */
  readonly tokenOfOtherStack: () => Promise<string>
  readonly tokenWithoutRead: () => Promise<string>
  readonly wait: boolean
}

export type Rule = { readonly name: string; readonly check: (subject: Subject) => Promise<void> }

const subprotocol = "svc.stream.v1"
const batch = 500

const hold = (isKept: boolean, broken: string): void => {
  if (!isKept) throw new RuleBroken(broken)
}

type Place = Pick<Subject, "url" | "options">

const opened = async ({ url, options }: Place, credentials: Credentials): Promise<Probe> => {
  const probe = await connect(url, options, credentials)
  if ("send" in probe) return probe
  throw new RuleBroken(`rejected with ${probe.status} ${probe.code}`.trimEnd())
}

const expectRefusal = async (
  { url, options }: Place,
  credentials: Credentials,
  status: number,
  code: RegExp,
): Promise<void> => {
  const refusal = await connect(url, options, credentials)
  if ("send" in refusal) {
    refusal.close()
    throw new RuleBroken("the connection was accepted")
  }
  if (refusal.status !== status || !code.test(refusal.code)) {
    const got = `${refusal.status} ${refusal.code === "" ? "without a code" : refusal.code}`
    throw new RuleBroken(`rejected with ${got}, not ${status} ${code.source.replaceAll(/[\^$]/g, "")}`)
  }
}

/** A rule about a connection with the stack's token. */
const onConnection = (name: string, run: (probe: Probe, subject: Subject) => Promise<void>): Rule => ({
  name,
  check: async (subject) => {
    const probe = await opened(subject, { bearer: await subject.token() })
    try {
      await run(probe, subject)
    } finally {
      probe.close()
    }
  },
})

type Row = { readonly key: string; readonly data: unknown }
type Wish = { readonly view: string; readonly key?: string; readonly take?: number; readonly after?: string }

/** Subscribes, and returns the rows of the whole snapshot. */
const snapshotOf = async (probe: Probe, wish: Wish, mode?: string): Promise<readonly Row[]> => {
  probe.send({ type: "subscribe", ...wish })
  const confirmed = await probe.message(
    "subscribed message",
    ({ op, view }) => op === "subscribed" && view === wish.view,
  )
  hold([undefined, confirmed["mode"]].includes(mode), `its mode is ${JSON.stringify(confirmed["mode"])}, not "${mode}"`)
  const rows: Row[] = []
  for (;;) {
    const part = await probe.message("complete snapshot", ({ op, entity }) => op === "snapshot" && entity === wish.view)
    const data: readonly unknown[] = Array.isArray(part["data"]) ? part["data"] : []
    hold(data.length <= batch, `a batch of the snapshot has ${data.length} records, more than ${batch}`)
    for (const row of data) {
      if (!isObject(row) || typeof row["key"] !== "string") throw new RuleBroken("a record of the snapshot has no key")
      rows.push({ key: row["key"], data: row["data"] })
    }
    hold(typeof part["complete"] === "boolean", "a snapshot message doesn't say whether it is complete")
    if (part["complete"]) return rows
  }
}

const expectError = async (probe: Probe, code?: string): Promise<void> => {
  const error: JsonObject = await probe.message("error message", ({ type }) => type === "error")
  const texts = ["error", "message", "code"].filter((name) => (textOf(error, name) ?? "") === "")
  const flags = ["retryable", "fatal"].filter((name) => typeof error[name] !== "boolean")
  const missing = [...texts, ...flags]
  hold(missing.length === 0, `the error lacks ${missing.join(", ")}`)
  hold([undefined, error["code"]].includes(code), `the error's code is ${textOf(error, "code") ?? ""}, not ${code}`)
}

const payloadOf = (token: string): string => token.split(".")[1] ?? ""

/** The same token with another first character of its signature. */
const damaged = (token: string): string => token.replace(/\.[^.](?=[^.]*$)/, (start) => (start === ".A" ? ".B" : ".A"))

/** The same token, signed with a key that isn't the platform's. */
const foreign = (token: string): string => {
  const signed = token.slice(0, token.lastIndexOf("."))
  const { privateKey } = generateKeyPairSync("ed25519")
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`
}

const unsigned = (token: string): string =>
  `${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${payloadOf(token)}.`

const otherPath = ({ url, options }: Subject): Place => {
  const target = new URL(url)
  target.pathname = target.pathname.replace(/[^/]*\/?$/, "no-such-stack")
  return { url: target.href, options }
}

/** A rule that a connection with these credentials is rejected. */
const rejected = (
  name: string,
  status: number,
  code: RegExp,
  credentials: (subject: Subject) => Promise<Credentials>,
  placeOf = (subject: Subject): Place => subject,
): Rule => ({
  name,
  check: async (subject) => expectRefusal(placeOf(subject), await credentials(subject), status, code),
})

const bearer =
  (change: (token: string) => string) =>
  async ({ token }: Subject): Promise<Credentials> => ({ bearer: change(await token()) })

const tokenRules: readonly Rule[] = [
  onConnection("a token in the Authorization header is accepted", async () => {}),
  {
    name: `a token as the subprotocol bearer.<token> is accepted, and ${subprotocol} is selected`,
    check: async (subject) => {
      const probe = await opened(subject, { protocols: [subprotocol, `bearer.${await subject.token()}`] })
      probe.close()
      hold(probe.protocol === subprotocol, "it selected another one")
    },
  },
  {
    name: "a token in the query parameter hs_token is accepted",
    check: async (subject) => (await opened(subject, { query: await subject.token() })).close(),
  },
  rejected("the Authorization header takes precedence over the query parameter", 401, /^token-/, async ({ token }) => ({
    bearer: damaged(await token()),
    query: await token(),
  })),
  rejected("a connection without a token is rejected", 401, /^token-missing$/, async () => ({})),
  rejected("a damaged token is rejected", 401, /^token-/, bearer(damaged)),
  rejected("a token with the signature of a wrong key is rejected", 401, /^token-/, bearer(foreign)),
  rejected("a token without a signature is rejected", 401, /^token-/, bearer(unsigned)),
  rejected("a token for another stack is rejected", 401, /^token-invalid-audience$/, async (subject) => ({
    bearer: await subject.tokenOfOtherStack(),
  })),
  rejected("a token without the scope read is rejected", 403, /^insufficient-scope$/, async (subject) => ({
    bearer: await subject.tokenWithoutRead(),
  })),
  rejected("an unknown stack is rejected", 404, /^stack-not-found$/, bearer(String), otherPath),
]

const messageRules: readonly Rule[] = [
  onConnection("refresh_auth with a valid token returns its expiry", async (probe, { newToken }) => {
    probe.send({ type: "refresh_auth", token: await newToken() })
    const { success, expiresAt } = await probe.message("response to refresh_auth", (message) => "success" in message)
    hold(success === true, "it was rejected")
    hold(typeof expiresAt === "number", "it lacks expiresAt")
  }),
  onConnection(
    "refresh_auth with a damaged token is rejected, and the connection stays open",
    async (probe, { token }) => {
      probe.send({ type: "refresh_auth", token: damaged(await token()) })
      const answer = await probe.message("response to refresh_auth", (message) => "success" in message)
      hold(answer["success"] === false, "it was accepted")
      hold((textOf(answer, "error") ?? "") !== "", "it lacks error")
      probe.send({ type: "subscribe", view: "" })
      await expectError(probe)
    },
  ),
  onConnection("an unknown view is an error, and the connection stays open", async (probe) => {
    for (let turn = 0; turn < 2; turn++) {
      probe.send({ type: "subscribe", view: "NoSuchEntity/list" })
      await expectError(probe, "view-not-found")
    }
  }),
  onConnection("a message that isn't JSON is an error, a ping isn't", async (probe) => {
    probe.send({ type: "ping" })
    probe.send("{")
    await expectError(probe)
    probe.send({ type: "subscribe", view: "NoSuchEntity/list" })
    await expectError(probe, "view-not-found")
  }),
]

const wideInteger = /^-?\d+$/

const checkValues = (rows: readonly Row[], paths: readonly string[]): void => {
  for (const { key, data } of rows) {
    for (const path of paths) {
      const value = valueAt(data, path.split("."))
      if (value === null || value === undefined || Array.isArray(value)) continue
      const isWide = typeof value === "string" && wideInteger.test(value)
      hold(isWide, `${path} of the record ${key} is ${JSON.stringify(value)}, not a decimal string`)
    }
  }
}

const viewRule = ({ id, mode }: View): Rule =>
  onConnection(`view ${id}: a confirmation, then one whole snapshot`, async (probe, { wideFields }) => {
    const [entity = "", own] = id.split("/")
    const [first] = own === "state" ? await snapshotOf(probe, { view: `${entity}/list`, take: 1 }) : []
    const wish = { view: id, ...(own === "state" && { key: first?.key ?? "no-such-key" }) }
    const rows = await snapshotOf(probe, wish, mode).catch((error: unknown) => {
      if (error instanceof RuleBroken && error.message.endsWith(" view-unsupported")) {
        throw new RuleSkipped("the server doesn't support this view")
      }
      throw error
    })
    checkValues(rows, wideFields.get(entity) ?? [])
    const keys = rows.map(({ key }) => key)
    const isAsked = own !== "state" || keys.join() === (first?.key ?? "")
    hold(isAsked, `the request was for the record ${wish.key}, and ${rows.length} came`)
    hold(new Set(keys).size === keys.length, "the snapshot has a key twice")
    const some = await snapshotOf(probe, { ...wish, take: 1, after: "unknown" })
    hold(some.length === 1 || rows.length === 0, `with take 1 and an unknown after, ${some.length} records came`)
  })

const endRule: Rule = {
  name: "when a token expires, its connection is closed, and the token is rejected",
  check: async (subject) => {
    if (!subject.wait) throw new RuleSkipped("it takes a token's whole life; use --wait")
    const token = await subject.newToken()
    const probe = await opened(subject, { bearer: token })
    const { exp }: { exp?: unknown } = JSON.parse(Buffer.from(payloadOf(token), "base64url").toString())
    const closed = await probe.closed(Number(exp) * 1000 - Date.now() + 10_000)
    const error = await probe.message("error message", ({ type }) => type === "error")
    hold(error["code"] === "token-expired" && error["fatal"] === true, "no fatal error token-expired")
    hold(closed.code === 1008, `the close code is ${closed.code}, not 1008`)
    // The clocks may differ by a few seconds.
    for (let tries = 10; ; tries--) {
      const again = await expectRefusal(subject, { bearer: token }, 401, /^token-expired$/).catch(
        (broken: unknown) => broken,
      )
      if (again === undefined) return
      if (tries === 0) throw again
      await sleep(1_000)
    }
  },
}

export const rulesFor = (views: readonly View[]): readonly Rule[] => [
  ...tokenRules,
  ...messageRules,
  ...views.map(viewRule),
  endRule,
]
