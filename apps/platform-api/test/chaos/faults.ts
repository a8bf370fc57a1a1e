import { setTimeout as pass } from "node:timers/promises"
import type { FaultyNetwork, TestPostgres } from "@svc/testing"
import { withSql } from "../with-sql.ts"
import { signalServer } from "./server-processes.ts"

export type Scene = {
  readonly server: TestPostgres
  readonly network: FaultyNetwork
  /** A whole number from `from` to `to`. */
  readonly pick: (from: number, to: number) => number
}

const ofService = "from pg_stat_activity where application_name = 'svc-platform-api'"

const oneByOne = async ({ server, pick }: Scene, act: string): Promise<void> => {
  await withSql(server.url, async (sql) => {
    for (let round = 0; round < 20; round++) {
      await sql.unsafe(`select ${act}(pid) ${ofService} order by random() limit 1`)
      await pass(pick(1, 80))
    }
  })
}

const restart = async (server: TestPostgres, mode: "fast" | "immediate"): Promise<void> => {
  await server.halt(mode)
  await server.resume()
}

// The shared memory of the dead can be taken over only once the last of them is gone.
const startAgain = async (server: TestPostgres, tries = 50): Promise<void> => {
  try {
    await server.resume()
  } catch (error) {
    if (tries === 0) throw error
    await pass(200)
    await startAgain(server, tries - 1)
  }
}

/** What a database, its machine or its network may do. Each is over, and the database there again, when it resolves. */
export const faults: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "restarted in order": ({ server }) => restart(server, "fast"),
  "restarted at once": ({ server }) => restart(server, "immediate"),
  "away for a while": async ({ server, pick }) => {
    await server.halt("immediate")
    await pass(pick(500, 3000))
    await server.resume()
  },
  "killed whole": async ({ server }) => {
    await signalServer(server, "SIGKILL")
    await startAgain(server)
  },
  "one process of it killed, so that it ends all others": ({ server }) =>
    withSql(server.url, async (sql) => {
      const [row] = await sql.unsafe(`select pid ${ofService} order by random() limit 1`)
      const pid: unknown = row?.["pid"]
      if (typeof pid === "number") process.kill(pid, "SIGKILL")
    }),
  frozen: async ({ server, pick }) => {
    await signalServer(server, "SIGSTOP")
    await pass(pick(300, 6000))
    await signalServer(server, "SIGCONT")
  },
  slow: async ({ server, pick }) => {
    for (let round = 0; round < 10; round++) {
      await signalServer(server, "SIGSTOP")
      await pass(pick(50, 250))
      await signalServer(server, "SIGCONT")
      await pass(pick(1, 50))
    }
  },
  "holding a lock that everybody waits for": ({ server, pick }) =>
    withSql(server.url, async (sql) => {
      const table = ["users", "api_keys", "agent_profiles", "audit_log", "signups"][pick(0, 4)]
      await sql.unsafe(`begin; lock table ${table} in access exclusive mode`)
      await pass(pick(200, 3000))
      await sql.unsafe("rollback")
    }),
  "ending connections one by one": (scene) => oneByOne(scene, "pg_terminate_backend"),
  "cancelling statements one by one": (scene) => oneByOne(scene, "pg_cancel_backend"),
  "resetting all connections": async ({ network, pick }) => {
    for (let round = 0; round < 10; round++) {
      network.resetAll()
      await pass(pick(1, 200))
    }
  },
  "losing connections in the middle of answers": async ({ network, pick }) => {
    network.cutAfter(() => pick(1, 4000))
    await pass(2000)
    network.cutAfter(undefined)
  },
  "heard no longer": async ({ network, pick }) => {
    network.hold("answers")
    await pass(pick(200, 4000))
    network.hold("nothing")
  },
  "out of reach": async ({ network, pick }) => {
    network.hold("all")
    await pass(pick(200, 4000))
    network.hold("nothing")
  },
}
