import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { text } from "node:stream/consumers"
import type { Settings } from "../config.ts"
import { createFolder } from "../data-folder.ts"
import { sql } from "../db/database.ts"
import { lockFolder } from "../db/embedded/folder-lock.ts"
import { openServerDatabase } from "../db/server/server.ts"
import { CommandError } from "./command-error.ts"

type Where = Pick<Settings, "databaseUrl" | "dataFolder">

const run = async (program: string, args: readonly string[], variables: object = {}): Promise<string> => {
  const child = spawn(program, args, {
    env: { PATH: process.env["PATH"], ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const failed = once(child, "error")
  const output = text(child.stdout)
  const written = text(child.stderr)
  const [status] = (await Promise.race([once(child, "close"), failed])) as [unknown]
  if (status === 0) return output
  const reason = status instanceof Error ? status.message : (await written).trim().split("\n")[0]
  const step = /permission denied/.test(reason ?? "") ? ": restore as the role that owns the database" : ""
  throw new CommandError("tool-failed", `${program.split("/").at(-1)} failed: ${reason}${step}`)
}

/** A program of PostgreSQL's client tools: that of the PATH, else the newest that Debian has installed. */
const clientTool = (name: string): string => {
  const onPath = (process.env["PATH"] ?? "").split(":").map((folder) => `${folder}/${name}`)
  const versions = globSync(`/usr/lib/postgresql/*/bin/${name}`).toSorted((a, b) =>
    b.localeCompare(a, "en", { numeric: true }),
  )
  const found = [...onPath, ...versions].find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new CommandError(
    "tool-missing",
    `${name} isn't installed: install PostgreSQL's client tools, no older than the server`,
  )
}

/**
 * The URL without its password, which would stand in the list of processes, and what PostgreSQL's tools need besides: the password,
 * and the authorities that the service knows, if the server's certificate is to be verified.
 */
const connectionOf = (databaseUrl: string): { readonly target: string; readonly variables: object } => {
  const url = new URL(databaseUrl)
  const PGPASSWORD = decodeURIComponent(url.password)
  url.password = ""
  const { NODE_EXTRA_CA_CERTS: PGSSLROOTCERT = "" } = process.env
  const verifies = url.searchParams.get("sslmode")?.startsWith("verify-") === true && PGSSLROOTCERT !== ""
  return { target: url.href, variables: { PGPASSWORD, ...(verifies && { PGSSLROOTCERT }) } }
}

/** Makes a file only its owner can read, complete or not at all. */
const makeFile = async (path: string, make: (unfinished: string) => Promise<unknown>): Promise<number> => {
  if (existsSync(path))
    throw new CommandError("file-exists", `${path} exists already: choose another name, or move it away`)
  const unfinished = `${path}.${process.pid}.unfinished`
  const former = process.umask(0o077)
  try {
    await make(unfinished)
    const { size } = statSync(unfinished)
    renameSync(unfinished, path)
    return size
  } finally {
    process.umask(former)
    rmSync(unfinished, { force: true })
  }
}

/**
 * Writes the whole database to a file: a PostgreSQL server's by pg_dump, beside the running service; the embedded one's as
 * an archive, while the service is stopped. Throws CommandError, and FolderInUse.
 */
export const backup = async ({ databaseUrl, dataFolder }: Where, path: string): Promise<object> => {
  const file = resolve(path)
  if (databaseUrl !== undefined) {
    const { target, variables } = connectionOf(databaseUrl)
    const dump = (to: string) =>
      run(clientTool("pg_dump"), ["--format=custom", `--file=${to}`, `--dbname=${target}`], variables)
    return { file, kind: "postgresql", bytes: await makeFile(file, dump) }
  }
  if (!existsSync(`${dataFolder}/database.complete`))
    throw new CommandError("nothing-to-back-up", `${dataFolder} has no database: set SVC_DATA_DIR or DATABASE_URL`)
  const { release } = await lockFolder(dataFolder)
  try {
    const leftOut = ["--exclude=./compile-cache", "--exclude=*.lock.sock"]
    const pack = (to: string) =>
      run("tar", ["--create", "--gzip", `--file=${to}`, ...leftOut, `--directory=${dataFolder}`, "."])
    return { file, kind: "embedded", bytes: await makeFile(file, pack) }
  } finally {
    release()
  }
}

const isEmpty = async (url: string): Promise<boolean> => {
  const database = openServerDatabase({ url, statementMs: 5_000, connections: 1, now: () => performance.now() })
  try {
    const tables = sql`pg_class c where c.relkind in ('r', 'v', 'S') and c.relnamespace = to_regnamespace('public')`
    const [found] = await database
      .within(5_000)
      .run((orm) => orm.select({ count: sql<number>`count(*)::int` }).from(tables))
    return found?.count === 0
  } finally {
    await database.close()
  }
}

/** Whether a folder has files and folders alone: a link could lead out of it, and a backup has none. */
const isPlain = (folder: string): boolean =>
  readdirSync(folder, { withFileTypes: true }).every(
    (entry) => entry.isFile() || (entry.isDirectory() && isPlain(`${folder}/${entry.name}`)),
  )

/**
 * Fills an empty database from a file that `backup` wrote, all or nothing. A database that holds anything is refused, so
 * that a wrong file can destroy nothing. Throws CommandError, DatabaseUnavailable and FolderInUse.
 */
export const restore = async ({ databaseUrl, dataFolder }: Where, path: string): Promise<object> => {
  const file = resolve(path)
  if (!existsSync(file)) throw new CommandError("unreadable-file", `${file} doesn't exist`)
  if (databaseUrl !== undefined) {
    if (!(await isEmpty(databaseUrl)))
      throw new CommandError(
        "database-not-empty",
        "DATABASE_URL's database isn't empty: restore into a new one, then switch to it",
      )
    const { target, variables } = connectionOf(databaseUrl)
    const how = ["--no-owner", "--exit-on-error", "--single-transaction"]
    const tool = clientTool("pg_restore")
    if (!/ TABLE \S+ api_keys /.test(await run(tool, ["--list", file])))
      throw new CommandError("unreadable-file", `${file} isn't a backup of the platform's database`)
    await run(tool, [...how, `--dbname=${target}`, file], variables)
    return { file, kind: "postgresql", restored: true }
  }
  if (existsSync(`${dataFolder}/database`))
    throw new CommandError(
      "database-not-empty",
      `${dataFolder} has a database: restore into a new folder, then switch to it`,
    )
  const unpacked = `${dataFolder}/restore.unfinished`
  createFolder(dataFolder)
  const { release } = await lockFolder(dataFolder)
  try {
    rmSync(unpacked, { recursive: true, force: true })
    mkdirSync(unpacked, { mode: 0o700 })
    const asOwn = ["--no-same-owner", "--no-same-permissions"]
    await run("tar", ["--extract", "--gzip", ...asOwn, `--file=${file}`, `--directory=${unpacked}`])
    if (!isPlain(unpacked) || !existsSync(`${unpacked}/database.complete`))
      throw new CommandError("unreadable-file", `${file} isn't a backup of an embedded database`)
    const last = "database.complete"
    const names = readdirSync(unpacked).filter((name) => name !== last)
    for (const name of [...names, last]) renameSync(`${unpacked}/${name}`, `${dataFolder}/${name}`)
  } finally {
    rmSync(unpacked, { recursive: true, force: true })
    release()
  }
  return { file, kind: "embedded", restored: true }
}
