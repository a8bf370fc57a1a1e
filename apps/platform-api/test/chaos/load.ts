import { setTimeout as pass } from "node:timers/promises"

type Answer = {
  readonly status: number
  readonly code: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** What a client was told of each change that it asked for. */
export type Outcome = "done" | "not done" | "unknown"

export type Ledger = {
  /** By display name, key name and key id. */
  readonly signUps: Map<string, Outcome>
  readonly mints: Map<string, Outcome>
  readonly revocations: Map<number, Outcome>
  /** Answers that no client should ever get. */
  readonly wrong: string[]
}

const told = ({ status, code }: Answer, success: number): Outcome | undefined => {
  if (status === success) return "done"
  if (status !== 503) return undefined
  return code === "service-unavailable" ? "not done" : code === "outcome-unknown" ? "unknown" : undefined
}

/** Clients that sign up, make and revoke keys, read, and mint sessions, without pause, until they are told to stop. */
export const startLoad = (url: string, websocketUrl: string) => {
  const ledger: Ledger = {
    signUps: new Map(),
    mints: new Map(),
    revocations: new Map(),
    wrong: [],
  }
  const stopping = new AbortController()
  const running = (): boolean => !stopping.signal.aborted
  let count = 0

  const ask = async (
    method: string,
    path: string,
    { key, body }: { key?: string; body?: unknown } = {},
  ): Promise<Answer> => {
    const headers = {
      "x-forwarded-for": `10.${count % 250}.${Math.floor(count / 250) % 250}.${Math.floor(count / 62_500) % 250}`,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    }
    const asked = fetch(`${url}${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
    const { status, text } = await asked
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: unknown) => ({ status: 0, text: String(error) }))
    const parsed = status === 0 ? {} : (JSON.parse(text) as Answer["body"])
    const code = typeof parsed["code"] === "string" ? parsed["code"] : undefined
    if (status === 0) ledger.wrong.push(`${method} ${path} ${text}`)
    return { status, code, body: parsed }
  }

  const note = <K>(
    map: Map<K, Outcome>,
    key: K,
    answer: Answer,
    success: number,
    what: string,
  ): Outcome | undefined => {
    const outcome = told(answer, success)
    if (outcome === undefined) ledger.wrong.push(`${what}: ${answer.status} ${answer.code}`)
    else map.set(key, outcome)
    return outcome
  }

  const signUp = async (): Promise<{ key: string; slug: string } | undefined> => {
    const name = `sign-up ${count++}`
    const answer = await ask("POST", "/api/agents/signup", { body: { display_name: name } })
    if (note(ledger.signUps, name, answer, 201, "sign-up") !== "done") return undefined
    return { key: String(answer.body["api_key"]), slug: String(answer.body["slug"]) }
  }

  const live = async (): Promise<void> => {
    let me: { key: string; slug: string } | undefined
    while (running() && me === undefined) me = await signUp()
    if (me === undefined) return
    const { key, slug } = me
    while (running()) {
      const profile = await ask("GET", "/api/agents/me", { key })
      const right = profile.status === 200 ? profile.body["slug"] === slug : told(profile, 200) === "not done"
      if (!right) ledger.wrong.push(`profile of a live key: ${profile.status} ${profile.code}`)
      const session = await ask("POST", "/ws/sessions", { key, body: { websocket_url: websocketUrl } })
      if (session.status !== 200 && told(session, 200) !== "not done") {
        ledger.wrong.push(`session: ${session.status} ${session.code}`)
      }
      const name = `mint ${count++}`
      const minted = await ask("POST", "/api/agents/me/keys", { key, body: { name } })
      // Keys of unknown outcome add up to the most that an account may have.
      if (minted.code === "too-many-keys") return live()
      if (note(ledger.mints, name, minted, 201, "mint") !== "done") continue
      const id = Number(minted.body["id"])
      let outcome: Outcome | undefined
      let perhaps = false
      do {
        const revoked = await ask("DELETE", `/api/agents/me/keys/${id}`, { key })
        // An attempt before, whose outcome was not known, has done it.
        if (perhaps && revoked.code === "key-not-found") ledger.revocations.set(id, (outcome = "done"))
        else outcome = note(ledger.revocations, id, revoked, 200, "revoke")
        perhaps ||= outcome === "unknown"
        if (perhaps && outcome === "not done") ledger.revocations.set(id, "unknown")
      } while (running() && outcome !== "done" && outcome !== undefined)
    }
  }

  const signUpForEver = async (): Promise<void> => {
    while (running()) {
      await signUp()
      await pass(5)
    }
  }

  const clients = [...Array.from({ length: 4 }, signUpForEver), ...Array.from({ length: 8 }, live)]
  return {
    ledger,
    signUp,
    stop: async (): Promise<void> => {
      stopping.abort()
      await Promise.all(clients)
    },
  }
}
