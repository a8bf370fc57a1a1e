// @module-tag long
import { readdirSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createTestDatabase, type Fault, startFaultProxy, startProcess, type TestDatabase } from "@svc/testing"
import { createKeyPairSignerFromBytes } from "@solana/kit"
import { afterEach, expect, test } from "vitest"
import { startInstance } from "../../../../scripts/running/instance.ts"
import { createPerson } from "../../../../scripts/running/operate.ts"
import { ownNodeFolder } from "../../../../test/own-node.ts"
import { beforeTests } from "../../../../test/start-service.ts"
import {
  balanceOf,
  fund,
  give,
  type Instance,
  keepPersonsKey,
  neededBy,
  newAddress,
  newKeyPair,
} from "./prerequisites.ts"
import { differences, httpDifferences, shownJson, type Values } from "./compare-response.ts"
import { fencesOf, type Step, stepsOf } from "./steps.ts"

const app = join(import.meta.dirname, "../..")
const cli = join(app, "../cli")
const platform = join(app, "../platform-api")
const paths = readdirSync(join(app, "content"), { recursive: true, encoding: "utf8" })
  // getting-started.md is one script, which test/getting-started.test.ts runs.
  .filter((path) => path.endsWith(".md") && path !== "getting-started.md")
  .sort()

/** Pages whose reader has a person's key. */
const peoplesPages = new Set(["publishing.md", "skills/svc-build/SKILL.md"])

let userKey = ""
const prepare = async (folder: string): Promise<void> => {
  userKey = await createPerson({ SVC_DATA_DIR: folder }, "ada@example.com")
}
// Every page signs up agents of its own, all from one address.
const settings = { SVC_SIGNUPS_PER_HOUR: "1000" }
const instance = beforeTests(
  async (): Promise<Instance> => ({ ...(await startInstance(undefined, prepare, { settings })), userKey }),
  ({ stop }) => stop(),
)

const fetchPage = async (path: string): Promise<string> => {
  const response = await fetch(`${instance.docsUrl}/${path}`)
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return response.text()
}

/** The page's own, if it has an operator command. */
let database: TestDatabase | undefined
afterEach(async () => {
  await database?.stop()
  database = undefined
})

// What `-o` writes is read, and every response shows its head.
const programs = `
  svc() { "${process.execPath}" "${join(cli, "dist/svc.mjs")}" "$@"; }
  node() { cd "${platform}" && "${process.execPath}" "$@"; }
  curl() {
    case " $* " in
      *" -i "*) command curl -sS "$@" ;;
      *" -o "*) command curl -sS -D - "$@" && cat "$2" ;;
      *) command curl -sS -D - "$@" ;;
    esac
  }`

/** Runs commands as a page's reader would, in a home of theirs. Operator commands get a database of the page's own. */
const runInShell = async (commands: string, home: string, values: Values = new Map()) => {
  if (/^node /m.test(commands)) database ??= await createTestDatabase()
  const env = {
    ...Object.fromEntries(values),
    HOME: home,
    XDG_CONFIG_HOME: home,
    SVC_API_URL: instance.apiUrl,
    SVC_DOCS_URL: instance.docsUrl,
    DATABASE_URL: database?.url ?? "",
  }
  const shell = startProcess("bash", ["-uc", `${programs}\n${commands}`], { env, cwd: home })
  return { exit: await shell.exited, stdout: shell.stdout(), stderr: shell.stderr() }
}

const differencesOf = async ({ command, answer }: Step, home: string, values: Values): Promise<string[]> => {
  const { exit, stdout, stderr } = await runInShell(command.text, home, values)
  const wanted = Number(/exit=(\d)/.exec(answer.info)?.[1] ?? 0)
  if (exit !== wanted) return [`exit ${wanted} is promised, not ${String(exit)}: ${stdout}${stderr}`]
  return answer.language === "http"
    ? httpDifferences(answer.text, stdout, values)
    : differences(shownJson(answer.text), JSON.parse(stdout), values, "stdout")
}

test.each(paths)("%s: every example request on the page works as shown", async (path) => {
  const values: Values = new Map()
  const home = await mkdtemp(join(instance.folder, "home-"))
  for (const name of neededBy[path] ?? []) await give(name, instance, values)
  const text = await fetchPage(path)
  // What a fence is called is a file that the reader has.
  for (const { info, text: content } of fencesOf(text)) {
    if (/^[\w-]+\.stack\.json$/.test(info)) await writeFile(join(home, info), content)
  }
  if (peoplesPages.has(path)) await keepPersonsKey(instance, home)
  for (const step of stepsOf(text)) {
    for (const [, name = ""] of step.command.text.matchAll(/\$([A-Z][A-Z0-9_]*)/g)) await give(name, instance, values)
    expect(await differencesOf(step, home, values), `${path}, line ${step.command.line}: ${step.command.text}`).toEqual(
      [],
    )
  }
})

test("the first command of agent.md installs the skill files and stores this copy's URLs", async () => {
  const [commands] = fencesOf(await fetchPage("agent.md"))
  const [first = ""] = commands?.text.split("\n") ?? []
  const project = await mkdtemp(join(instance.folder, "project-"))
  // A machine on which nothing of npm's is kept yet.
  const env = { HOME: project, XDG_CONFIG_HOME: join(project, ".config"), npm_config_yes: "true" }
  const npx = startProcess("bash", ["-c", first], { cwd: project, env })
  expect([await npx.exited, npx.stderr()]).toEqual([0, expect.any(String)])
  const kept = await readFile(join(project, ".config/svc/config.json"), "utf8")
  const name = new URL(instance.apiUrl).host
  const { docsUrl: docs_url, apiUrl: api_url, relayUrl: relay_url, streamUrl: stream_url } = instance
  expect(JSON.parse(kept)).toMatchObject({
    current: name,
    contexts: { [name]: { docs_url, api_url, relay_url, stream_url, chain_url: instance.chainUrl } },
  })
  expect((await readdir(join(project, ".agents/skills"))).toSorted()).toEqual(["svc", "svc-build", "svc-consume"])
  for (const skill of ["svc", "svc-build", "svc-consume"]) {
    const installed = await readFile(join(project, ".agents/skills", skill, "SKILL.md"), "utf8")
    expect(installed).toContain(`name: ${skill}\n`)
    expect(installed).not.toMatch(/\{(?:base|api|relay)_url\}/)
  }
})

test.each(["", "llms.txt"])("an agent that reads only /%s signs up with its second request", async (path) => {
  const [command] = fencesOf(await fetchPage(path))
  const { stdout } = await runInShell(command?.text ?? "", instance.folder)
  expect(stdout).toMatch(/^HTTP\/1\.1 201 [^]*"api_key":"svc_ak_/)
})

test("the program of the svc-consume skill pays once, even if it is killed and run again", async () => {
  let atSend: Fault | undefined = "drop-answer"
  let onLookUp = (): void => {}
  const proxy = await startFaultProxy({
    target: instance.relayUrl,
    choose: ({ path }) => {
      if (path.endsWith("/send")) return atSend
      if (!path.endsWith("/signature-status")) return undefined
      onLookUp()
      return atSend === undefined ? undefined : "drop-request"
    },
  })
  const page = await fetchPage("skills/svc-consume/SKILL.md")
  const program = fencesOf(page).find(({ info }) => info === "file=send.mjs")?.text ?? ""
  const folder = join(instance.folder, "program")
  await mkdir(join(folder, "node_modules/svc-client"), { recursive: true })
  await symlink(join(app, "node_modules/@solana"), join(folder, "node_modules/@solana"))
  const tarball = join(app, "../../packages/client/dist/svc-client.tgz")
  const unpack = ["-xzf", tarball, "-C", join(folder, "node_modules/svc-client"), "--strip-components=1"]
  expect(await startProcess("tar", unpack).exited).toBe(0)
  await writeFile(join(folder, "send.mjs"), program.replaceAll(instance.relayUrl, proxy.url))
  const keyPair = newKeyPair()
  await writeFile(join(folder, "key.json"), JSON.stringify([...keyPair]))
  await fund(instance, (await createKeyPairSignerFromBytes(keyPair)).address)
  const recipient = await newAddress()
  const API_KEY = await give("API_KEY", instance, new Map())
  const env = { API_KEY, KEYPAIR_FILE: "key.json", RECIPIENT: recipient, PAYMENT_ID: "invoice-1" }
  const start = () => startProcess(join(ownNodeFolder, "node"), ["send.mjs"], { cwd: folder, env })
  const endOf = async (run: ReturnType<typeof start>) => [await run.exited, run.stderr(), run.stdout()]

  // The relay takes the transaction, its answer is lost, nothing more is heard, and the program dies.
  const looked = new Promise<void>((resolve) => (onLookUp = resolve))
  const first = start()
  await Promise.race([looked, first.exited])
  first.kill("SIGKILL")
  expect(await endOf(first)).toEqual(["SIGKILL", expect.any(String), ""])
  atSend = undefined
  // While it waits, it says for what.
  const waits = expect.stringMatching(/^(?![^]*\(finalized\))[^]*in a block \(\w+\), waiting until it is final/)
  expect(await endOf(start())).toEqual([0, waits, expect.stringMatching(/^landed \w{86,88}\n$/)])
  expect(await balanceOf(instance, recipient)).toBe(1_000_000n)
  await proxy.close()
})
