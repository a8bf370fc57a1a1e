import { expect, test } from "vitest"
import { createHistory } from "../browser/live/history.ts"

test("what a chart keeps is bounded, however often a stream restarts with other records", () => {
  const history = createHistory()
  for (let index = 1; index <= 5000; index++)
    history.addOld({ block_time: 1_700_000_000 + index, [`n${index}`]: index })
  expect(history.paths().length).toBeLessThan(1000)
  expect(history.paths()).toContain("n5000")
})

test("changes per second are drawn for whole seconds of connection, with a gap where it was lost", () => {
  const history = createHistory()
  history.listen(10_400)
  history.add({}, 11_100)
  history.add({}, 11_900)
  history.lose(13_200)
  history.listen(15_000)
  expect(history.rate(17_500)).toEqual(
    [
      [11, "2"],
      [12, "0"],
      [13, ""],
      [14, ""],
      [15, "0"],
      [16, "0"],
    ].map(([second, text]) => ({ at: Number(second) * 1000, text })),
  )
  expect(createHistory().rate(17_500)).toEqual([])
})
