/** A list of unsigned 32-bit numbers that grows: four bytes a number, without an object for each. */
export type Numbers = {
  readonly push: (value: number) => void
  readonly length: number
  /** The numbers so far, in an array of exactly their length. */
  readonly take: () => Uint32Array
}

export const createNumbers = (): Numbers => {
  let values = new Uint32Array(1024)
  let length = 0
  return {
    push: (value) => {
      if (length === values.length) {
        const larger = new Uint32Array(length * 2)
        larger.set(values)
        values = larger
      }
      values[length++] = value
    },
    get length() {
      return length
    },
    take: () => values.slice(0, length),
  }
}
