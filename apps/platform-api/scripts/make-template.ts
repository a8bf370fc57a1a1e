// Makes the database that a new embedded one starts as: `pnpm template`, after a change of the PGlite
// version, and after new migrations to spare new databases from running them.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { constants, zstdCompressSync } from "node:zlib"
import { PGlite } from "@electric-sql/pglite"
import { loadEmbeddedDriver } from "../src/db/database.ts"
import { templateFile } from "../src/db/embedded/embedded.ts"
import { migrate } from "../src/db/migrate.ts"

const folder = mkdtempSync(join(tmpdir(), "svc-template-"))
const database = await PGlite.create(folder)
const orm = loadEmbeddedDriver().drizzle(database)
await migrate({ transaction: (work) => orm.transaction(work) })
// Each database makes a secret of its own when it is unpacked.
await database.exec("truncate key_secrets")
// Nothing makes another database out of these.
for (const name of ["template0", "template1"]) {
  await database.exec(`alter database ${name} is_template false`)
  await database.exec(`drop database ${name}`)
}
// A new segment of the write-ahead log is empty, and packs to nothing; no other is needed.
for (const step of ["checkpoint", "select pg_switch_wal()", "checkpoint"]) await database.exec(step)
const { rows } = await database.query<{ name: string }>("select pg_walfile_name(pg_current_wal_lsn()) as name")
await database.close()
const log = join(folder, "pg_wal")
for (const name of readdirSync(log)) if (/^[0-9A-F]{24}$/.test(name) && name !== rows[0]?.name) rmSync(join(log, name))
const packed = execFileSync("tar", ["--format=ustar", "--sort=name", "-C", folder, "-c", "."], { maxBuffer: 2 ** 30 })
rmSync(folder, { recursive: true })
writeFileSync(templateFile, zstdCompressSync(packed, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }))
