import { execFileSync, spawnSync } from "node:child_process"
import { chownSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { startPostgres } from "@svc/testing"
import { beforeAll, describe, expect, test } from "vitest"
import { orm, type Queries } from "../src/db/database.ts"
import { DatabaseUnavailable, OutcomeUnknown, stepFor } from "../src/db/errors.ts"
import { migrate } from "../src/db/migrate.ts"
import { beforeTests, besides } from "./service.ts"

const server = beforeTests(startPostgres, ({ stop }) => stop())
const using = (work: (queries: Queries) => Promise<void>, url = server.url) =>
  besides(url, (database) => work(database.within(20_000)))
const admin = (...statements: readonly string[]) =>
  using(async ({ run }) => {
    for (const text of statements) await run((db) => db.execute(orm.sql.raw(text)))
  })
const urlOf = (role: string) => server.url.replace("postgres@", `${role}@`)
const pidOf = "select pg_backend_pid() as pid where 1 = $1"

describe("a session", () => {
  test("rows before an error in the middle of a result don't reach the next statement", () =>
    using(async ({ query, transaction }) => {
      const failing = "select 1 / (3 - i) from generate_series(1, 5) i where 1 = $1"
      await expect(query(failing, [1])).rejects.toThrow("division by zero")
      expect(await query("select 7 as n where 1 = $1", [1])).toEqual([{ n: 7 }])
      await expect(transaction((tx) => tx.execute(orm.sql.raw(failing.replace("$1", "1"))))).rejects.toThrow("division")
      expect(await query("select 7 as n where 1 = $1", [1])).toEqual([{ n: 7 }])
    }))

  test("serves the next task after a rolled-back transaction, and never after its connection was lost", () =>
    using(async ({ query, transaction }) => {
      const [first] = await query(pidOf, [1])
      const refused = transaction(() => Promise.reject(new Error("no")))
      await expect(refused).rejects.toThrow("no")
      expect(await query(pidOf, [1])).toEqual([first])
      const lost = transaction((tx) => tx.execute(orm.sql`select pg_terminate_backend(pg_backend_pid())`))
      await expect(lost).rejects.toBeInstanceOf(DatabaseUnavailable)
      expect(await query(pidOf, [1])).not.toEqual([first])
    }))

  test("a task that continues after its connection or time was lost gets errors, and disturbs no other", () =>
    besides(server.url, async (database) => {
      const asked: Promise<unknown>[] = []
      const lost = database.within(2000).transaction(async (tx) => {
        const one = () => tx.execute(orm.sql`select ${"x".repeat(2000)}::text`)
        await tx.execute(orm.sql`select pg_terminate_backend(pg_backend_pid())`).catch(() => {})
        for (let i = 0; i < 20; i++) {
          asked.push(one(), one())
          await Promise.allSettled(asked)
          await new Promise(setImmediate)
        }
      })
      await expect(lost).rejects.toBeInstanceOf(DatabaseUnavailable)
      const late = database.within(50).run(async (db) => {
        for (let i = 0; i < 20; i++) {
          await Promise.allSettled([db.execute(orm.sql`select pg_sleep(${0.02})`), new Promise(setImmediate)])
        }
      })
      await expect(late).rejects.toThrow("didn't respond in time")
      const outcomes = await Promise.allSettled(asked)
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["rejected"]))
      expect(await database.within(2000).query("select 7 as n where 1 = $1", [1])).toEqual([{ n: 7 }])
    }))

  test("work that never ends loses its connection at its deadline, and the next task runs", () =>
    besides(server.url, async (database) => {
      const endless = database.within(200).transaction(() => new Promise<never>(() => {}), "one queue")
      await expect(endless).rejects.toBeInstanceOf(DatabaseUnavailable)
      const next = database.within(5000).transaction((tx) => tx.execute(orm.sql`select 7 as n`), "one queue")
      expect(await next).toEqual([{ n: 7 }])
    }))

  test("a rejected COMMIT wasn't done; one without a response may have been", () =>
    using(async ({ query, transaction }) => {
      await query("create table parents (id int primary key)", [])
      await query("create table children (id int references parents deferrable initially deferred)", [])
      const broken = transaction((tx) => tx.execute(orm.sql`insert into children values (1)`))
      await expect(broken).rejects.toMatchObject({ code: "23503" })
      await query(
        "create function die() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$",
        [],
      )
      await query(
        "create constraint trigger die after insert on parents deferrable initially deferred for each row execute function die()",
        [],
      )
      const unknown = transaction((tx) => tx.execute(orm.sql`insert into parents values (1)`))
      await expect(unknown).rejects.toBeInstanceOf(OutcomeUnknown)
      expect(await query("select id from parents where 1 = $1", [1])).toEqual([])
    }))

  test("a prepared statement that a migration invalidated is prepared again, or in a transaction asks for a retry", () =>
    using(async ({ query, transaction }) => {
      await query("create table moving (id int)", [])
      const ask = () => query("select id from moving where 1 = $1", [1])
      const inside = () => transaction((tx) => tx.execute(orm.sql`select id from moving where id = ${1}`))
      await ask()
      await inside()
      await query("alter table moving alter id type bigint", [])
      expect(await ask()).toEqual([])
      await expect(inside()).rejects.toBeInstanceOf(DatabaseUnavailable)
      expect(await inside()).toEqual([])
    }))

  test("values and transactions are the same whatever defaults the role, the database or the server has", async () => {
    const defaults = [
      "datestyle = 'SQL, DMY'",
      "timezone = 'Asia/Kolkata'",
      "bytea_output = 'escape'",
      "extra_float_digits = -15",
      "standard_conforming_strings = off",
      "default_transaction_isolation = 'serializable'",
      "lock_timeout = 1",
      "idle_session_timeout = 5000",
      "idle_in_transaction_session_timeout = 1",
    ]
    await admin("create role odd login", ...defaults.map((setting) => `alter role odd set ${setting}`))
    await using(async ({ query, transaction }) => {
      const text =
        "select timestamptz '2026-04-03 02:01:00.5Z' as at, '\\x005cff'::bytea as bytes, 3599.25::float8 as n where 1 = $1"
      expect(await query(text, [1])).toEqual([
        { at: "2026-04-03 02:01:00.5+00", bytes: Buffer.of(0, 0x5c, 0xff), n: 3599.25 },
      ])
      const name = (setting: string) => orm.sql<string>`current_setting(${setting})`
      const settings = {
        isolation: name("transaction_isolation"),
        lock: name("lock_timeout"),
        idle: name("idle_session_timeout"),
        begun: name("idle_in_transaction_session_timeout"),
      }
      const inside = await transaction((tx) => tx.select(settings).from(orm.sql`(select) nothing`))
      expect(inside).toEqual([{ isolation: "read committed", lock: "0", idle: "0", begun: "1min" }])
    }, urlOf("odd"))
  })

  test("a session that can only read is closed, so that the next one may reach the new primary server", async () => {
    await admin("create role moved login; create table written (id int); grant insert on written to moved")
    await admin("alter role moved set default_transaction_read_only = on")
    await using(async ({ query, transaction }) => {
      const write = () => transaction((tx) => tx.execute(orm.sql`insert into written values (1)`))
      expect(await query("select 7 as n where 1 = $1", [1])).toEqual([{ n: 7 }])
      await admin("alter role moved reset default_transaction_read_only")
      await expect(write()).rejects.toBeInstanceOf(DatabaseUnavailable)
      expect(await write()).toEqual([])
    }, urlOf("moved"))
  })

  test("the error says whose limit of connections was reached, whatever the server's language", async () => {
    await admin("create role late login connection limit 0", "create role early login")
    await admin("create database late connection limit 0")
    const stepAt = async (url: string) => {
      const error = await using(async ({ query }) => void (await query(pidOf, [1])), url).catch((one: Error) => one)
      return stepFor(Object.assign(Object(error), { message: "zu viele Verbindungen" })).next
    }
    expect(await stepAt(urlOf("late"))).toMatch("alter role")
    expect(await stepAt(urlOf("early").replace(/postgres$/, "late"))).toMatch("alter database")
  })

  test("an endless variety of statements doesn't fill the server's memory", () =>
    using(async ({ run, query }) => {
      await run(async (db) => {
        for (let i = 0; i < 500; i++) await db.execute(orm.sql`select ${1}::int as ${orm.sql.identifier(`c${i}`)}`)
        const count = orm.sql<number>`count(*)::int`
        const [kept] = await db.select({ count }).from(orm.sql`pg_prepared_statements`)
        expect(kept?.count).toBeLessThanOrEqual(210)
      })
      expect(await query("select 7 as n where 1 = $1", [1])).toEqual([{ n: 7 }])
    }))

  test("failed statements are forgotten", () =>
    using(async ({ run }) => {
      setFlagsFromString("--expose-gc")
      const collect: unknown = runInNewContext("gc")
      const heapMb = () => {
        if (typeof collect === "function") collect()
        return process.memoryUsage().heapUsed / 2 ** 20
      }
      await run(async (db) => {
        const fail = (i: number) =>
          db.execute(orm.sql.raw(`select nothing /* ${i} ${"x".repeat(100_000)} */`)).catch(() => {})
        await fail(0)
        const before = heapMb()
        for (let i = 0; i < 300; i++) await fail(i)
        expect(heapMb() - before).toBeLessThan(15)
      })
    }))
})

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

describe.skipIf(!hasOpenssl && process.env["CI"] === undefined)("the server's URL", () => {
  let folder: string
  let tlsUrl: (params: string, host?: string) => string
  beforeAll(async () => {
    await using(async ({ query, run }) => {
      const [data] = await query<{ data_directory: string }>("show data_directory", [])
      folder = data?.data_directory ?? ""
      const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")]
      const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
      execFileSync(
        "openssl",
        ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject],
        { stdio: "ignore" },
      )
      const { uid, gid } = statSync(folder)
      for (const file of [cert, key]) chownSync(file, uid, gid)
      await run(async (db) => {
        for (const setting of [`ssl_cert_file = '${cert}'`, `ssl_key_file = '${key}'`, "ssl = on"]) {
          await db.execute(orm.sql.raw(`alter system set ${setting}`))
        }
        await db.execute(orm.sql.raw("select pg_reload_conf()"))
      })
    })
    tlsUrl = (params, host = "localhost") => `postgres://postgres@${host}:${server.port}/postgres?${params}`
  })

  const encrypted = async (url: string) => {
    let tls: unknown
    await using(async ({ query }) => {
      ;[tls] = await query("select ssl from pg_stat_ssl where pid = pg_backend_pid() and 1 = $1", [1])
    }, url)
    return tls
  }

  test("sslmode and sslrootcert mean the same as in psql", async () => {
    const own = `sslrootcert=${join(folder, "tls.crt")}`
    expect(await encrypted(tlsUrl("sslmode=disable"))).toEqual({ ssl: false })
    for (const params of [
      "sslmode=allow",
      "sslmode=prefer",
      "sslmode=require&uselibpqcompat=true",
      "sslmode=require",
      `sslmode=verify-ca&${own}`,
      `sslmode=verify-full&${own}`,
    ]) {
      expect(await encrypted(tlsUrl(params)), params).toEqual({ ssl: true })
    }
    expect(await encrypted(tlsUrl(`sslmode=verify-ca&${own}`, "127.0.0.1"))).toEqual({ ssl: true })
    for (const [params, host] of [
      ["sslmode=verify-full", "localhost"],
      ["sslrootcert=system", "localhost"],
      [`sslmode=verify-full&${own}`, "127.0.0.1"],
    ] as const) {
      await expect(encrypted(tlsUrl(params, host)), params).rejects.toBeInstanceOf(DatabaseUnavailable)
    }
  })

  test("a server without TLS is used under prefer, and rejected under require", async () => {
    const plain = await startPostgres()
    expect(await encrypted(`${plain.url}?sslmode=prefer`)).toEqual({ ssl: false })
    expect(await encrypted(`${plain.url}?sslmode=allow`)).toEqual({ ssl: false })
    await expect(encrypted(`${plain.url}?sslmode=require`)).rejects.toThrow("doesn't support TLS")
    await plain.stop()
  })

  test("a Unix socket is reported by its folder, and a wrong database in the error", async () => {
    const socket = encodeURIComponent(dirname(folder))
    expect(await encrypted(`postgres://postgres@${socket}:${server.port}/postgres`)).toEqual({ ssl: false })
    for (const name of ["nothing", "?dbname=nothing", "postgres?dbname=nothing"])
      await expect(encrypted(server.url.replace(/postgres$/, name))).rejects.toThrow('"nothing" does not exist')
  })
})

test("the tables are made in the schema public, though the role has one of its own name, or the reason is why not", async () => {
  await admin("create role own login superuser", "create schema own authorization own")
  const migrated = (params = "") => besides(`${urlOf("own")}${params}`, (database) => migrate(database.within(60_000)))
  await expect(migrated("?options=-csearch_path%3Down")).rejects.toThrow("isn't in the search_path")
  await expect(migrated()).resolves.toBeGreaterThan(0)
  await using(async ({ query }) => {
    const schemas =
      "select distinct schemaname as name from pg_tables where tablename in ('users', 'schema_migrations', $1)"
    expect(await query(schemas, [""])).toEqual([{ name: "public" }])
  })
  await admin("drop schema public cascade")
  await expect(migrated()).rejects.toThrow("no schema public")
  await admin("create schema public")
})
