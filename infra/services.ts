// The services of this repository in one table: what starts them, where they listen, how their health is asked for.
// Its readers: `pnpm start`, the image build, the image's health check and the image's smoke test.

export type Service = {
  /** What people call it: prefix of its log lines under `pnpm start`. */
  readonly name: string
  /** Its folder, from the repository's root. */
  readonly folder: string
  /** Listens here when `PORT` is unset. */
  readonly defaultPort: number
  /** Answers 200 as long as the process serves, whatever its database or upstream does. */
  readonly livePath: string
}

export const services = {
  chain: { name: "chain", folder: "packages/local-chain", defaultPort: 8899, livePath: "/health" },
  platform: { name: "platform", folder: "apps/platform-api", defaultPort: 4003, livePath: "/health/live" },
  relay: { name: "relay", folder: "apps/relay", defaultPort: 4002, livePath: "/health" },
  docs: { name: "docs", folder: "apps/docs-server", defaultPort: 4001, livePath: "/health" },
} as const satisfies Record<string, Service>
