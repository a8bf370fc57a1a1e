// A thread that makes one attack, so that it doesn't delay those who are to be served meanwhile.
import { parentPort, workerData } from "node:worker_threads"
import { attacksOn, wasLate, type Attack, type Attacker, type Resource, type Targets } from "./attacks.ts"

export type Order = {
  readonly targets: Targets
  readonly resource: Resource
  readonly attacker: Attacker
  readonly most: number
  readonly ms: number
}
const { targets, resource, attacker, ...bounds }: Order = workerData

/** Attacks again and again. @returns the internal errors that this caused */
const run = async (attack: Attack): Promise<number[]> => {
  const until = performance.now() + bounds.ms
  const faults: number[] = []
  do {
    const response = await attack().catch(() => {})
    if (!(response instanceof Response)) continue
    const isLate = await wasLate(response).catch(() => false)
    if (response.status >= 500 && !isLate) faults.push(response.status)
  } while (performance.now() < until)
  return faults
}

// A thread ends if it waits only for the timers of AbortSignal.timeout: nobody would hear of its attacks.
const alive = setInterval(() => {}, 1000)
const attacks = attacksOn(targets, bounds)[resource][attacker].map(run)
parentPort?.postMessage("begun")
const faults = await Promise.all(attacks)
clearInterval(alive)
parentPort?.postMessage(faults.flat().map((status) => `${resource}, ${attacker}: ${status}`))
