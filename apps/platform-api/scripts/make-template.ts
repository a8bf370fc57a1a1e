// Makes the empty database that a new embedded one starts as: `node scripts/make-template.ts`, after every change of the
// PGlite version.
import { writeFileSync } from "node:fs"
import { constants, zstdCompressSync } from "node:zlib"
import { PGlite } from "@electric-sql/pglite"
import { templateFile } from "../src/db/embedded.ts"

const database = await PGlite.create()
await database.exec("checkpoint")
const packed = await database.dumpDataDir("none")
await database.close()
const bytes = Buffer.from(await packed.arrayBuffer())
writeFileSync(templateFile, zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }))
