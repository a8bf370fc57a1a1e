import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { createTar } from "nanotar"

const block = 512

const unpack = promisify(gunzip)
const pack = promisify(gzip)

/**
 * The command-line tool's package with the URLs of this copy as package/copy.json. It is packed anew, because pnpm reads only the
 * first member of a gzip file.
 */
export const withCopy = async (
  packed: Buffer,
  copy: Readonly<Record<string, string | undefined>>,
): Promise<Buffer<ArrayBuffer>> => {
  const data = Buffer.from(`${JSON.stringify(copy)}\n`)
  const archive = createTar([{ name: "package/copy.json", data, attrs: { mode: "644", uid: 0, gid: 0, mtime: 0 } }])
  // A header and the file, without the end of an archive.
  const entry = archive.subarray(0, block + Math.ceil(data.length / block) * block)
  return pack(Buffer.concat([entry, await unpack(packed)]))
}
