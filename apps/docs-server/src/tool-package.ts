import { gzipSync } from "node:zlib"

const block = 512

/** A file of a tar archive, as POSIX writes it, without the archive's end. */
const tarEntry = (name: string, content: Buffer): Buffer => {
  const header = Buffer.alloc(block)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`
  const write = (text: string, at: number) => void header.write(text, at, "latin1")
  write(name, 0)
  write(octal(0o644, 7) + octal(0, 7) + octal(0, 7) + octal(content.length, 11) + octal(0, 11), 100)
  // The checksum is taken with spaces in its own place.
  write("        0", 148)
  write("ustar\u000000", 257)
  write(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    )} `,
    148,
  )
  return Buffer.concat([header, content, Buffer.alloc(-content.length & (block - 1))])
}

/**
 * The command-line tool's package with the URLs of this copy as package/copy.json. A gzip file may have several members, so the
 * package itself stays as it was built.
 */
export const withCopy = (packed: Buffer, copy: Readonly<Record<string, string | undefined>>): Buffer<ArrayBuffer> =>
  Buffer.concat([gzipSync(tarEntry("package/copy.json", Buffer.from(`${JSON.stringify(copy)}\n`))), packed])
