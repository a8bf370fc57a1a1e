import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "./free-port.ts"
import { startProcess, type TestProcess } from "./process.ts"

export type TestRedis = {
  readonly url: string
  readonly port: number
  /** Of the server that runs now. */
  readonly pid: () => number
  /** Sends a signal to the server: SIGSTOP freezes it, SIGCONT lets it go on. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** Tells the server one command, as an operator would; rejects with what it refuses it with. */
  readonly command: (line: string) => Promise<void>
  /** Kills the server; what it knew is gone. */
  readonly halt: () => Promise<void>
  /** Starts it again, empty, on the same port. */
  readonly resume: () => Promise<void>
  readonly stop: () => Promise<void>
}

const programs = ["valkey-server", "redis-server"]

const runs = (program: string): boolean => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** The server program of this machine, Valkey or Redis; undefined when there is none. */
export const redisProgram = (): string | undefined => programs.find(runs)

/** Starts a Valkey or Redis server of the test's own on a free loopback port, without persistence. */
export const startRedis = async (): Promise<TestRedis> => {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), "svc-redis-"))
  const start = async (): Promise<TestProcess> => {
    const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
    const child = startProcess(redisProgram() ?? "redis-server", args)
    await child.waitFor(/Ready to accept connections/)
    return child
  }
  let server = await start()
  const halt = async (): Promise<void> => {
    server.kill("SIGCONT")
    server.kill("SIGKILL")
    await server.exited
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => server.pid,
    signal: (signal) => server.kill(signal),
    command: (line) =>
      new Promise((resolve, reject) => {
        const socket = connect(port, "127.0.0.1", () => socket.write(`${line}\r\n`))
        socket.setEncoding("utf8").on("error", reject)
        socket.once("data", (reply: string) => {
          socket.destroy()
          if (reply.startsWith("-")) reject(new Error(reply.trim()))
          else resolve()
        })
      }),
    halt,
    resume: async () => {
      server = await start()
    },
    stop: async () => {
      await halt()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
