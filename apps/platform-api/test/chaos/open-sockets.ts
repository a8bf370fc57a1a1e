import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs"

/** How many sockets a process has that are connected, or about to be, to a TCP port of this machine. */
export const openSockets = (pid: number, port: number): number => {
  const own = new Set<string>()
  if (!existsSync(`/proc/${pid}/fd`)) return 0
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1]
      if (inode !== undefined) own.add(inode)
    } catch {
      // Closed since the folder was read.
    }
  }
  const remote = port.toString(16).toUpperCase().padStart(4, "0")
  // The kernel hands the table out in pieces: a row can stand in two of them when sockets close in between.
  const connected = new Set(
    readFileSync(`/proc/${pid}/net/tcp`, "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , to]) => to?.endsWith(`:${remote}`) === true)
      .map((fields) => fields[9]),
  )
  return [...own].filter((inode) => connected.has(inode)).length
}
