// docs/operations.md has commands for operators. Those that can run here are run in the page's order against the real services, with
// the page's own roles on a PostgreSQL server.
import { execFile, spawnSync } from "node:child_process"
import { cp, glob, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import {
  freePort,
  postJson,
  startPostgres,
  startProcess,
  startReceiver,
  type TestPostgres,
  startRedis,
  type TestProcess,
  type TestRedis,
} from "@svc/testing"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"

import { fencesOf } from "../../apps/docs-server/test/content/steps.ts"
import { folderOfFile } from "../../test/folder-of-file.ts"

const root = join(import.meta.dirname, "../..")
const page = await readFile(join(root, "docs/operations.md"), "utf8")
/** After a fence's language comes what this test does with it: `run`, `run=embedded`, `serve=relay`, `restart=relay`; `compose` is compose.sh's. */
const fences = fencesOf(page).map(({ heading, language, info, text }) => {
  const [action = "", argument = ""] = info.split("=")
  return { heading, language, action, argument, code: text.trimEnd() }
})
type Fence = (typeof fences)[number]
const followable = fences.filter(({ action }) => ["run", "serve", "restart"].includes(action))

const notRun: Readonly<Record<string, string>> = {
  "flowchart LR": "a picture",
  "npx -y pnpm@12 install --frozen-lockfile": "was run before this test",
  "npx -y pnpm@12 build": "an image's build and every start from a checkout run it",
  "npx -y pnpm@12 prune --prod": "would change this checkout",
  "git pull --ff-only": "would change this checkout",
  "useradd --system --shell /usr/sbin/nologin svc": "needs systemd",
  "npx -y pnpm@12 image": "takes minutes; CI runs it",
  "npx -y pnpm@12 licence-check": "CI runs it",
  "kubectl apply -f infra/kubernetes/base/namespace.yaml": "needs a cluster",
  'platform() { kubectl -n svc exec --stdin deployment/platform-api -- node src/main.ts "$@"; }': "needs a cluster",
  "kubectl -n svc delete job platform-migrate --ignore-not-found": "needs a cluster",
  'kubectl -n svc create secret generic platform-api-signing-key --from-file=session-signing-key.json="$SIGNING_KEY" \\':
    "needs a cluster",
}

test("every command of the page is run here, or has a reason not to be", () => {
  const rest = fences.filter((fence) => !followable.includes(fence) && fence.action !== "compose")
  expect(rest.map(({ code }) => code.split("\n")[0] ?? "").toSorted()).toEqual(Object.keys(notRun).toSorted())
})

test("no command changes the mode of what later commands of the same shell write, such as an upgrade that the service's user reads", () => {
  expect(fences.filter(({ code }) => /^umask/m.test(code))).toEqual([])
})

test.skipIf(spawnSync("sh", ["-c", "command -v jq"]).status !== 0)(
  "the count of refused requests works on systemd's journal, which has lines of its own that aren't JSON",
  () => {
    const count = /Count them: `[^`]*?(jq [^`]*)`/.exec(page)?.[1] ?? ""
    const line = JSON.stringify({ status: 429, account: "agent:a" })
    const input = `Started svc@relay-1.service - svc relay-1.\n${line}\n{"status":200}\n${line}\n`
    expect(spawnSync("sh", ["-c", count], { input, encoding: "utf8" }).stdout.trim()).toBe("2 agent:a")
  },
)

test("systemd starts a service again however often its start has failed, such as while the database is away", async () => {
  // By default it gives up after five starts in ten seconds.
  const unit = await readFile(join(root, "infra/systemd/svc@.service"), "utf8")
  expect(unit.match(/^\[Unit\]$[^[]*/m)?.[0]).toContain("\nStartLimitIntervalSec=0\n")
})

test("the services write the log lines that operators should watch for", async () => {
  const watched = /Alert on: .*?\n\n/s.exec(page)?.[0] ?? ""
  const quoted = [...watched.matchAll(/`([^`]*)`/g), ...page.matchAll(/log line is `([^`]*)`/g)]
  const lines = quoted.map(([, text = ""]) => text).filter((text) => text.includes(" "))
  expect(lines).toContain("the session keys could not be fetched")
  let sources = ""
  for await (const file of glob("{apps,packages}/*/src/**/*.ts", { cwd: root }))
    sources += await readFile(join(root, file), "utf8")
  expect(lines.filter((line) => !sources.includes(`"${line}"`))).toEqual([])
})

const needed = ["bash", "curl", "openssl", "psql", "pg_dump"]
const isMissing = needed.some((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0)

// As on a machine before the page's first step.
const withoutNode = (process.env["PATH"] ?? "")
  .split(":")
  .filter((path) => !path.includes("node_modules"))
  .join(":")

// Some commands start five processes.
const patience = { tags: ["long"], timeout: 300_000 }

describe.skipIf(isMissing && process.env["CI"] === undefined)("the page's commands", patience, () => {
  const folder = folderOfFile()
  let postgres: TestPostgres
  let store: TestRedis
  let provider: Awaited<ReturnType<typeof startReceiver>>
  let env: Record<string, string>
  const running = new Map<string, TestProcess>()
  const ports: Record<string, number> = {}
  const serving = new Map<string, Fence>()
  const followed: Fence[] = []

  beforeAll(async () => {
    await cp(join(root, "infra"), join(folder, "infra"), { recursive: true })
    for (const name of ["apps", "packages", "node_modules"]) await symlink(join(root, name), join(folder, name))
    // Only root may become the database's superuser; another user's server trusts any name.
    if (process.getuid?.() !== 0) {
      await mkdir(join(folder, "bin"))
      await writeFile(join(folder, "bin/runuser"), '#!/bin/sh\nshift 3\nPGUSER=postgres exec "$@"\n', { mode: 0o755 })
    }
    postgres = await startPostgres()
    // As Debian makes the server of a machine without a locale.
    const bare = "update pg_database set encoding = pg_char_to_encoding('SQL_ASCII') where datname = 'template1'"
    spawnSync("psql", ["-c", bare, postgres.url])
    store = await startRedis()
    provider = await startReceiver()
    provider.answer(({ body }, response) => {
      const { id } = JSON.parse(String(body)) as { id: unknown }
      response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id, result: 123 }))
    })
    for (const name of ["docs-server", "relay", "platform-api"]) ports[name] = await freePort()
    const local = (name: string): string => `http://localhost:${ports[name]}`
    env = {
      // Its own Node comes by a command of the page.
      PATH: `${folder}/bin:${withoutNode}`,
      HOME: folder,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      // Where the test's servers are. The page's commands set everything else.
      PGHOST: "127.0.0.1",
      PGPORT: String(postgres.port),
      DATABASE_SERVER: `127.0.0.1:${postgres.port}`,
      SVC_DATA_DIR: join(folder, "data"),
      SVC_DOCS_URL: local("docs-server"),
      SVC_RELAY_URL: local("relay"),
      SVC_API_URL: local("platform-api"),
      SVC_LIMITS_URL: store.url,
      PRIVATE_DIR: join(folder, "private"),
      SIGNING_KEY: join(folder, "service/session-signing-key.json"),
      SVC_TRANSACTION_RPC_URL: provider.url,
    }
    await writeFile(join(folder, "state"), "")
  })
  afterAll(async () => {
    for (const child of running.values()) child.kill("SIGKILL")
    await Promise.all([...running.values()].map(({ exited }) => exited))
    await provider?.close()
    await Promise.all([postgres?.stop(), store?.stop()])
  })

  /** The variables for commands of the page's part about the embedded database. */
  const embedded = { DATABASE_URL: "" }

  /** Runs a script with everything that the page's commands have defined. Returns its output. */
  const shell = async (script: string, change: Record<string, string> = {}): Promise<string> => {
    const whole = `set -euo pipefail; source "$HOME/state"; ${script}`
    const { stdout } = await promisify(execFile)("bash", ["-c", whole], { cwd: folder, env: { ...env, ...change } })
    return stdout
  }
  /** What the page's commands define, in order, is available to all later ones. */
  const keep = `{ declare -f; declare -p PATH key token SVC_STREAM_URL 2>/dev/null || true; } > "$HOME/state.new"
mv "$HOME/state.new" "$HOME/state"`

  const serve = async (fence: Fence): Promise<void> => {
    const { argument: app, code } = fence
    const child = startProcess("bash", ["-c", `source "$HOME/state"; exec ${code}`], {
      cwd: folder,
      env: { ...env, PORT: String(ports[app]) },
    })
    running.set(app, child)
    serving.set(app, fence)
    await child.waitFor(/"msg":"listening"/)
  }

  const restart = async (app: string): Promise<void> => {
    const fence = serving.get(app)
    if (fence === undefined) throw new Error(`${app} was never started`)
    running.get(app)?.kill("SIGTERM")
    expect(await running.get(app)?.exited).toBe(0)
    await serve(fence)
  }

  /** Runs the commands below a heading in order, and returns their output. */
  const follow = async (heading: string, afterRestart = async () => {}): Promise<readonly string[]> => {
    const printed: string[] = []
    for (const fence of followable.filter((candidate) => candidate.heading === heading)) {
      const { action, argument, code } = fence
      if (action === "run") printed.push(await shell(`${code}\n${keep}`, argument === "embedded" ? embedded : {}))
      if (action === "serve") await serve(fence)
      if (action === "restart") {
        await restart(argument)
        await afterRestart()
      }
      followed.push(fence)
    }
    return printed
  }

  const sessionToken = async (): Promise<{ status: number; body: Record<string, string> }> => {
    const key = (await shell("echo $key")).trim()
    const body = { websocket_url: "wss://streams.example.com/transfers", scope: "transaction:inspect" }
    const response = await postJson(`${env["SVC_API_URL"]}/ws/sessions`, body, { authorization: `Bearer ${key}` })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }

  const blockHeight = (token: string): Promise<Response> =>
    postJson(`${env["SVC_RELAY_URL"]}/transactions/v1/block-height`, {}, { authorization: `Bearer ${token}` })

  test("never change a variable that is already set", async () => {
    const urls = "echo $SVC_API_URL $SVC_STREAM_URL"
    await follow("Operations")
    expect((await shell(urls)).trim()).toBe(`${env["SVC_API_URL"]} wss://streams.example.com`)
  })

  test("start the three services from settings files and the operator's key", async () => {
    const printed = await follow("A copy for 1,000 agents")
    expect(printed.join("")).toContain('{"applied":')
    const doctor = (app: string): Promise<string> =>
      shell(`(cd apps/${app} && node --env-file="$OLDPWD/infra/env/${app}.env" src/main.ts doctor --json || true)`)
    // On a busy machine the database may be late.
    await vi.waitFor(async () => {
      const reports = await Promise.all(Object.keys(ports).map(doctor))
      const failed = reports.flatMap((report) =>
        (JSON.parse(report) as { findings: { verdict: string }[] }).findings.filter(
          ({ verdict }) => verdict === "fail",
        ),
      )
      // The provider of this test has no chain, and a checkout without a build has no packages.
      expect(failed.filter((one) => !/"(?:provider|packages)/.test(JSON.stringify(one)))).toEqual([])
    }, 60_000)
    expect((await stat(join(folder, "service/session-signing-key.json"))).mode & 0o777).toBe(0o600)
  })

  test("keep the roles' passwords if the step that makes the roles is repeated", async () => {
    const urls = () => shell('cat "$PRIVATE_DIR"/*.url')
    const before = await urls()
    const made = fences.find(({ code }) => code.includes("create role"))
    // An operator's shell goes on after a failure.
    await shell(`set +e; ${made?.code}`).catch(() => {})
    expect(await urls()).toBe(before)
  })

  test("publish a stack, register an agent, and send its request through the relay", async () => {
    const [healths = "", published = "", profile = "", height = ""] = await follow("First agent and stack")
    expect(healths.match(/"status":"ok"/g)).toHaveLength(3)
    expect(JSON.parse(published)).toMatchObject({ name: "transfers", status: "published", version: 1 })
    expect(JSON.parse(profile)).toMatchObject({ status: "active" })
    expect(JSON.parse(height)).toEqual({ blockHeight: "123" })
  })

  test("list what exists", async () => {
    const [lists = ""] = await follow("Operator commands")
    expect(
      lists
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as unknown[]).length),
    ).toEqual([1, 1, 2])
  })

  test("give visitors a key, and find, disable and enable an agent", async () => {
    const [viewer = ""] = await follow("Live pages")
    expect(JSON.parse(viewer)).toMatchObject({ key: expect.stringMatching(/^svc_pk_/) as string })
    const [steps = ""] = await follow("Stop abuse")
    const [, , disabled = "", enabled = ""] = steps.trim().split("\n")
    expect(JSON.parse(disabled)).toMatchObject([{ status: "disabled" }])
    expect(JSON.parse(enabled)).toMatchObject({ status: "active" })
  })

  test("give the service a role that may add to the audit trail but never change it", async () => {
    await shell("platform user create --email grace@example.com")
    expect(await shell("platform audit list --limit 2")).toMatch(/"key\.mint".*"user\.create"/)
    const url = await readFile(join(folder, "private/svc_service.url"), "utf8")
    for (const statement of [
      "update audit_log set actor = 'nobody'",
      "delete from audit_log",
      "truncate audit_log",
      "alter table audit_log disable trigger all",
      "drop table audit_log",
      "insert into schema_migrations (at, hash) values (1, '')",
    ]) {
      const { status, stderr } = spawnSync("psql", ["-c", statement, url], { encoding: "utf8" })
      expect([status, stderr], statement).toEqual([1, expect.stringMatching(/permission denied|must be owner/)])
    }
  })

  test("back up a database of either kind, and the service runs on with the restored one", async () => {
    const before = await shell("platform agent list")
    await shell("platform user create --email ada@example.com", embedded)
    const trail = await shell("platform audit list", embedded)
    const [, restored = ""] = await follow("Back up and restore")
    expect(restored.trim().split("\n").at(-1)).toBe(before.trim())
    const asked = "select current_user, getdatabaseencoding()"
    expect(await shell(`psql --quiet -Atc '${asked}' $(cat $PRIVATE_DIR/svc_service.url)`)).toBe("svc_service|UTF8\n")
    expect((await sessionToken()).status).toBe(200)
    const restoredFolder = { ...embedded, SVC_DATA_DIR: join(folder, "private/restored") }
    expect(await shell("platform audit list", restoredFolder)).toBe(trail)
    expect(trail).toContain("user.create")
  })

  test("rotate the signing key, and a relay that knows the keys accepts every token meanwhile", async () => {
    const seen: { published: number; signing: number; relay: number }[] = []
    const known: string[] = []
    const jwksUrl = `${env["SVC_API_URL"]}/.well-known/jwks.json`
    const look = async (): Promise<void> => {
      const { keys } = (await (await fetch(jwksUrl)).json()) as { keys: { kid: string }[] }
      for (const { kid } of keys) if (!known.includes(kid)) known.push(kid)
      const token = (await sessionToken()).body["token"] ?? ""
      const header = JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()) as { kid: string }
      const { status } = await blockHeight(token)
      seen.push({ published: keys.length, signing: known.indexOf(header.kid), relay: status })
    }
    await look()
    await follow("The session signing key", look)
    expect(seen).toEqual([
      { published: 1, signing: 0, relay: 200 },
      { published: 2, signing: 0, relay: 200 },
      { published: 2, signing: 1, relay: 200 },
      { published: 1, signing: 1, relay: 200 },
    ])
  })

  test("keep keys, settings and dumps out of the repository or from other users, and the owner's from the service", async () => {
    const kept = await readdir(join(folder, "private"))
    expect(kept).toContain("svc_owner.url")
    // Its folder now belongs to the service's user.
    expect(await readdir(join(folder, "service"))).toEqual(["session-signing-key.json"])
    const settings = ["docs-server", "relay", "platform-api"].map((app) => `infra/env/${app}.env`)
    const secrets = [
      "private",
      "service",
      "service/session-signing-key.json",
      ...settings,
      ...kept.map((name) => `private/${name}`),
    ]
    for (const name of secrets) expect((await stat(join(folder, name))).mode & 0o077, name).toBe(0)
    const beside = (await readdir(folder)).filter((name) => /key|dump|\.tar$|restored/.test(name))
    expect(beside).toEqual([])
  })

  test("name existing log fields", async () => {
    await blockHeight("no token")
    const lines = running.get("relay")?.stdout().split("\n") ?? []
    const line = JSON.parse(lines.find((text) => text.includes('"msg":"request"')) ?? "{}") as Record<string, unknown>
    const sentence = /A request's line has (.*?)\. Logs never/s.exec(page)?.[1] ?? ""
    for (const field of Object.keys(line)) expect(sentence).toContain(`\`${field}\``)
    expect(Object.keys(line).length).toBeGreaterThan(7)
  })

  test("delete unneeded data, and the audit trail's old rows as the owner", async () => {
    const [pruned = ""] = await follow("What grows")
    expect(pruned).toContain('"dry_run":true')
  })

  test("stop tokens with transaction scopes before the routes are disabled", async () => {
    expect((await sessionToken()).status).toBe(200)
    await follow("Roll back")
    // Replicas see it within two seconds.
    await expect.poll(sessionToken).toMatchObject({ status: 403, body: { code: "scope-not-allowed" } })
  })

  test("were run in the page's order, with nothing left out", () => {
    expect(followed).toEqual(followable)
  })
})
