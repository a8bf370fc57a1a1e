/**
 * Who a registry answer is for: anyone; the holder of a good key, who sees `global` stacks too; or an account by its id,
 * which sees its own private stacks besides, and those that are shared with it.
 */
export type Audience = "public" | "keyed" | number

/**
 * Whether an audience sees a stack of this visibility.
 * @param isViewer whether an account sees it while it is private
 */
export const sees = (audience: Audience, visibility: string, isViewer: (account: number) => boolean): boolean =>
  visibility === "public" ||
  (visibility === "global" && audience !== "public") ||
  (typeof audience === "number" && isViewer(audience))
