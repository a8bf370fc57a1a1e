import { readdir, readFile, readlink } from "node:fs/promises"

const socketOf = async (descriptor: string): Promise<string | undefined> => {
  const target = await readlink(descriptor).catch(() => "closed since the folder was read")
  return /^socket:\[(\d+)\]$/.exec(target)?.[1]
}

/**
 * How many sockets a process has that are connected, or about to be, to a TCP port of this machine. The kernel's table also
 * has each connection of the last minute: reading tens of thousands of rows would halt the test and the network that it plays.
 */
export const openSockets = async (pid: number, port: number): Promise<number> => {
  const folder = `/proc/${pid}`
  const table = await readFile(`${folder}/net/tcp`, "utf8").catch(() => "")
  const names = await readdir(`${folder}/fd`).catch(() => [])
  const own = new Set(await Promise.all(names.map((name) => socketOf(`${folder}/fd/${name}`))))
  // A row's inode is the seventh field after the remote port. The kernel hands the table out in pieces: a row can stand in two
  // of them when sockets close in between.
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")} `
  const rows = table.split(remote).slice(1)
  const connected = new Set(rows.map((row) => row.split(/\s+/, 7)[6]))
  return [...connected].filter((inode) => inode !== undefined && own.has(inode)).length
}
