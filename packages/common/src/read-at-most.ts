/** Reads a body as a whole. Rejects with an Error of this message if it has more bytes than `most`. */
export const readAtMost = async (
  { body }: { readonly body: AsyncIterable<Uint8Array> | null },
  most: number,
  tooLarge: string,
): Promise<Buffer<ArrayBuffer>> => {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body ?? []) {
    size += part.length
    if (size > most) throw new Error(tooLarge)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
