import { execFileSync } from "node:child_process"
import * as nodeFiles from "node:fs/promises"
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runInNewContext } from "node:vm"
import { createTestDatabase, type TestDatabase } from "@svc/testing"
import connect, { type Sql } from "postgres"
import { afterAll, describe, expect, test } from "vitest"
import { folderOfFile } from "../../../test/folder-of-file.ts"
import { createFileStore } from "../src/journal/file-store.ts"
import { memoryStore, type Store, type StoredRecord } from "../src/index.ts"
import { fileStore } from "../src/node.ts"

const root = folderOfFile()
let count = 0
let postgres: TestDatabase | undefined
let sql: Sql | undefined
afterAll(async () => {
  await sql?.end()
  await postgres?.stop()
})
const newFolder = (): string => join(root, String(count++), "payments")

const record = (id: string, version: number, more: object = {}) =>
  ({ id, version, state: "open", ...more }) as unknown as StoredRecord

/** The store that the page shows, on a table of its own. */
const createPgStore = async (): Promise<Store> => {
  const page = await readFile(join(import.meta.dirname, "../../../apps/docs-server/content/payments.md"), "utf8")
  const [, program = ""] = /^```js file=pg-store\.mjs\n(.*?)^```$/ms.exec(page) ?? []
  const [, table = ""] = /^\/\/ (create table .*)$/m.exec(program) ?? []
  const file = join(root, "pg-store.mjs")
  await writeFile(file, program)
  const { pgStore }: { pgStore: (query: (text: string, values: never[]) => Promise<unknown>) => Store } = await import(
    file
  )
  postgres ??= await createTestDatabase()
  sql ??= connect(postgres.url, { onnotice: () => {} })
  await sql.unsafe(`drop table if exists payments; ${table}`)
  return pgStore((text, values) => (sql as Sql).unsafe(text, values))
}

describe.each([
  ["memoryStore", memoryStore],
  ["fileStore", () => fileStore(newFolder())],
  ["fileStore in another realm", () => createFileStore(newFolder(), inAnotherRealm())],
  ["pgStore of the page on PostgreSQL", createPgStore],
])("%s", (_name, create: () => Store | Promise<Store>) => {
  test("accepts a record only on top of the expected version", async () => {
    const store = await create()
    expect(await store.get("a")).toBeUndefined()
    expect(await store.list()).toEqual([])
    expect(await store.put("a", record("a", 2), 1)).toBe(false)
    expect(await store.put("a", record("a", 1), 0)).toBe(true)
    expect(await store.put("a", record("a", 1), 0)).toBe(false)
    expect(await store.put("a", record("a", 3), 2)).toBe(false)
    expect(await store.put("a", record("a", 2, { é: "\u2028" }), 1)).toBe(true)
    expect(await store.put("b", record("b", 1), 0)).toBe(true)
    expect(await store.get("a")).toEqual(record("a", 2, { é: "\u2028" }))
    expect(new Set((await store.list()).map(({ id, version }) => `${id} ${version}`))).toEqual(new Set(["a 2", "b 1"]))
  })

  test("of many writers of the same version one succeeds", async () => {
    const store = await create()
    for (let version = 1; version <= 5; version++) {
      const wins = await Promise.all(
        Array.from({ length: 20 }, async (_, by) => store.put("a", record("a", version, { by }), version - 1)),
      )
      expect(wins.filter(Boolean)).toHaveLength(1)
      expect(await store.get("a")).toMatchObject({ version, by: wins.indexOf(true) })
    }
  })

  test("removes old versions, whose numbers are never used again", async () => {
    const store = await create()
    for (const version of [1, 2, 3]) await store.put("a", record("a", version), version - 1)
    await store.remove("a", 2)
    expect(await store.get("a")).toEqual(record("a", 3))
    for (const version of [0, 1, 2]) expect(await store.put("a", record("a", version + 1), version)).toBe(false)
    expect(await store.put("a", record("a", 4), 3)).toBe(true)
    await store.remove("a", 4)
    expect([await store.get("a"), await store.list()]).toEqual([undefined, []])
  })
})

/** Node's functions as a test of Jest sees them: their errors aren't instances of its Error. */
const inAnotherRealm = (): typeof nodeFiles => {
  const rethrow = (error: NodeJS.ErrnoException): never => {
    throw Object.assign(runInNewContext("new Error()") as Error, { code: error.code, message: error.message })
  }
  const wrap = (call: unknown) =>
    typeof call === "function" ? (...args: unknown[]) => (call(...args) as Promise<unknown>).catch(rethrow) : call
  return Object.fromEntries(Object.entries(nodeFiles).map(([name, call]) => [name, wrap(call)])) as typeof nodeFiles
}

describe("fileStore", () => {
  test("creates one file per id and version, named by hashes, only for the owner", async () => {
    const folder = newFolder()
    const store = fileStore(folder)
    await store.put("../invoice", record("../invoice", 1), 0)
    await store.put("../invoice", record("../invoice", 2), 1)
    const names = await readdir(folder)
    expect(names.toSorted()).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}\.1\.json$/),
      expect.stringMatching(/^[0-9a-f]{64}\.2\.json$/),
    ])
    for (const name of names) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  test("leftovers of an interrupted write are removed by the next run, and a write that loses its draft restarts", async () => {
    const folder = newFolder()
    await mkdir(folder, { recursive: true })
    const draft = join(folder, `${"0".repeat(64)}.7d9f0c4e-1111-4222-8333-444444444444.tmp`)
    await writeFile(draft, "signed bytes")
    expect(await fileStore(folder).list()).toEqual([])
    expect(await readdir(folder)).toEqual([])
    let links = 0
    const store = createFileStore(folder, {
      ...nodeFiles,
      link: async (from, to) => {
        if (links++ === 0) await nodeFiles.unlink(from)
        await nodeFiles.link(from, to)
      },
    })
    expect(await store.put("a", record("a", 1), 0)).toBe(true)
    expect(await readdir(folder)).toHaveLength(1)
  })

  test("a file that is cut, empty, foreign or another id's is damaged, never absent; other names are ignored", async () => {
    const folder = newFolder()
    const store = fileStore(folder)
    await store.put("good", record("good", 1), 0)
    await store.put("bad", record("bad", 1), 0)
    await writeFile(join(folder, "README"), "not ours")
    await writeFile(join(folder, `${"0".repeat(64)}.tmp`), "{")
    await mkdir(join(folder, "sub"))
    const file = store.placeOf?.("bad", 1) ?? ""
    const whole = await readFile(file, "utf8")
    const others = await readFile(store.placeOf?.("good", 1) ?? "", "utf8")
    const foreign = ["null", "[]", "{}", "<html>", others, whole.replace('"version":1', '"version":2')]
    const cuts = Array.from({ length: whole.length - 2 }, (_, length) => whole.slice(0, length))
    for (const text of [...foreign, ...cuts]) {
      await writeFile(file, text)
      expect(await store.get("bad")).toEqual({ version: 1, state: "damaged", file })
      expect(await store.put("bad", record("bad", 1), 0)).toBe(false)
    }
    expect(await store.list()).toEqual(
      expect.arrayContaining([record("good", 1), { version: 1, state: "damaged", file }]),
    )
  })

  /** The file system, in which the call number `at` fails, or is the last one of a process that dies. */
  const faulty = (at: number, failure: "EIO" | "ENOSPC" | "dies before" | "dies after") => {
    let calls = 0
    let die = (): void => {}
    const died = new Promise<"died">((resolve) => (die = () => resolve("died")))
    const log: string[] = []
    const wrap =
      <Args extends readonly unknown[], Result>(name: string, call: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        log.push(name)
        if (calls++ !== at) return call(...args)
        if (!failure.startsWith("dies")) throw Object.assign(new Error(failure), { code: failure })
        if (failure === "dies after") await call(...args)
        die()
        return new Promise<never>(() => {})
      }
    const handles: nodeFiles.FileHandle[] = []
    const open = wrap("open", async (...args: Parameters<typeof nodeFiles.open>) => {
      const handle = await nodeFiles.open(...args)
      handles.push(handle)
      const [sync, writeText] = [
        wrap("sync", handle.sync.bind(handle)),
        wrap("writeFile", handle.writeFile.bind(handle)),
      ]
      return Object.assign(handle, { sync, writeFile: writeText })
    })
    const names = ["access", "link", "mkdir", "readdir", "readFile", "truncate", "unlink"] as const
    const files = Object.fromEntries(names.map((name) => [name, wrap(name, nodeFiles[name] as () => Promise<unknown>)]))
    return {
      store: (folder: string) => createFileStore(folder, { ...files, open } as unknown as typeof nodeFiles),
      died,
      log,
      isReached: () => calls > at,
      close: () => Promise.all(handles.map((handle) => handle.close().catch(() => {}))),
    }
  }

  test("if the disk fails or the process dies at any call, a record is whole or absent, and the next write works", async () => {
    for (const failure of ["EIO", "ENOSPC", "dies before", "dies after"] as const) {
      for (let at = 0; ; at++) {
        const folder = newFolder()
        const fault = faulty(at, failure)
        const store = fault.store(folder)
        const work = async (): Promise<string> => {
          const first = await store.put("a", record("a", 1), 0)
          await store.get("a")
          return first && (await store.put("a", record("a", 2), 1)) ? "both" : "refused"
        }
        const ended = await Promise.race([work().catch(() => "failed"), fault.died])
        const after = fileStore(folder)
        const found = await after.get("a")
        expect([undefined, 1, 2]).toContain(found?.version)
        if (found !== undefined) expect(found).toEqual(record("a", found.version))
        if (ended === "both") expect(found?.version).toBe(2)
        const next = (found?.version ?? 0) + 1
        expect(await after.put("a", record("a", next), next - 1)).toBe(true)
        expect(await after.get("a")).toEqual(record("a", next))
        await fault.close()
        if (!fault.isReached()) break
      }
    }
  })

  test("a folder that can't be created is an error at once", async () => {
    await expect(fileStore("/proc/payments/a").put("a", record("a", 1), 0)).rejects.toMatchObject({ code: "ENOENT" })
  })

  test("the record is on the disk before its name is, and both before put and get return", async () => {
    const folder = newFolder()
    const fault = faulty(Infinity, "EIO")
    const store = fault.store(folder)
    await store.put("a", record("a", 1), 0)
    expect(fault.log.splice(0).join(" ")).toMatch(/mkdir open sync open writeFile sync link open sync unlink$/)
    await store.put("a", record("a", 2), 1)
    expect(fault.log.splice(0).join(" ")).toMatch(/^(access )+open writeFile sync link open sync unlink$/)
    await store.get("a")
    expect(fault.log.join(" ")).toMatch(/readFile access open sync$/)
    await fault.close()
  })

  // As nobody, because root may write everywhere.
  test.skipIf(process.getuid?.() !== 0)(
    "a read-only folder and a full disk are clear errors, and leave no record",
    () => {
      const folder = newFolder()
      const program = `
      import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
      import { fileStore } from ${JSON.stringify(join(import.meta.dirname, "../src/node.ts"))}
      const [folder, uid] = process.argv.slice(2)
      mkdirSync(folder, { recursive: true })
      const store = fileStore(folder)
      if (uid) { chmodSync(folder, 0o555); process.setgid(65534); process.setuid(65534) }
      else { try { writeFileSync(folder + "/fill", Buffer.alloc(1 << 20)) } catch {} }
      const put = await store.put("a", { id: "a", version: 1, pad: "x".repeat(9000) }, 0).catch((error) => error.code)
      console.log(JSON.stringify([put, (await store.get("a")) ?? null, await store.list()]))
    `
      const file = join(root, "full.mjs")
      execFileSync("sh", ["-c", 'cat > "$0"', file], { input: program })
      const run = (...command: readonly string[]) => execFileSync("unshare", ["-m", "sh", "-c", ...command]).toString()
      const node = process.execPath
      const readOnly = execFileSync(node, [file, join(tmpdir(), `svc-journal-${process.pid}`), "65534"]).toString()
      expect(JSON.parse(readOnly)).toEqual(["EACCES", null, []])
      const mounted = 'mkdir -p "$0" && mount -t tmpfs -o size=64k tmpfs "$0" && exec "$1" "$2" "$0/payments"'
      expect(JSON.parse(run(mounted, folder, node, file))).toEqual(["ENOSPC", null, []])
      const remounted = mounted.replace("exec", 'mkdir "$0/payments" && mount -o remount,ro "$0" && exec')
      expect(JSON.parse(run(remounted, folder, node, file))).toEqual(["EROFS", null, []])
    },
  )
})
