import type { SitePage } from "./markdown.ts"

export type NavigationSection = { readonly name: string; readonly pages: readonly SitePage[] }

export type Navigation = ReturnType<typeof createNavigation>

const last = Number.MAX_VALUE

const sentence = (name: string): string => {
  const words = name.replaceAll(/[-_]+/g, " ").trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Other tools make pages of front matter alone; there is nothing on them to read. */
export const hasText = ({ markdown, bodyStart }: SitePage): boolean => /\S/.test(markdown.slice(bodyStart))

/** The section that a page's author named, else its folder: by the title of the folder's own page, or by its name. */
const sectionOf = (bySlug: ReadonlyMap<string, SitePage>, { section, slug, file }: SitePage): string => {
  if (section !== undefined) return section
  const folder = file.includes("/") ? (slug.split("/")[0] ?? "") : ""
  if (folder === "") return "Pages"
  return bySlug.get(folder)?.section ?? sentence(folder)
}

/** Sections by their smallest `order`, then by name; pages by `order`, a folder's own page first, then by slug. */
export const createNavigation = (bySlug: ReadonlyMap<string, SitePage>) => {
  const isIndex = (page: SitePage): number => Number(/(?:^|\/)index\.mdx?$/.test(page.file))
  const byName = (a: SitePage, b: SitePage): number => (a.slug < b.slug ? -1 : 1)
  const pages = [...bySlug.values()]
    .filter(hasText)
    .sort((a, b) => (a.order ?? last) - (b.order ?? last) || isIndex(b) - isIndex(a) || byName(a, b))
  const sections = [...Map.groupBy(pages, (page) => sectionOf(bySlug, page))]
    .map(([name, own]) => ({
      name,
      pages: own,
      order: own.reduce((least, { order = last }) => Math.min(least, order), last),
    }))
    .sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1))
  const all = sections.flatMap((section) => section.pages.map((page) => ({ page, section })))
  const places = new Map(all.map(({ page }, index) => [page, index]))
  return {
    sections,
    /** A page's section, and the pages before and after it in the order of the navigation. */
    placeOf: (page: SitePage) => {
      const index = places.get(page) ?? NaN
      return { section: all[index]?.section, previous: all[index - 1]?.page, next: all[index + 1]?.page }
    },
  }
}
