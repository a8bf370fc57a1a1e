// The part of autocannon that is used here; the package brings no types.
declare module "autocannon" {
  type Options = {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly method?: "POST"
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    /** Replaces `[<id>]` in the body. */
    readonly idReplacement?: boolean
    /** Called for each connection before it is used. */
    readonly setupClient?: (client: {
      readonly setHeaders: (headers: Readonly<Record<string, string>>) => void
    }) => void
  }
  const autocannon: (options: Options) => Promise<unknown>
  export default autocannon
}
