import { once } from "node:events"
import { connect } from "node:net"
import { processorTime } from "./process.ts"

/** What a server is asked again and again: a GET, or a POST of JSON where there is a body; and the server's process. */
export type LoadTarget = {
  readonly url: string
  readonly pid: number
  /** A list of them is dealt out to the connections. */
  readonly headers?: Readonly<Record<string, string>> | readonly Readonly<Record<string, string>>[]
  /** A function makes another one for each request. */
  readonly body?: string | (() => string)
}

export type Load = {
  /** Microseconds of the server's processor time for each response. */
  readonly cost: number
  readonly perSecond: number
  /** Milliseconds until half and 99 in 100 of the responses were there. */
  readonly p50: number
  readonly p99: number
}

export type LoadOptions = { readonly connections: number; readonly requests: number; readonly rounds: number }

const requestOf = ({ url, body }: LoadTarget, headers: Readonly<Record<string, string>>): (() => Buffer) => {
  const { host, pathname, search } = new URL(url)
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${body === undefined ? "GET" : "POST"} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}`
  if (body === undefined) return () => Buffer.from(`${head}\r\n`)
  const withBody = (text: string): Buffer =>
    Buffer.from(`${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  if (typeof body === "function") return () => withBody(body())
  const same = withBody(body)
  return () => same
}

/** A response's length by its first bytes; throws where it isn't a 2xx with a Content-Length. */
const lengthOf = (bytes: Buffer): number => {
  const end = bytes.indexOf("\r\n\r\n")
  const head = bytes.toString("latin1", 0, end)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (!head.startsWith("HTTP/1.1 2") || length === undefined) throw new Error(`not a 2xx of known length: ${head}`)
  return end + 4 + Number(length)
}

/**
 * Keeps this process awake until the function that it returns is called. To wake a client that sleeps is work of the server that
 * responds to it, and only the clients of a slow server sleep.
 */
const spin = (): (() => void) => {
  let isOver = false
  const turn = (): void => {
    if (!isOver) setImmediate(turn)
  }
  turn()
  return () => {
    isOver = true
  }
}

/** Sends so many requests over connections that each wait for one response at a time. Rejects at the first that is no 2xx. */
const load = async (target: LoadTarget, connections: number, requests: number): Promise<Load> => {
  const { hostname, port } = new URL(target.url)
  const all = [target.headers ?? {}].flat()
  const times: number[] = []
  let sent = 0
  const open = async (index: number) => {
    const next = requestOf(target, all[index % all.length] ?? {})
    const socket = connect(Number(port), hostname).setNoDelay()
    await once(socket, "connect")
    const run = (): Promise<void> =>
      new Promise((resolve, reject) => {
        let missing = 0
        let from = 0
        const ask = (): void => {
          if (sent++ >= requests) return resolve()
          from = performance.now()
          socket.write(next())
        }
        socket.on("data", (bytes: Buffer) => {
          try {
            if (missing === 0) missing = lengthOf(bytes)
          } catch (error) {
            return reject(error)
          }
          missing -= bytes.length
          if (missing !== 0) return
          times.push(performance.now() - from)
          ask()
        })
        socket.on("error", reject).on("close", () => reject(new Error(`a connection was closed: ${target.url}`)))
        ask()
      })
    return { run, close: (): void => void socket.removeAllListeners().destroy() }
  }
  const clients = await Promise.all(Array.from({ length: connections }, (_, index) => open(index)))
  const stopSpinning = spin()
  try {
    const before = { ms: performance.now(), processor: processorTime(target.pid) }
    await Promise.all(clients.map(({ run }) => run()))
    const ms = performance.now() - before.ms
    const cost = (processorTime(target.pid) - before.processor) / times.length
    times.sort((a, b) => a - b)
    const within = (part: number): number => times[Math.floor(times.length * part)] ?? Number.NaN
    return { cost, perSecond: (1000 * times.length) / ms, p50: within(0.5), p99: within(0.99) }
  } finally {
    stopSpinning()
    for (const { close } of clients) close()
  }
}

/**
 * Loads servers in turns, there and back, in rounds after one of warm-up, so that whatever else the machine does slows all of
 * them alike. Gives each round's loads in the order of the servers.
 */
export const loadInRounds = async (
  targets: readonly LoadTarget[],
  { connections, requests, rounds }: LoadOptions,
): Promise<readonly (readonly Load[])[]> => {
  const measured: Load[][] = []
  for (let round = 0; round <= rounds; round++) {
    const loads: Load[] = []
    for (const index of round % 2 === 0 ? targets.keys() : [...targets.keys()].toReversed()) {
      const target = targets[index]
      if (target !== undefined) loads[index] = await load(target, connections, requests)
    }
    if (round > 0) measured.push(loads)
  }
  return measured
}

/** NaN of none. */
export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The middle one of some values, the upper of two; NaN of none. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
