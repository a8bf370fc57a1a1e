/** When the tests' tokens were made, in Unix seconds. */
export const start = 1_800_000_000

/** What the tests' tokens say. */
export const claims = {
  iss: "svc-platform",
  sub: "agent:agt_0123456789",
  aud: "transfers",
  jti: "0b0c5b0e-6b0f-4c39-9d2c-2f6f4f9a3c55",
  scope: "read",
  key_class: "secret",
  metering_key: "key:7",
} as const
