// How the pages show what can be run: a `sh` fence with a curl, svc or operator command, then the answer in an `http` or
// `json` fence.

export type Fence = {
  readonly heading: string
  readonly language: string
  readonly info: string
  readonly text: string
  readonly line: number
}

/** A command as the page shows it, with the answer that the page promises. */
export type Step = { readonly command: Fence; readonly answer: Fence }

const headingBefore = (markdown: string): string =>
  [...markdown.replaceAll(/^```.*?^```$/gms, "").matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? ""

export const fencesOf = (markdown: string): Fence[] =>
  [...markdown.matchAll(/^```(\w+)[ ]?([^\n]*)\n(.*?)^```$/gms)].map(
    ({ index, 1: language = "", 2: info = "", 3: text = "" }) => ({
      heading: headingBefore(markdown.slice(0, index)),
      language,
      info,
      text,
      line: markdown.slice(0, index).split("\n").length,
    }),
  )

const isCommand = (fence: Fence): boolean => fence.language === "sh" && /^(?:curl|svc|node) /.test(fence.text)
const answers = (command: Fence, fence: Fence | undefined): fence is Fence =>
  fence?.language === (command.text.startsWith("curl ") ? "http" : "json")

/** Throws where a command has no answer, or an answer no command: either would go untested. */
export const stepsOf = (markdown: string): Step[] => {
  // The same request for another tool stands between a command and its answer.
  const fences = fencesOf(markdown).filter(({ info }) => !/^\[(?!curl\])/.test(info))
  const steps = fences.flatMap((command, index) => {
    if (!isCommand(command)) return []
    const answer = fences[index + 1]
    if (!answers(command, answer)) throw new Error(`line ${command.line}: the command's answer does not follow`)
    return [{ command, answer }]
  })
  const stray = fences.find((fence) => fence.language === "http" && steps.every(({ answer }) => answer !== fence))
  if (stray !== undefined) throw new Error(`line ${stray.line}: an answer without its command`)
  return steps
}
