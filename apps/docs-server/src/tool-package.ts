import { gzipSync } from "node:zlib"
import { createTar } from "nanotar"

const block = 512

/**
 * The command-line tool's package with the URLs of this copy as package/copy.json. A gzip file may have several members, so the
 * package itself stays as it was built.
 */
export const withCopy = (packed: Buffer, copy: Readonly<Record<string, string | undefined>>): Buffer<ArrayBuffer> => {
  const data = Buffer.from(`${JSON.stringify(copy)}\n`)
  const archive = createTar([{ name: "package/copy.json", data, attrs: { mode: "644", uid: 0, gid: 0, mtime: 0 } }])
  // A header and the file, without the end of an archive.
  const entry = archive.subarray(0, block + Math.ceil(data.length / block) * block)
  return Buffer.concat([gzipSync(entry), packed])
}
