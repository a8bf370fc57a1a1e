import type { visibilities } from "../db/schema/index.ts"

/**
 * Who a registry response is for: anyone; the holder of a valid key, who can also read `global` stacks; or an account
 * by its id, which can also read its own private stacks and those shared with it.
 */
export type Audience = "public" | "keyed" | number

type Visibility = (typeof visibilities)[number]

const isOpenTo: Readonly<Record<Visibility, (audience: Audience) => boolean>> = {
  public: () => true,
  global: (audience) => audience !== "public",
  private: () => false,
}

/**
 * Whether an audience can read a stack of this visibility.
 * @param isViewer whether an account can read it while it is private
 */
export const sees = (audience: Audience, visibility: Visibility, isViewer: (account: number) => boolean): boolean =>
  isOpenTo[visibility](audience) || (typeof audience === "number" && isViewer(audience))
