import { ConfigError, SetupError } from "@svc/config"

// The worst one first.
const verdicts = ["fail", "warn", "pass"] as const

/** What a check found. `next` is the operator's next step, on everything that isn't a pass. No text contains a secret. */
export type Finding = {
  readonly check: string
  readonly verdict: (typeof verdicts)[number]
  readonly text: string
  readonly next?: string
}

/** Looks at one thing that the service needs. It writes nothing. */
export type Check = () => Promise<readonly Finding[]>

/** There is nothing to do. */
export const pass = (check: string, text: string): Finding => ({ check, verdict: "pass", text })
/** The service works, but not as it should. */
export const warn = (check: string, text: string, next: string): Finding => ({ check, verdict: "warn", text, next })
/** The service can't work so. */
export const fail = (check: string, text: string, next: string): Finding => ({ check, verdict: "fail", text, next })

// Longer than the checks' own deadlines and the lookups of their host names.
const deadlineMs = 30_000

const inTime = async (name: string, check: Check): Promise<readonly Finding[]> => {
  const late = Promise.withResolvers<readonly Finding[]>()
  const slow = fail(name, `no response within ${deadlineMs / 1000} s`, "Check whether it is overloaded or frozen.")
  const timer = setTimeout(() => late.resolve([slow]), deadlineMs)
  try {
    return await Promise.race([check(), late.promise])
  } catch (error) {
    if (error instanceof SetupError) return [fail(name, error.message, error.next)]
    // Any other error's text can quote its input, so the finding names only its kind.
    const { code, name: kind } = Object(error) as { code?: unknown; name?: unknown }
    return [fail(name, `the check itself failed (${String(code ?? kind)})`, "Report this as a bug in `doctor`.")]
  } finally {
    clearTimeout(timer)
  }
}

const lineOf = ({ check, verdict, text, next }: Finding): string =>
  `${verdict}  ${check.padEnd(15)}  ${text}${next === undefined ? "" : ` – ${next}`}\n`

/**
 * Checks what a service needs without serving, and prints a line for each finding, or all as one JSON document with
 * `--json`: `{service, version, verdict, findings: [{check, verdict, text, next?}]}`. Returns the exit code: 1 if a check
 * failed, 2 for an argument that isn't known, else 0.
 *
 * @param checks makes the checks, by their names, from the settings; a ConfigError becomes one finding for each problem
 */
export const runDoctor = async ({
  service,
  version,
  args,
  checks,
  write,
}: {
  readonly service: string
  readonly version: string
  readonly args: readonly string[]
  readonly checks: () => Promise<Readonly<Record<string, Check>>>
  readonly write: (text: string) => void
}): Promise<number> => {
  const unknown = args.find((arg) => arg !== "--json")
  if (unknown !== undefined) {
    write(`doctor doesn't know the argument ${JSON.stringify(unknown)}. Its only option is --json.\n`)
    return 2
  }
  let findings: readonly Finding[]
  try {
    const found = [pass("settings", "every variable can be used")]
    // One after the other: lookups of host names share two threads, so a silent name server would delay every other check.
    for (const [name, check] of Object.entries(await checks())) found.push(...(await inTime(name, check)))
    findings = found
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    findings = error.problems.map((problem) =>
      fail("settings", problem, "Correct the variable, then run doctor again."),
    )
  }
  const verdict = verdicts.find((one) => findings.some((finding) => finding.verdict === one))
  if (args.includes("--json")) write(`${JSON.stringify({ service, version, verdict, findings }, undefined, 2)}\n`)
  else write(`${service} ${version}\n${findings.map(lineOf).join("")}`)
  return verdict === "fail" ? 1 : 0
}
