// What an agent does from knowing one address to a confirmed transfer, a rotated key and live records, with the clients that agents use, and
// an owner whose stack it reads.
// Every step checks what it claims: `pnpm demo` shows the journey to people, the tests run the same.
import { join } from "node:path"

import type { Instance } from "../../scripts/running/instance.ts"
import { arrive } from "./arrive.ts"
import { end } from "./end.ts"
import { publish } from "./publish.ts"
import { rotate } from "./rotate.ts"
import { createShell, type Shell } from "./shell.ts"
import { transfer } from "./transfer.ts"

/** Runs one step. `show` takes lines for people: what is run, and what came of it; never a key or a token. */
export type RunStep = <T>(
  step: { readonly does: string; readonly proves: string },
  run: (show: (line: string) => void) => Promise<T>,
) => Promise<T>

export type Traveller = {
  readonly instance: Instance
  readonly svc: Shell
  readonly take: RunStep
  readonly show: (line: string) => void
}

/** Stops the instance with its last step. The instance has been prepared with `makeOwner`. */
export const journey = async (instance: Instance, step: RunStep): Promise<void> => {
  let tell: (line: string) => void = () => {}
  const show = (line: string): void => tell(line)
  const take: RunStep = (what, run) =>
    step(what, (shown) => {
      tell = shown
      return run(shown)
    })
  const svc = await createShell(join(instance.folder, "agent"), (command) => show(`$ ${command}`))
  const traveller: Traveller = { instance, svc, take, show }
  const agent = await arrive(traveller)
  await publish(traveller)
  const sent = await transfer(traveller, agent)
  const secondKey = await rotate(traveller, agent, sent)
  await end(traveller, agent, sent, secondKey)
}
