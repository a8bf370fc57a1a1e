import { createPlatform } from "@svc/client"

/** A new agent's secret key, and its publishable one for the pages of an origin. */
export const newKeys = async (apiUrl: string, origin: string) => {
  const { api_key: secret } = await createPlatform({ apiUrl }).signUp()
  const { key: publishable } = await createPlatform({ apiUrl, key: secret }).keys.mintPublishable({
    origin_allowlist: [origin],
  })
  return { secret, publishable }
}
