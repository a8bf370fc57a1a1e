import { once } from "node:events"
import { connect } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import type { LoadTarget } from "./load.ts"
import { processorTime } from "./process.ts"

/** A server to be loaded, each time with the very same question, and the process that it is. */
export type Served = { readonly target: LoadTarget; readonly pid: number }

export type Share = {
  readonly perSecond: number
  /** Microseconds of processor time that an answer took. */
  readonly cost: number
}

export type TurnOptions = {
  readonly connections: number
  /** How often each server has its turn. */
  readonly turns: number
  /** How long one is measured. */
  readonly milliseconds: number
}

// The beginning of a turn, which is not measured.
const settleMs = 25

const messageOf = ({ url, body }: LoadTarget, headers: Readonly<Record<string, string>>): Buffer => {
  const { host, pathname, search } = new URL(url)
  const ofBody =
    body === undefined ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host, ...ofBody, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const method = body === undefined ? "GET" : "POST"
  return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`)
}

/** How long an answer is, by its first bytes; throws where it is no 2xx. */
const lengthOf = (bytes: Buffer): number => {
  const end = bytes.indexOf("\r\n\r\n")
  const head = bytes.toString("latin1", 0, end)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (!head.startsWith("HTTP/1.1 2") || length === undefined) throw new Error(`not an answer of known length: ${head}`)
  return end + 4 + Number(length)
}

/** Connections that ask while they are let, each its next question as soon as the one before is answered. */
const openClients = async (target: LoadTarget, connections: number) => {
  const all = [target.headers ?? {}].flat()
  const { hostname, port } = new URL(target.url)
  const state = { asking: false, underWay: 0, answers: 0, fault: undefined as unknown }
  let onQuiet = (): void => {}
  const fail = (error: unknown): void => {
    state.fault ??= error
    onQuiet()
  }
  const open = async (index: number) => {
    const message = messageOf(target, all[index % all.length] ?? {})
    const socket = connect(Number(port), hostname).setNoDelay()
    await once(socket, "connect")
    let missing = 0
    const ask = (): void => {
      state.underWay++
      socket.write(message)
    }
    socket.on("data", (bytes: Buffer) => {
      try {
        if (missing === 0) missing = lengthOf(bytes)
      } catch (error) {
        return fail(error)
      }
      missing -= bytes.length
      if (missing !== 0) return
      state.answers++
      state.underWay--
      if (state.asking) ask()
      else if (state.underWay === 0) onQuiet()
    })
    socket.on("error", fail)
    socket.on("close", () => fail(new Error(`a connection was closed: ${target.url}`)))
    return { ask, close: (): void => void socket.removeAllListeners("close").destroy() }
  }
  const clients = await Promise.all(Array.from({ length: connections }, (_, index) => open(index)))
  return {
    answers: (): number => state.answers,
    begin: (): void => {
      state.asking = true
      for (const { ask } of clients) ask()
    },
    /** Resolves once all is answered that is under way. */
    end: async (): Promise<void> => {
      state.asking = false
      if (state.underWay > 0 && state.fault === undefined) await new Promise<void>((resolve) => (onQuiet = resolve))
      if (state.fault !== undefined) throw state.fault
    },
    close: (): void => {
      for (const { close } of clients) close()
    },
  }
}

/**
 * Loads servers in short turns, there and back, so that whatever else the machine does slows all of them alike. Gives
 * what each did over all its turns; throws when an answer was no 2xx.
 */
export const loadInTurns = async <Server extends Served>(
  servers: readonly Server[],
  { connections, turns, milliseconds }: TurnOptions,
): Promise<(Share & { readonly server: Server })[]> => {
  const runs = await Promise.all(
    servers.map(async (server) => ({
      server,
      clients: await openClients(server.target, connections),
      sum: { answers: 0, ms: 0, processor: 0 },
    })),
  )
  try {
    for (let turn = 0; turn < turns; turn++) {
      for (const { server, clients, sum } of turn % 2 === 0 ? runs : runs.toReversed()) {
        clients.begin()
        await delay(settleMs)
        const before = { answers: clients.answers(), ms: performance.now(), processor: processorTime(server.pid) }
        await delay(milliseconds)
        sum.answers += clients.answers() - before.answers
        sum.ms += performance.now() - before.ms
        sum.processor += processorTime(server.pid) - before.processor
        await clients.end()
      }
    }
  } finally {
    for (const { clients } of runs) clients.close()
  }
  return runs.map(({ server, sum: { answers, ms, processor } }) => ({
    server,
    perSecond: (1000 * answers) / ms,
    cost: processor / answers,
  }))
}
