// The section that the reader jumped to counts as read until the page is moved by hand, wherever it came to stand.
let jumped = location.hash

const isShown = (heading: HTMLElement | null | undefined): boolean =>
  heading != null && heading.getBoundingClientRect().top < innerHeight

const markReader = (): void => {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".contents li a")]
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))))
  // Near the page's end the last sections can't come to the top: the line that they have to pass moves down.
  const left = document.documentElement.scrollHeight - innerHeight - scrollY
  const line = 130 + Math.max(0, innerHeight - 130 - left)
  const behind = headings.findIndex((heading) => heading !== null && heading.getBoundingClientRect().top > line)
  const target = links.findIndex((link, index) => link.hash === jumped && isShown(headings[index]))
  const current = target === -1 ? (behind === -1 ? links.length : behind) - 1 : target
  for (const [index, link] of links.entries())
    if (index === current) link.setAttribute("aria-current", "true")
    else link.removeAttribute("aria-current")
}

/** Keeps the contents and the navigation where the reader is. */
export const followReader = (): void => {
  document.addEventListener("scroll", markReader, { passive: true })
  addEventListener("hashchange", () => {
    jumped = location.hash
    markReader()
  })
  const moved = (): void => {
    jumped = ""
  }
  for (const name of ["wheel", "touchmove", "keydown"]) addEventListener(name, moved, { passive: true })
  // In a long section the page's own entry may be far down.
  const sidebar = document.querySelector(".sidebar")
  const entry = sidebar?.querySelector<HTMLElement>("[aria-current]")
  if (sidebar && entry) sidebar.scrollTop = entry.offsetTop - sidebar.clientHeight / 2
}
