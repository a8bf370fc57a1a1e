import type { Highlighter } from "./highlight.ts"
import type { Links } from "./links.ts"
import type { SitePage } from "./page.ts"

/** What the renderer's rules know of the page at hand. */
export type Reading = {
  readonly page: SitePage
  readonly links: Links
  readonly highlight: Highlighter
  /** The page's sections, by the line of their heading. */
  readonly sectionAt: ReadonlyMap<number, number>
  /** Names of components that the page closes somewhere: their tags are no text. */
  readonly components: ReadonlySet<string>
  /** The section that is being rendered. */
  section: number
  row: number
  inLink: boolean
  /** The columns of the table that is being rendered, and the one of the next cell. */
  heads: string[]
  column: number
}

export const readingOf = (env: unknown): Reading => env as Reading
