import { type Finding, fail, pass, warn } from "./doctor.ts"
import { ask, checkClock, redirected, type Service, serviceOf, stepAfter } from "./requests.ts"

/** Whether another service is where a setting says, and what this machine's clock is against its. */
export const checkOtherService = async (
  service: Service,
  variable: string,
  url: string,
  at: () => number,
): Promise<readonly Finding[]> => {
  const check = "services"
  const before = at()
  const answer = await ask(`${url}/health`)
  if ("reason" in answer) {
    const next = stepAfter(answer.reason, `Start ${service}, or correct the URL.`)
    return [warn(check, `${variable} doesn't respond (${answer.reason})`, next)]
  }
  const elsewhere = redirected(check, variable, url, answer)
  if (elsewhere !== undefined) return [elsewhere]
  const there = serviceOf(answer.body) ?? "another server"
  if (there !== service)
    return [fail(check, `${variable} leads to ${there}`, `Set it to the URL of ${service}, or correct the proxy.`)]
  const clock = checkClock(variable, Date.parse(answer.header("date") ?? ""), [before, at()])
  return [pass(check, `${variable} leads to ${service}`), ...clock]
}

/** Whether anything answers at a URL that a service calls. */
export const checkReachable = async (check: string, variable: string, url: string): Promise<readonly Finding[]> => {
  const answer = await ask(url)
  if (!("reason" in answer)) return [pass(check, `${variable} responds`)]
  const next = stepAfter(answer.reason, "Start the server, or correct the URL.")
  return [warn(check, `${variable} doesn't respond (${answer.reason})`, next)]
}
