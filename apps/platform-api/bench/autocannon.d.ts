// The part of autocannon that the benchmark uses; the package brings no types.
declare module "autocannon" {
  type Options = {
    readonly url: string
    readonly headers?: Readonly<Record<string, string>>
    readonly connections?: number
    /** Seconds. */
    readonly duration?: number
  }
  type Result = { readonly "2xx": number; readonly non2xx: number; readonly errors: number; readonly duration: number }
  const autocannon: (options: Options) => Promise<Result>
  export default autocannon
}
