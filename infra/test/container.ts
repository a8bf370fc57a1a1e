// Runs a built image without a container engine: the image's files mounted by buildah, then the kernel's own means. As
// in a hardened deployment the root is read-only, the user is the image's, no privilege can be gained, the process is
// number 1 of its own process namespace, and only /tmp and /data can be written. The network is the machine's.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { chown } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

type ImageSettings = {
  User: string
  WorkingDir: string
  Env: string[]
  Entrypoint: string[]
  Healthcheck?: { Test: string[] }
}

export type RunningContainer = {
  /** Everything that the process has written so far, stdout and stderr. */
  readonly output: () => string
  readonly signal: (signal: NodeJS.Signals) => void
  /** Exit code, or 128 and more after a signal. */
  readonly exited: Promise<number>
  /** Runs a command next to the process, as root or as the image's user. Returns its exit code and output. */
  readonly exec: (command: readonly string[], as: "root" | "user") => { code: number | null; output: string }
}

export type Container = {
  readonly settings: ImageSettings
  /** The image's files, to look at. */
  readonly files: string
  /** Starts the entry point with the caller's arguments and variables. /data is one folder until `remove`. */
  readonly run: (args: readonly string[], env: Readonly<Record<string, string>>) => RunningContainer
  /** Ends the process and removes everything. */
  readonly remove: () => Promise<void>
}

// Mounts stay in their own namespace and end with its last process.
const inside = `
root=$1 data=$2 user=$3 folder=$4; shift 4
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$data" "$root/data"
exec setpriv --no-new-privs chroot --userspec "$user" "$root" env --chdir "$folder" "$@"
`

/** The ids of a user of the image, from its list of users. */
const idsOf = (user: string, files: string): { uid: number; gid: number } => {
  const line = readFileSync(join(files, "etc/passwd"), "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${user}:`))
  const [, , uid, gid] = (line ?? "").split(":")
  if (uid === undefined || gid === undefined) throw new Error(`the image's user "${user}" is not in its list of users`)
  return { uid: Number(uid), gid: Number(gid) }
}

/** Makes a container of an image in buildah's storage. Needs root. */
export const createContainer = async (image: string, buildahEnv: Record<string, string>): Promise<Container> => {
  const buildah = (...args: string[]): string =>
    execFileSync("buildah", args, { encoding: "utf8", env: { ...process.env, ...buildahEnv } }).trim()
  const inspected = JSON.parse(buildah("inspect", "--type", "image", image)) as { Docker: { config: ImageSettings } }
  const settings = inspected.Docker.config
  const id = buildah("from", "--pull-never", image)
  const files = buildah("mount", id)
  const data = mkdtempSync(join(tmpdir(), "svc-data-"))
  const { uid, gid } = idsOf(settings.User, files)
  await chown(data, uid, gid)
  const running = new Set<ChildProcess>()

  const run: Container["run"] = (args, env) => {
    const environment = { ...Object.fromEntries(settings.Env.map((entry) => splitOnce(entry, "="))), ...env }
    const namespaces = ["--mount", "--propagation", "private", "--ipc", "--pid", "--fork"]
    const values = [files, data, `${uid}:${gid}`, settings.WorkingDir, ...settings.Entrypoint, ...args]
    const child = spawn("unshare", [...namespaces, "sh", "-euc", inside, "sh", ...values], {
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    })
    running.add(child)
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text
      })
    }
    const exited = once(child, "close").then(([code, signal]) => {
      running.delete(child)
      return typeof code === "number" ? code : signal === "SIGKILL" ? 137 : 128
    })
    const exec: RunningContainer["exec"] = (command, as) => {
      const user = as === "user" ? ["--setuid", String(uid), "--setgid", String(gid)] : []
      const target = ["--target", String(innerPid(child)), "--mount", "--pid", "--root", "--wd", ...user]
      const result = spawnSync("nsenter", [...target, ...command], { encoding: "utf8", env: environment })
      return { code: result.status, output: `${result.stdout}${result.stderr}` }
    }
    return { output: () => output, signal: (signal) => process.kill(innerPid(child), signal), exited, exec }
  }

  const remove = async (): Promise<void> => {
    for (const child of running) {
      const closed = once(child, "close")
      process.kill(innerPid(child), "SIGKILL")
      await closed
    }
    buildah("unmount", id)
    buildah("rm", id)
    rmSync(data, { recursive: true, force: true })
  }
  return { settings, files, run, remove }
}

const splitOnce = (text: string, separator: string): [string, string] => {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + 1)]
}

// unshare itself waits outside of the new process namespace; its only child is the first process inside.
const innerPid = ({ pid }: ChildProcess): number => {
  const list = `/proc/${pid}/task/${pid}/children`
  const first = existsSync(list) ? Number(readFileSync(list, "utf8").split(" ")[0]) : 0
  return first > 0 ? first : (pid ?? 0)
}
