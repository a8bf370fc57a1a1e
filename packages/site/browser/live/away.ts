import { root } from "../dom.ts"

export type Part = "stream" | "platform" | "network"

const patienceMs = 4000

export const reaches = async (url: string): Promise<boolean> => {
  try {
    await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(patienceMs) })
    return true
  } catch {
    return false
  }
}

/** Which part is away when the stream can't be read: looks from the platform to the server of this page. */
export const findAway = async (api: string): Promise<Part> => {
  if (!navigator.onLine) return "network"
  if (await reaches(`${api}/livez`)) return "stream"
  return (await reaches(`${root}/livez`)) ? "platform" : "network"
}

export const partNames: Readonly<Record<Part, string>> = {
  stream: "The stream server isn't reachable.",
  platform: "The platform API isn't reachable.",
  network: "Your network is offline, or this site isn't reachable.",
}
