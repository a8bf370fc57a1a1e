import { createHmac, timingSafeEqual } from "node:crypto"
import type { Secret } from "@svc/config"

export const goodForMs = 3600_000

/** Signed links to ASTs that need no key and are valid for an hour. */
export const createAstLinks = (publicUrl: string, secret: Secret) => {
  const sign = (versionId: number, until: number): Buffer =>
    createHmac("sha256", secret.reveal()).update(`ast ${versionId} ${until}`).digest()
  return {
    make: (versionId: number, at: Date): string => {
      const until = Math.floor((at.getTime() + goodForMs) / 1000)
      return `${publicUrl}/api/asts/${versionId}?until=${until}&signature=${sign(versionId, until).toString("base64url")}`
    },
    /** @param now wall clock, in milliseconds since 1970 */
    isGood: (versionId: number, until: number, signature: string, now: number): boolean => {
      const given = Buffer.from(signature, "base64url")
      const wanted = sign(versionId, until)
      return until * 1000 > now && given.length === wanted.length && timingSafeEqual(given, wanted)
    },
  }
}

export type AstLinks = ReturnType<typeof createAstLinks>
