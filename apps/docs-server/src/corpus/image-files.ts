import { extname } from "node:path"

const types: Readonly<Record<string, string>> = {
  ".avif": "image/avif",
  ".gif": "image/gif",
  ".ico": "image/x-icon",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
}

/** The media type of a picture by its name; undefined for all else. */
export const imageType = (name: string): string | undefined => types[extname(name).toLowerCase()]

export const isImage = (name: string): boolean => imageType(name) !== undefined
