import { readdirSync, readFileSync } from "node:fs"
import type { TestPostgres } from "@svc/testing"

const childrenOf = (parent: number): readonly number[] =>
  readdirSync("/proc").flatMap((name) => {
    try {
      const ppid = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ")[1] : ""
      return ppid === String(parent) ? [Number(name)] : []
    } catch {
      return []
    }
  })

/** Sends a signal to every process of a server: SIGSTOP freezes it as a hung machine does. */
export const signalServer = async (server: TestPostgres, signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): Promise<void> => {
  const postmaster = await server.pid()
  for (const pid of [postmaster, ...childrenOf(postmaster)]) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}
